// Follows the page word for word: its agent runs, and its programs compile.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { REPOSITORY, linkPackages } from '../../../../test/repository.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

import { IN_MATRIX } from '../../../../test/turns.js'
import { writtenLog } from './audit-stage.js'
import { openStage } from './stage.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { newFolder } = openStage()
const pageOf = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8')
const PAGE = pageOf('runtime.md')
const README = readFileSync(join(REPOSITORY, 'README.md'), 'utf8')

const ROOMS = ['runtime', 'policy', 'gate', 'sandbox', 'egress', 'errors', 'shapes', 'manifest', 'commands']

const blockAfter = (page: string, heading: string): string =>
  /```[jt]s\n([^]*?)```/.exec(page.slice(page.indexOf(heading)))?.[1] ?? ''

/** A project that has installed Cordon. */
const project = (): string => {
  const place = newFolder()
  linkPackages(place, 'cordon', '@types/node', 'undici-types')
  return place
}

/** Runs the first program after a heading of the page. */
const runPrinted = (heading: string, page = PAGE, place = project()) => {
  writeFileSync(join(place, 'agent.mjs'), blockAfter(page, heading))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['agent.mjs'], {
    cwd: place,
    encoding: 'utf8',
    timeout: ENDS_WHAT_HANGS_MS,
  })
  return { place, status, stdout, stderr }
}

test('the whole agent of docs/runtime.md runs as printed', () => {
  const { place, status, stdout, stderr } = runPrinted('## A whole agent')
  expect({ status, stderr, lines: stdout.trim().split('\n') }).toEqual({
    status: 0,
    stderr: '',
    lines: [
      'remove_note denied "Call read_note first. The tool remove_note may run only after it has completed."',
      'read_note ok "pear\\napple\\n"',
      'sort_lines ok {"exit_code":0,"stdout":"apple\\npear\\n","stderr":""}',
      'sort_lines denied "The call was denied: keys are not for tools"',
      expect.stringMatching(/^may remove_note run with \{"path":"notes\/fruit"\}\? \(.+\)$/) as string,
      'remove_note ok {"exit_code":0,"stdout":"","stderr":""}',
    ],
  })
  expect(existsSync(join(place, 'notes', 'fruit'))).toBe(false)
  expect(readFileSync(join(place, 'logs', 'audit.jsonl'), 'utf8')).toContain('tool.completed')
})

test('the check of docs/audit.md runs as printed, and finds a changed line', async () => {
  const page = readFileSync(join(ROOT, 'docs', 'audit.md'), 'utf8')
  const place = project()
  const log = await writtenLog(3)
  const program = blockAfter(page, 'A program checks a log').replace('/var/log/my-agent/audit.jsonl', log)
  writeFileSync(join(place, 'check.mjs'), program)
  const check = () =>
    spawnSync(process.execPath, ['check.mjs'], { cwd: place, encoding: 'utf8', timeout: ENDS_WHAT_HANGS_MS })
  expect(check()).toMatchObject({ stderr: '', stdout: expect.stringMatching(/^\d+ lines, intact\n$/) as string })
  writeFileSync(log, readFileSync(log, 'utf8').replace('"sequence":2', '"sequence":9'))
  expect(check()).toMatchObject({ stderr: expect.stringContaining(log) as string, stdout: 'damaged\n' })
})

test(
  'the examples compile as TypeScript, with all declarations that they bring along, and an annotated parameter ' +
    'is checked',
  IN_MATRIX,
  () => {
    const place = project()
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }\n')
    const programs = {
      'exports.ts': ROOMS.map((room) => `export * as ${room} from 'cordon/${room}'\n`).join(''),
      'in-typescript.ts': `import { createCordon, tool } from 'cordon'\n${blockAfter(PAGE, '## In TypeScript')}`,
      'readme.ts': blockAfter(README, '## In an agent'),
      'first.ts': blockAfter(PAGE, '# Tools in an agent'),
      'whole.ts': blockAfter(PAGE, '## A whole agent'),
      'annotated.ts':
        "import { processTool, tool } from 'cordon'\ntool({ name: 'add', run: ({ a, b }: { a: number; b: " +
        "number }) => a + b })\nprocessTool({ name: 'wc', command: ({ path }: { path: string }) => ['wc', " +
        "path] })\n// @ts-expect-error there is no such property\ntool({ name: 'add', run: ({ a }: { a: number " +
        '}) => a.length })\n',
    }
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(place, name), text)
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--target',
      'es2023',
      '--module',
      'nodenext',
      '--preserveSymlinks',
    ]
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc'), ...options, ...Object.keys(programs)],
      { cwd: place, encoding: 'utf8', timeout: ENDS_WHAT_HANGS_MS },
    )
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  },
)

test('the suspended call of docs/suspended-calls.md goes on in another runtime, as printed', () => {
  const { status, stdout, stderr } = runPrinted('## Suspended calls', pageOf('suspended-calls.md'))
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'pending\nok hello\n\n', stderr: '' })
})

test('the WebAssembly tool of docs/tools.md is compiled and runs as printed', IN_MATRIX, () => {
  const heading = '## WebAssembly'
  const place = project()
  const page = pageOf('tools.md')
  const section = page.slice(page.indexOf(heading))
  writeFileSync(join(place, 'lines.c'), /```c\n([^]*?)```/.exec(section)?.[1] ?? '')
  const [compiler = '', ...words] = (/^ {4}(clang .*)$/m.exec(section)?.[1] ?? '').split(' ')
  execFileSync(compiler, words, { cwd: place })
  expect(runPrinted(heading, page, place)).toMatchObject({ status: 0, stderr: '', stdout: 'ok 2\n\n' })
})
