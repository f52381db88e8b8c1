// Code that is not in the text of the project is said to be opaque. Each case has a twin whose code is followed.
import { describe, expect, test } from 'vitest'

import type { Files } from './further-case.js'
import { projectOf, toolsOf } from './project.js'

interface Pair {
  readonly claim: string
  readonly unseen: string
  readonly because: string
  /** The same with code that can be followed: it reads /etc/shadow, or does nothing if `isQuiet`. */
  readonly twin: string
  readonly isQuiet?: boolean
  readonly files?: Files
}

const READS = "import { readFileSync } from 'node:fs'\nexport const made = () => readFileSync('/etc/shadow', 'utf8')"
const IMPORT = "import { containerTool, processTool, tool, wasmTool } from 'cordon'\n"
const made = (options: string): string => `${IMPORT}export const t = tool({ name: 't', policy: {}, ${options} })`
const command = (words: string): string =>
  `${IMPORT}export const t = processTool({ name: 't', policy: {}, command: ${words} })`
const at = (file: string): string => `module: new URL('${file}', import.meta.url), export: 'made'`

const PAIRS: readonly Pair[] = [
  {
    claim: 'a module that does not exist',
    unseen: made(at('./missing.mjs')),
    because: 'there is no file missing.mjs',
    twin: made(at('./lib.mjs')),
    files: { 'lib.mjs': READS },
  },
  {
    claim: 'a module with a computed path',
    unseen: made("module: process.argv[2] ?? '', export: 'made'"),
    because: 'the path of its module is computed',
    twin: made(at('./lib.mjs')),
    files: { 'lib.mjs': READS },
  },
  {
    claim: 'an export that the module does not have',
    unseen: made(at('./lib.mjs').replace("'made'", "'other'")),
    because: 'its module has no export "other"',
    twin: made(at('./lib.mjs')),
    files: { 'lib.mjs': READS },
  },
  {
    claim: 'an export with a computed name',
    unseen: made(at('./lib.mjs').replace("'made'", "process.argv[2] ?? ''")),
    because: 'the name of its export is computed',
    twin: made(at('./lib.mjs')),
    files: { 'lib.mjs': READS },
  },
  {
    claim: 'a module that is not code',
    unseen: made(at('./lib.wasm')),
    because: 'there is no file lib.wasm',
    twin: made(at('./lib.cjs')),
    files: { 'lib.cjs': "exports.made = () => require('node:fs').readFileSync('/etc/shadow')" },
  },
  {
    claim: 'a name from a file that does not exist',
    unseen: `import { made } from './missing.js'\n${made('run: () => made()')}`,
    because: 'there is no file ./missing.js',
    twin: `import { made } from './lib.mjs'\n${made('run: () => made()')}`,
    files: { 'lib.mjs': READS },
  },
  {
    claim: 'a namespace of a file of which only declarations are here',
    unseen: `import * as lib from './typed.js'\n${made('run: () => lib.made()')}`,
    because: 'there is no file ./typed.js',
    twin: `import * as lib from './lib.mjs'\n${made('run: () => lib.made()')}`,
    files: { 'lib.mjs': READS, 'typed.d.ts': 'export declare const made: () => string' },
  },
  {
    claim: 'an import of its own package.json that leads nowhere',
    unseen: `import { made } from '#nowhere'\n${made('run: () => made()')}`,
    because: 'there is no file #nowhere',
    twin: `import { made } from '#lib'\n${made('run: () => made()')}`,
    files: { 'package.json': '{ "name": "own", "imports": { "#lib": "./lib.mjs" } }', 'lib.mjs': READS },
  },
  {
    claim: 'a function that the callers of a factory give',
    unseen: `${IMPORT}export const make = (name: string, run: () => string) => tool({ name, policy: {}, run })`,
    because: 'its function is known only when the program runs',
    twin: `${READS.replace('made', 'run')}\n${made('run')}`,
  },
  {
    claim: 'a function from a table with computed keys',
    unseen: `const table = new Map<string, () => string>()\n${made("run: table.get('x')!")}`,
    because: 'its function is known only when the program runs',
    twin: `${READS}\nconst table = { get: made }\n${made('run: table.get')}`,
  },
  {
    claim: 'options that the callers of a factory give',
    unseen: `${IMPORT}export const make = (options: { name: string }) => tool({ policy: {}, ...options })`,
    because: 'its options are computed',
    twin: `${READS}\nconst options = { name: 't', run: made }\n${IMPORT}export const t = tool({ policy: {}, ...options })`,
  },
  {
    claim: 'a program that the input names',
    unseen: command('({ program }: { program: string }) => [program, "--version"]'),
    because: 'its program is known only when the tool runs',
    twin: command('({ file }: { file: string }) => ["wc", "-l", file]'),
    isQuiet: true,
  },
  {
    claim: 'a command that a function of a package makes',
    unseen: `import { parse } from 'shell-words'\n${command('({ line }: { line: string }) => parse(line)')}`,
    because: 'its program is known only when the tool runs',
    twin: `const parse = (line: string) => ['echo', line]\n${command('({ line }: { line: string }) => parse(line)')}`,
    isQuiet: true,
  },
  {
    claim: 'a container',
    unseen: `${IMPORT}export const t = containerTool({
      name: 't', image: 'alpine', policy: {}, command: () => ['cat', 'x'] })`,
    because: 'it is in the image alpine, which is not read',
    twin: command("() => ['cat', 'x']"),
    isQuiet: true,
  },
  {
    claim: 'a program of WebAssembly',
    unseen: `${IMPORT}export const t = wasmTool({ name: 't', policy: {}, module: new URL('./t.wasm', import.meta.url) })`,
    because: 'it is compiled to WebAssembly, which is not read',
    twin: made(at('./lib.mjs')),
    files: { 'lib.mjs': READS },
  },
]

