// Servers of other publishers, unchanged, with the least grants: they say the same with and without Cordon.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { MCP_PACKAGES, mcpModules, newerNode } from '../../../../scripts/tests/mcp-programs.mjs'
import { needs } from '../../../../test/requirement.js'
import { CORDON, folderWith, metaOf, openProgram } from './gateway.js'

interface Server {
  readonly name: keyof typeof MCP_PACKAGES
  /** In the folder of its modules. */
  readonly script: string
  readonly words?: readonly string[]
  /** The policies of its tools, as text of YAML. */
  readonly tools: string
  readonly files: Readonly<Record<string, string>>
  readonly prepare?: (folder: string) => void
  /** `$` stands for the folder of the test. */
  readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[]
  /** A part of the answer to the last call. */
  readonly answer: string
  readonly refused: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
}

const git = (folder: string, ...words: readonly string[]): void => {
  execFileSync('git', ['-c', 'user.name=one', '-c', 'user.email=one@example.org', ...words], { cwd: folder })
}

const SHEET = { fileAbsolutePath: '$/out/book.xlsx', sheetName: 'one' }

const OFFICE = 'http://schemas.openxmlformats.org'
const RELATIONS = `${OFFICE}/package/2006/relationships`
const OF_OFFICE = `${OFFICE}/officeDocument/2006/relationships`
const relation = (type: string, target: string): string =>
  `<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OF_OFFICE}/${type}" Target="${target}"/>` +
  '</Relationships>'
const part = (name: string, type: string): string =>
  `<Override PartName="/${name}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`

/** The parts of a workbook with an empty sheet. */
const BOOK = {
  '[Content_Types].xml':
    `<Types xmlns="${OFFICE}/package/2006/content-types"><Default Extension="rels" ` +
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `${part('xl/workbook.xml', 'sheet.main')}${part('xl/worksheets/sheet1.xml', 'worksheet')}</Types>`,
  '_rels/.rels': relation('officeDocument', 'xl/workbook.xml'),
  'xl/workbook.xml':
    `<workbook xmlns="${OFFICE}/spreadsheetml/2006/main" xmlns:r="${OF_OFFICE}"><sheets>` +
    '<sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels': relation('worksheet', 'worksheets/sheet1.xml'),
  'xl/worksheets/sheet1.xml': `<worksheet xmlns="${OFFICE}/spreadsheetml/2006/main"><dimension ref="A1"/><sheetData/></worksheet>`,
}

const SERVERS: readonly Server[] = [
  {
    name: 'eslint',
    script: '@eslint/mcp/src/mcp-cli.js',
    tools: 'lint-files: { filesystem: { read: [src/**, eslint.config.mjs] } }',
    files: {
      'eslint.config.mjs': 'export default [{ rules: { "no-var": "error" } }]\n',
      'src/a.js': 'var a = 1\n',
      'secret/b.js': 'var b = 1\n',
    },
    calls: [{ name: 'lint-files', arguments: { filePaths: ['$/src/a.js'] } }],
    answer: 'no-var',
    refused: { name: 'lint-files', arguments: { filePaths: ['$/secret/b.js'] } },
  },
  {
    name: 'git',
    script: '@cyanheads/git-mcp-server/dist/index.js',
    tools: 'git_log: { filesystem: { read: [project, project/**] } }',
    files: { 'project/a.txt': 'one' },
    prepare: (folder) => {
      for (const words of [
        ['init', '-q'],
        ['add', '.'],
        ['commit', '-qm', 'The first commit'],
      ])
        git(join(folder, 'project'), ...words)
    },
    calls: [{ name: 'git_log', arguments: { path: '$/project' } }],
    answer: 'The first commit',
    refused: { name: 'git_clean', arguments: { path: '$/project', force: true } },
  },
  {
    name: 'excel',
    script: '@negokaz/excel-mcp-server/dist/launcher.js',
    tools: '"*": { filesystem: { read: [out/**], write: [out/**] } }',
    files: { ...BOOK, 'out/note.txt': '' },
    prepare: (folder) => {
      const words = ['-m', 'zipfile', '-c', 'out/book.xlsx', '[Content_Types].xml', '_rels', 'xl']
      execFileSync('python3', words, { cwd: folder })
    },
    calls: [
      { name: 'excel_write_to_sheet', arguments: { ...SHEET, newSheet: false, range: 'A1:B1', values: [['five', 5]] } },
      { name: 'excel_read_sheet', arguments: SHEET },
    ],
    answer: 'five',
    refused: { name: 'excel_read_sheet', arguments: { ...SHEET, fileAbsolutePath: '$/secret.xlsx' } },
  },
  {
    name: 'databases',
    script: '@bytebase/dbhub/dist/index.js',
    words: ['--demo'],
    tools: 'execute_sql: {}',
    files: {},
    calls: [{ name: 'execute_sql', arguments: { sql: 'select 6 * 7 as answer' } }],
    answer: '42',
    refused: { name: 'search_objects', arguments: { object_type: 'table' } },
  },
]

test.for(SERVERS)('$name offers and answers the same with and without Cordon', async (server, context) => {
  const [modules, node] = [mcpModules(server.name), newerNode()]
  needs(context, modules !== undefined, `npm did not install ${MCP_PACKAGES[server.name]}`)
  needs(context, node !== undefined, `npm did not install ${MCP_PACKAGES.node}`)
  const folder = folderWith({ ...server.files, 'tools.yaml': `${server.tools}\n` })
  server.prepare?.(folder)
  const given = <Value>(value: Value): Value =>
    JSON.parse(JSON.stringify(value).replaceAll('$/', `${folder}/`)) as Value
  const command = [node ?? '', join(modules ?? '', server.script), ...(server.words ?? [])]
  const grants = ['--read', `${modules ?? ''}/**`, '--read', node ?? '']

  const talk = async (words: readonly string[]) => {
    const { client } = await openProgram(folder, words)
    const { tools } = await client.listTools()
    const answers = []
    for (const call of given(server.calls)) answers.push(await client.callTool(call))
    return { client, tools, answers }
  }
  const bare = await talk(command)
  await bare.client.close()
  const behind = await talk([process.execPath, CORDON, 'mcp', ...grants, '--tools', 'tools.yaml', '--', ...command])
  expect(behind.tools).toEqual(bare.tools)
  expect(behind.answers).toEqual(bare.answers)
  expect(JSON.stringify(behind.answers.at(-1))).toContain(server.answer)
  expect(metaOf(await behind.client.callTool(given(server.refused)))).toMatchObject({ 'cordon/status': 'denied' })
})
