// Files as people write them. No tool in them does more than its policy grants, and all of their code can be followed.
import type { Files } from './further-case.js'

export interface CleanFile {
  readonly claim: string
  /** The file with the tools is `tools.ts`, or the one that is named here. */
  readonly name?: string
  readonly files: Files
}

const clean = (claim: string, text: string, files: Files = {}): CleanFile => ({
  claim,
  files: { 'tools.ts': text, ...files },
})

export const CLEAN_FILES: readonly CleanFile[] = [
  clean(
    'two tools of one agent with destructured parameters, as in the README',
    `import { createCordon, tool } from 'cordon'
const cordon = await createCordon({
  tools: [
    tool({ name: 'add', policy: {}, run: ({ a, b }: { a: number; b: number }) => a + b }),
    tool({
      name: 'load',
      policy: { filesystem: { read: ['data/**'] } },
      run: async ({ n }: { n: number }) => {
        const { readFile } = await import('node:fs/promises')
        return readFile(\`data/\${n}.json\`, 'utf8')
      },
    }),
  ],
})
console.log(await cordon.call('add', { a: 1, b: 2 }))`,
  ),
  clean(
    'two exported tools with destructured parameters',
    `import { tool } from 'cordon'
export const fetchRate = tool({
  name: 'rate',
  policy: { network: [{ host: 'api.example.org', methods: ['GET'] }] },
  run: async ({ from, to }: { from: string; to: string }) => {
    const answer = await fetch(\`https://api.example.org/rates/\${from}/\${to}\`)
    return answer.json()
  },
})
export const double = tool({ name: 'double', policy: {}, run: ({ n }: { n: number }) => n * 2 })`,
  ),
  clean(
    'nested patterns, defaults and rest in parameters',
    `import { tool } from 'cordon'
import { writeFileSync } from 'node:fs'
interface Page { page: { size?: number; words: string[] }; more?: string }
export const first = tool({
  name: 'first',
  policy: {},
  run: ({ page: { size = 10, words: [head, ...tail] }, ...rest }: Page) => [head, tail.slice(0, size), rest.more],
})
export const save = tool({
  name: 'save',
  policy: { filesystem: { write: ['out/**'] } },
  run: ({ page: { words } }: Page) => { writeFileSync('out/page.txt', words.join(' ')) },
})`,
  ),
  clean(
    'tools in an array of constants beside the code of the agent',
    `import { createCordon, processTool, tool } from 'cordon'
import { appendFileSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
const config = JSON.parse(readFileSync(join(homedir(), '.agent.json'), 'utf8')) as { model: string }
const tools = [
  tool({ name: 'upper', policy: {}, run: ({ text }: { text: string }) => text.toUpperCase() }),
  tool({
    name: 'now',
    policy: { environment: ['TZ'] },
    run: ({ locale }: { locale: string }) => new Date().toLocaleString(locale, { timeZone: process.env.TZ }),
  }),
  processTool({ name: 'status', policy: { filesystem: { read: ['.'] } }, command: () => ['git', 'status', '--short'] }),
]
const cordon = await createCordon({ tools, environment: process.env })
process.on('exit', () => { appendFileSync('/var/log/agent.log', config.model) })
await cordon.close()`,
  ),
  clean(
    'in-process tools that share a helper of their file, beside other tools',
    `import { tool } from 'cordon'
import { readFileSync } from 'node:fs'
const round = (value: number) => Math.round(value * 100) / 100
export const net = tool({
  name: 'net', policy: { risk: 'low' }, inProcess: true, run: ({ gross }: { gross: number }) => round(gross / 1.19),
})
export const tax = tool({
  name: 'tax', policy: { risk: 'low' }, inProcess: true, run: ({ gross }: { gross: number }) => round(gross - gross / 1.19),
})
export const rates = tool({
  name: 'rates',
  policy: { filesystem: { read: ['rates.json'] } },
  inProcess: true,
  run: () => readFileSync('rates.json', 'utf8'),
})`,
  ),
  clean(
    'two functions of one module, each with its own policy',
    `import { tool } from 'cordon'
const module = new URL('./notes.js', import.meta.url)
export const list = tool({ name: 'list', policy: { filesystem: { read: ['notes'] } }, module, export: 'list' })
export const drop = tool({ name: 'drop', policy: { filesystem: { write: ['notes'] } }, module, export: 'drop' })
export const count = tool({ name: 'count', policy: {}, module, export: 'count' })`,
    {
      'notes.ts': `import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
const FOLDER = 'notes'
const pathOf = (name: string) => join(FOLDER, name)
export const list = () => readdir(FOLDER)
export async function drop({ name }: { name: string }) { await rm(pathOf(name)) }
export const count = ({ words }: { words: string[] }) => new Set(words).size`,
    },
  ),
  clean(
    'modules that share helpers of a third file, behind an index',
    `import { tool } from 'cordon'
export const report = tool({
  name: 'report',
  policy: { filesystem: { read: ['data/**'], write: ['reports/**'] } },
  module: new URL('./report.js', import.meta.url),
})
export const summary = tool({
  name: 'summary',
  policy: { filesystem: { read: ['data/**'] } },
  module: new URL('./summary.js', import.meta.url),
})`,
    {
      'report.ts': `import { loadRows, saveReport } from './lib/index.js'
export default async ({ month }: { month: string }) => saveReport(month, await loadRows(month))`,
      'summary.ts': `import { loadRows } from './lib/index.js'
export default async function ({ month, top = 3 }: { month: string; top?: number }) {
  return (await loadRows(month)).slice(0, top)
}`,
      'lib/index.ts': "export { loadRows } from './rows.js'\nexport * from './save.js'",
      'lib/rows.ts': `import { readFile } from 'node:fs/promises'
export const loadRows = async (month: string) =>
  (await readFile(\`data/\${month}.csv\`, 'utf8')).split('\\n').map((line) => line.split(','))`,
      'lib/save.ts': `import { writeFile } from 'node:fs/promises'
export const saveReport = async (month: string, rows: string[][]) => {
  await writeFile(\`reports/\${month}.txt\`, rows.join('\\n'))
}`,
    },
  ),
  clean(
    'a function and its tool in one file, beside another tool',
    `import { tool } from 'cordon'
import { readFileSync, writeFileSync } from 'node:fs'
const here = new URL(import.meta.url)
export const lines = ({ path }: { path: string }) => readFileSync(\`docs/\${path}\`, 'utf8').split('\\n').length
export const stamp = ({ text }: { text: string }) => { writeFileSync('stamps/last', text) }
export const linesTool = tool({
  name: 'lines', policy: { filesystem: { read: ['docs/**'] } }, module: here, export: 'lines',
})
export const stampTool = tool({
  name: 'stamp', policy: { filesystem: { write: ['stamps/**'] } }, module: here, export: 'stamp',
})
export const other = tool({ name: 'other', policy: { environment: ['LANG'] }, run: () => process.env.LANG })`,
  ),
  clean(
    'commands with words from a helper, a constant and a choice',
    `import { processTool } from 'cordon'
const BASE = ['git', '--no-pager'] as const
const words = (kind: string, limit: number) => [...BASE, kind, '-n', String(limit)]
const policy = { filesystem: { read: ['.git'] } }
export const log = processTool({
  name: 'log', policy, command: ({ limit }: { limit: number }) => words('log', limit),
})
export const show = processTool({
  name: 'show',
  policy,
  command: ({ id, stat }: { id: string; stat: boolean }) =>
    stat ? [...BASE, 'show', '--stat', id] : [...BASE, 'show', id],
})
export const find = processTool({
  name: 'find',
  policy: { filesystem: { read: ['src'] } },
  command({ name, type }: { name: string; type?: string }) {
    const more = type === undefined ? [] : ['-type', type]
    return ['find', 'src', '-name', name, ...more]
  },
})
export const grep = processTool({
  name: 'grep',
  policy: { filesystem: { read: ['src'] } },
  command: ({ text, whole }: { text: string; whole?: boolean }) =>
    ['grep', whole === true ? '-w' : '', '-rn', text, 'src'].filter((word) => word !== ''),
})
export const top = processTool({
  name: 'top', policy: { exec: ['sort', 'head'], filesystem: { read: ['sizes.txt'] } },
  command: () => ['sh', '-c', 'sort -n sizes.txt | head -5'],
})`,
  ),
  clean(
    'shared options and a policy from another file',
    `import { tool } from 'cordon'
import { common, readsDocs } from './policies.js'
export const size = tool({
  ...common,
  name: 'size',
  policy: readsDocs,
  run: async ({ path }: { path: string }) => (await (await import('node:fs/promises')).stat(\`docs/\${path}\`)).size,
})
export const echo = tool({ ...common, name: 'echo', policy: {}, run: ({ text }: { text: string }) => text })`,
    {
      'policies.ts': `export const common = { argumentGate: 'off' } as const
export const readsDocs = { filesystem: { read: ['docs/**'] } }`,
    },
  ),
  clean(
    'tools of an MCP server',
    `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { sandboxedTool, sandboxSettings } from '@cordon/mcp'
const server = new McpServer({ name: 'files', version: '1.0.0' })
sandboxSettings(server, { environment: process.env })
sandboxedTool(server, {
  name: 'head',
  policy: { filesystem: { read: ['docs/**'] } },
  run: async ({ path, lines }: { path: string; lines: number }) => {
    const { readFile } = await import('node:fs/promises')
    return (await readFile(\`docs/\${path}\`, 'utf8')).split('\\n', lines)
  },
})
sandboxedTool(server, { name: 'sum', policy: {}, run: ({ values }: { values: number[] }) => Math.max(...values) })`,
  ),
  clean(
    'a class and a table of functions behind a module',
    `import { tool } from 'cordon'
export const convert = tool({
  name: 'convert', policy: {}, module: new URL('./convert.js', import.meta.url), export: 'convert',
})
export const history = tool({
  name: 'history',
  policy: { filesystem: { read: ['history.json'] } },
  module: new URL('./convert.js', import.meta.url),
  export: 'history',
})`,
    {
      'convert.ts': `import { readFileSync } from 'node:fs'
const UNITS = { km: (value: number) => value * 1000, m: (value: number) => value, cm: (value: number) => value / 100 }
class Converter {
  readonly #unit: keyof typeof UNITS
  constructor(unit: keyof typeof UNITS) { this.#unit = unit }
  convert(value: number) { return UNITS[this.#unit](value) }
  load() { return readFileSync('history.json', 'utf8') }
}
export const convert = ({ value, unit = 'm' }: { value: number; unit?: keyof typeof UNITS }) =>
  new Converter(unit).convert(value)
export const history = ({ unit }: { unit: keyof typeof UNITS }) => new Converter(unit).load()`,
    },
  ),
  {
    claim: 'CommonJS: tools and their functions',
    name: 'tools.cjs',
    files: {
      'tools.cjs': `const { tool } = require('cordon')
const path = require('node:path')
exports.read = tool({
  name: 'read', policy: { filesystem: { read: ['docs/**'] } }, module: path.join(__dirname, 'lib.cjs'), export: 'read',
})
exports.sum = tool({ name: 'sum', policy: {}, module: path.join(__dirname, 'lib.cjs'), export: 'sum' })
exports.own = tool({ name: 'own', policy: {}, run: ({ n }) => n + 1 })`,
      'lib.cjs': `const fs = require('node:fs')
const { sum } = require('./sum')
const data = require('./data.json')
function read({ name }) { return fs.readFileSync('docs/' + name, 'utf8') + data.title }
module.exports = { read, sum }`,
      'sum.js': 'exports.sum = ({ values }) => values.reduce((a, b) => a + b, 0)',
      'data.json': '{ "title": "x" }',
    },
  },
  {
    claim: 'JavaScript modules with imports of their own',
    name: 'tools.mjs',
    files: {
      'tools.mjs': `import * as cordon from 'cordon'
export const page = cordon.tool({
  name: 'page',
  policy: { network: ['docs.example.org'] },
  module: new URL('./page.mjs', import.meta.url),
  export: 'page',
})
export const slug = cordon.tool({ name: 'slug', policy: {}, run: ({ title }) => title.toLowerCase() })`,
      'page.mjs': `import { clean } from './text.mjs'
const BASE = 'https://docs.example.org'
export const page = async ({ path }) => clean(await (await fetch(\`\${BASE}/\${path}\`)).text())`,
      'text.mjs': "export const clean = (html) => html.replaceAll(/<[^>]*>/g, '')",
    },
  },
  clean(
    'streams, progress and a generator',
    `import { tool } from 'cordon'
export const tail = tool({
  name: 'tail',
  policy: { filesystem: { read: ['logs/**'] } },
  run: async function* ({ file }: { file: string }, { progress, signal, logger }) {
    const { createReadStream } = await import('node:fs')
    const { createInterface } = await import('node:readline')
    const lines = createInterface({ input: createReadStream(\`logs/\${file}\`) })
    for await (const line of lines) {
      if (signal.aborted) break
      progress({ line })
      yield line
    }
    logger.info('done')
  },
})
export const pick = tool({
  name: 'pick', policy: {}, run: ({ list: [one, two] }: { list: string[] }, { progress }) => { progress(1); return [one, two] },
})`,
  ),
  clean(
    'a policy with a file of rules, hooks and approvals in the options of the agent',
    `import { createCordon, tool } from 'cordon'
import { appendFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
const LOG = '/var/log/calls.log'
export const open = () => createCordon({
  tools: [
    tool({ name: 'trim', policy: {}, run: ({ text, side = 'both' }: { text: string; side?: string }) =>
      side === 'both' ? text.trim() : text.trimEnd() }),
    tool({ name: 'pad', policy: {}, run: ({ text, size }: { text: string; size: number }) => text.padEnd(size) }),
  ],
  approve: async ({ tool: name }: { tool: string }) => spawnSync('zenity', ['--question', name]).status === 0,
  onEvent: (event: unknown) => { appendFileSync(LOG, JSON.stringify(event)) },
})`,
  ),
]