const program = projectOf(
  Object.fromEntries(
    PAIRS.flatMap(({ unseen, twin, files = {} }, index) =>
      Object.entries({ 'unseen.ts': unseen, 'twin.ts': twin, ...files }).map(
        ([name, text]) => [`pair-${index}/${name}`, text] as const,
      ),
    ),
  ),
)
const found = (name: string) => {
  const [tool] = toolsOf(program, name)
  return {
    beyond: [...new Set(tool?.beyond.map(({ does }) => does))],
    opaque: (tool?.uses ?? []).flatMap(({ deed }) => (deed.kind === 'opaque' ? [deed.because] : [])),
  }
}

describe('code that nobody sees is opaque, and the twin is followed', () => {
  test.each(PAIRS.map((pair, index) => ({ ...pair, index })))('$claim', ({ index, because, isQuiet }) => {
    expect([...new Set(found(`pair-${index}/unseen.ts`).opaque)]).toEqual([because])
    expect(found(`pair-${index}/twin.ts`)).toEqual({
      beyond: isQuiet === true ? [] : ['reads /etc/shadow'],
      opaque: [],
    })
  })
})

test('the exports of CommonJS are followed, however they are written', () => {
  const bodies = {
    'member.cjs': "exports.made = () => require('fs').readFileSync('/etc/shadow')",
    'object.cjs':
      "const fs = require('fs')\nfunction made() { fs.readFileSync('/etc/shadow') }\nmodule.exports = { made }",
    'inline.cjs': "module.exports = { made: () => require('node:fs').readFileSync('/etc/shadow') }",
    'class.cjs': "module.exports.made = function () { return require('./helper').read() }",
    'helper.cjs': '',
    'helper.js': "exports.read = () => require('fs').readFileSync('/etc/shadow')",
  }
  const files = Object.keys(bodies).filter((name) => !name.startsWith('helper'))
  const project = projectOf({
    ...Object.fromEntries(Object.entries(bodies).map(([name, text]) => [`common/${name}`, text])),
    'common/tools.ts': `${IMPORT}${files
      .map((name, index) => `export const t${index} = tool({ name: '${name}', policy: {}, ${at(`./${name}`)} })`)
      .join('\n')}`,
    'common/whole.cjs': "module.exports = () => require('fs').readFileSync('/etc/shadow')",
    'common/default.ts': `${IMPORT}export const t = tool({
      name: 'whole', policy: {}, module: new URL('./whole.cjs', import.meta.url) })`,
  })
  const tools = [...toolsOf(project, 'common/tools.ts'), ...toolsOf(project, 'common/default.ts')]
  expect(tools.map(({ site, beyond }) => [site.name, beyond[0]?.does])).toEqual(
    [...files, 'whole'].map((name) => [name === 'whole' ? 'whole' : name, 'reads /etc/shadow']),
  )
})

test('a tool in the process of the agent is compared with its policy, with the folders and the loopback of the host', () => {
  const inProcess = (policy: string, run: string) => {
    const text = `${IMPORT}import { readFileSync } from 'node:fs'
      export const t = tool({ name: 't', inProcess: true, policy: ${policy}, run: ${run} })`
    return toolsOf(projectOf({ 'in/tools.ts': text }), 'in/tools.ts')[0]?.beyond.map(({ does }) => does)
  }
  const run = "() => [readFileSync('/tmp/x'), fetch('http://127.0.0.1:8080/')]"
  expect(inProcess('{}', run)).toEqual(['reads /tmp/x', 'sends GET to 127.0.0.1:8080'])
  expect(inProcess("{ filesystem: { read: ['/tmp/x'] }, network: ['127.0.0.1:8080'] }", run)).toEqual([])
})

test('a variable that gets another function later is followed, and one that gets another value is quiet', () => {
  const later = (write: string) => {
    const text = `${IMPORT}import { readFileSync } from 'node:fs'
      let get = () => 'nothing'
      let note = ''
      ${write}
      export const t = tool({ name: 't', policy: {}, inProcess: true, run: () => get() + note })`
    return toolsOf(projectOf({ 'later/tools.ts': text }), 'later/tools.ts')[0]?.beyond.map(({ does }) => does)
  }
  expect(later("get = () => readFileSync('/etc/shadow', 'utf8')")).toEqual(['reads /etc/shadow'])
  expect(later("note = readFileSync('/etc/hostname', 'utf8')")).toEqual([])
})
