// A ticket is bound to the code that somebody approved: the module with its imports and packages, the script and the
// words of its command. Each change has a twin in which nothing changed.
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { pathWrite } from '../../src/gate/index.js'
import { containerTool, processTool, tool } from '../../src/runtime/index.js'
import type { Cordon, CordonOptions, PendingResult, ToolDefinition } from '../../src/runtime/index.js'

import { openStage } from './stage.js'

const stage = openStage()
const key = randomBytes(32)
const YES = { kind: 'approve_once', by: 'ann' } as const

const write = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text, { mode: 0o755 })
  }
}

const cordonIn = (workspace: string, tools: readonly ToolDefinition[], more: Partial<CordonOptions> = {}) =>
  stage.cordon({
    workspace,
    home: workspace,
    mode: 'untrusted',
    tools,
    tickets: { key, folder: join(workspace, '.tickets') },
    ...more,
  })

const suspended = async (cordon: Cordon, input: unknown = {}): Promise<PendingResult> => {
  const result = await cordon.call(cordon.listTools()[0]?.name ?? '', input, { onAsk: 'suspend' })
  if (result.status !== 'pending') throw new Error(`${result.status}: ${String(result.reason)}`)
  return result
}

/** Suspends a call, changes something, and resumes it in a second runtime. */
const resumedAfter = async (
  change: (folder: string) => void,
  toolIn: (folder: string) => ToolDefinition,
  files: Readonly<Record<string, string>>,
  input: unknown = {},
) => {
  const folder = stage.newFolder()
  write(folder, files)
  const { ticket, approval } = await suspended(await cordonIn(folder, [toolIn(folder)]), input)
  change(folder)
  const result = await (await cordonIn(folder, [toolIn(folder)])).resume(ticket, YES)
  return { result, unbound: approval.unbound }
}

const NOTHING = (): void => undefined
const REFUSED = { status: 'denied', facts: { error: { code: 'ticket-refused' } } }

describe('a ticket of a module', () => {
  const FILES = {
    'package.json': '{ "type": "module" }',
    'main.js': `import { greet } from './lib/greet.js'\nimport pad from 'pad'\nexport const run = () => pad(greet())\n`,
    'lib/greet.js': `import { word } from './word.js'\nexport const greet = () => word\n`,
    'lib/word.js': `export const word = 'hello'\n`,
    'node_modules/pad/package.json': '{ "name": "pad", "version": "1.0.0", "dependencies": { "fill": "1" } }',
    'node_modules/pad/index.js': `module.exports = (text) => require('fill') + text\n`,
    'node_modules/fill/package.json': '{ "name": "fill", "version": "1.0.0" }',
    'node_modules/fill/index.js': `module.exports = ' '\n`,
  }
  const inModule = (folder: string) => tool({ name: 'greet', module: join(folder, 'main.js'), export: 'run' })

  test('runs it when nothing has changed', async () => {
    const { result, unbound } = await resumedAfter(NOTHING, inModule, FILES)
    expect(result).toMatchObject({ status: 'ok', output: ' hello' })
    expect(unbound).toEqual([])
  })

  test('runs it when another file of the project has changed', async () => {
    const { result } = await resumedAfter(
      (folder) => {
        write(folder, { 'lib/other.js': 'x' })
      },
      inModule,
      FILES,
    )
    expect(result.status).toBe('ok')
  })

  test.each([
    ['the module', 'main.js', `export const run = () => 'other'\n`],
    ['an import of an import', 'lib/word.js', `export const word = 'evil'\n`],
    ['a file of a package', 'node_modules/pad/index.js', `module.exports = () => 'evil'\n`],
    ['a package that a package depends on', 'node_modules/fill/index.js', `module.exports = 'evil'\n`],
    ['the settings of its package', 'package.json', '{ "type": "module", "imports": {} }'],
    ['a nearer package of the same name', 'lib/node_modules/pad/index.js', 'evil'],
  ])('runs nothing when %s was edited', async (what, name, text) => {
    const files = what.startsWith('a nearer')
      ? {
          ...FILES,
          'main.js': `export { run } from './lib/run.js'\n`,
          'lib/run.js': FILES['main.js'].replace('./lib', '.'),
        }
      : FILES
    expect((await resumedAfter(NOTHING, inModule, files)).result.status).toBe('ok')
    const { result } = await resumedAfter(
      (folder) => {
        write(folder, { [name]: text })
      },
      inModule,
      files,
    )
    expect(result).toMatchObject(REFUSED)
  })

  test('binds files that only import finds, of packages and behind #names', async () => {
    const files = {
      'package.json':
        '{ "type": "module", "imports": { "#word": { "import": "./word.js", "require": "./word.cjs" } } }',
      'main.js': `import pad from 'pad'\nimport { word } from '#word'\nexport const run = () => pad(word)\n`,
      'word.js': `export const word = 'hello'\n`,
      'word.cjs': `exports.word = 'required'\n`,
      'node_modules/pad/package.json': '{ "name": "pad", "type": "module", "exports": { "import": "./index.js" } }',
      'node_modules/pad/index.js': `export default (text) => ' ' + text\n`,
    }
    const { result, unbound } = await resumedAfter(NOTHING, inModule, files)
    expect(result).toMatchObject({ status: 'ok', output: ' hello' })
    expect(unbound).toEqual([])
    for (const name of ['word.js', 'node_modules/pad/index.js']) {
      const edited = (folder: string): void => {
        write(folder, { [name]: `export const word = 'evil'; export default () => 'evil'\n` })
      }
      expect((await resumedAfter(edited, inModule, files)).result).toMatchObject(REFUSED)
    }
  })

  test('says which files only a package.json chooses', async () => {
    const files = {
      'package.json': '{ "type": "module", "imports": { "#lib/*": "./lib/*.js" } }',
      'main.js': `export { run } from '#lib/run'\n`,
      'lib/run.js': `export const run = () => 'ran'\n`,
    }
    const { result, unbound } = await resumedAfter(NOTHING, inModule, files)
    expect(result).toMatchObject({ status: 'ok', output: 'ran' })
    expect(unbound).toEqual(['imports that its package.json chooses in main.js'])
  })

  test('runs nothing when an imported file outside of its package was edited', async () => {
    const folder = stage.newFolder()
    write(folder, {
      'beside/word.mjs': `export const word = 'hello'\n`,
      'own/package.json': '{}',
      'own/main.mjs': `export { word as run } from '../beside/word.mjs'\n`,
    })
    const module = tool({
      name: 'greet',
      module: join(folder, 'own/main.mjs'),
      export: 'run',
      policy: { filesystem: { read: [join(folder, 'beside')] } },
    })
    const cordon = await cordonIn(folder, [module])
    const { ticket } = await suspended(cordon)
    write(folder, { 'beside/word.mjs': `export const word = 'evil'\n` })
    expect(await cordon.resume(ticket, YES)).toMatchObject(REFUSED)
  })

  test('says which imports it does not bind', async () => {
    const files = { 'main.js': `export const run = async ({ name }) => (await import(name)).default\n` }
    const { unbound } = await resumedAfter(NOTHING, inModule, files, { name: 'node:path' })
    expect(unbound).toEqual(['imports with a computed name in main.js'])
  })
})

describe('a ticket of a command', () => {
  const SCRIPT = { 'deploy.sh': '#!/bin/sh\necho deployed\n', 'data.txt': 'one\n' }
  const policy = { filesystem: { read: ['.'] } }
  const running = (words: readonly string[]) => () =>
    processTool({ name: 'deploy', policy, command: () => words }) as ToolDefinition

  const edit = (folder: string): void => {
    write(folder, { 'deploy.sh': '#!/bin/sh\necho evil\n' })
  }

  test.each([
    ['the program', ['./deploy.sh']],
    ['a word', ['sh', 'deploy.sh']],
    ['a word without a dot or slash', ['sh', 'deploy']],
    ['part of a word', ['env', 'FILE=deploy.sh', 'true']],
    ['part of a shell line', ['sh', '-c', 'true && ./deploy.sh now']],
  ])('runs nothing when the script, %s of it, was edited', async (_, words) => {
    const files = words.includes('deploy') ? { ...SCRIPT, deploy: SCRIPT['deploy.sh'] } : SCRIPT
    const change = (folder: string): void => {
      edit(folder)
      if (words.includes('deploy')) write(folder, { deploy: 'echo evil\n' })
    }
    expect((await resumedAfter(NOTHING, running(words), files)).result.status).toBe('ok')
    expect((await resumedAfter(change, running(words), files)).result).toMatchObject(REFUSED)
  })

  test('runs nothing when the script appeared only after the question', async () => {
    const { result } = await resumedAfter(edit, running(['sh', 'deploy.sh']), {})
    expect(result).toMatchObject(REFUSED)
  })

  test('runs nothing when a program that its own PATH finds was edited', async () => {
    const folder = stage.newFolder()
    write(folder, { 'bin/deploy': SCRIPT['deploy.sh'] })
    const definition = processTool({
      name: 'deploy',
      policy: { filesystem: { read: ['.'] }, environment: [`PATH=${join(folder, 'bin')}:/usr/bin:/bin`] },
      command: () => ['sh', '-c', 'deploy now'],
    })
    const cordon = await cordonIn(folder, [definition])
    const [first, second] = [await suspended(cordon), await suspended(cordon)]
    expect((await cordon.resume(first.ticket, YES)).status).toBe('ok')
    write(folder, { 'bin/deploy': '#!/bin/sh\necho evil\n' })
    expect(await cordon.resume(second.ticket, YES)).toMatchObject(REFUSED)
  })

  test('says that a passed PATH and a tag of an image are not bound', async () => {
    const passed = processTool({ name: 'deploy', policy: { environment: ['PATH'] }, command: () => ['true'] })
    expect((await suspended(await cordonIn(stage.newFolder(), [passed]))).approval.unbound).toEqual([
      'programs in the folders of the PATH that it is passed',
    ])
    const inImage = async (image: string) => {
      const definition = containerTool({ name: 'box', image, command: () => ['true'] })
      return (await suspended(await cordonIn(stage.newFolder(), [definition]))).approval.unbound
    }
    expect(await inImage('alpine:3.20')).toEqual(['the image that its tag means'])
    expect(await inImage(`alpine@sha256:${'0'.repeat(64)}`)).toEqual([])
  })

  test('runs nothing when a link leads to another script', async () => {
    const change = (folder: string): void => {
      rmSync(join(folder, 'link.sh'))
      symlinkSync('other.sh', join(folder, 'link.sh'))
    }
    const folder = stage.newFolder()
    write(folder, { ...SCRIPT, 'other.sh': 'echo evil\n' })
    symlinkSync('deploy.sh', join(folder, 'link.sh'))
    const cordon = await cordonIn(folder, [running(['sh', 'link.sh'])()])
    const [first, second] = [await suspended(cordon), await suspended(cordon)]
    expect((await cordon.resume(first.ticket, YES)).status).toBe('ok')
    change(folder)
    expect(await cordon.resume(second.ticket, YES)).toMatchObject(REFUSED)
  })

  test('runs nothing when a value around its function has changed', async () => {
    let target = 'staging'
    let content = 'one'
    const definition = processTool({
      name: 'deploy',
      command: () => ['sh', '-c', 'cat; echo "$1"', 'sh', target],
      stdin: () => content,
    })
    const cordon = await cordonIn(stage.newFolder(), [definition])
    const tickets = [await suspended(cordon), await suspended(cordon), await suspended(cordon)]
    expect(await cordon.resume(tickets[0]?.ticket ?? '', YES)).toMatchObject({ status: 'ok' })
    target = 'production'
    expect(await cordon.resume(tickets[1]?.ticket ?? '', YES)).toMatchObject(REFUSED)
    target = 'staging'
    content = 'two'
    expect(await cordon.resume(tickets[2]?.ticket ?? '', YES)).toMatchObject(REFUSED)
  })

  test('runs it when only the file that it is declared to change has changed', async () => {
    const append = () =>
      processTool({
        name: 'append',
        input: { type: 'object', properties: { path: pathWrite() }, required: ['path'] },
        policy: { filesystem: { write: ['.'] } },
        command: ({ path }: { path: string }) => ['sh', '-c', 'echo two >> "$1"', 'sh', path],
      }) as ToolDefinition
    const change = (folder: string): void => {
      write(folder, { 'data.txt': 'other\n' })
    }
    expect((await resumedAfter(change, append, SCRIPT, { path: 'data.txt' })).result.status).toBe('ok')
  })

  test('says that a shell may find other files', async () => {
    const { unbound } = await resumedAfter(NOTHING, running(['sh', '-c', 'cd / && ls "$HOME"']), {})
    expect(unbound).toEqual(['files that only the shell of its command finds'])
    expect((await resumedAfter(NOTHING, running(['sh', '-c', 'echo a']), {})).unbound).toEqual([])
  })
})

test('a ticket of a function in this process says that it does not bind variables', async () => {
  const outside = { value: 1 }
  const inProcess = (run: () => unknown) => () =>
    tool({ name: 'here', inProcess: true, run, policy: { risk: 'high' } }) as ToolDefinition
  const { result, unbound } = await resumedAfter(
    NOTHING,
    inProcess(() => outside.value),
    {},
  )
  expect(result).toMatchObject({ status: 'ok', output: 1 })
  expect(unbound).toEqual(['variables that its function uses from outside of itself'])
  expect(
    (
      await resumedAfter(
        NOTHING,
        inProcess(() => 2),
        {},
      )
    ).unbound,
  ).toEqual([])
})

describe('keys and folders of tickets', () => {
  const note = () => tool({ name: 'note', policy: { risk: 'high' }, run: () => 'noted' }) as ToolDefinition

  test('a new key signs, and tickets of the old one are good until it is removed', async () => {
    const workspace = stage.newFolder()
    const folder = join(workspace, '.tickets')
    const next = randomBytes(32)
    const keyed = (given: Uint8Array | readonly Uint8Array[]) =>
      cordonIn(workspace, [note()], { tickets: { key: given, folder } })
    const old = await suspended(await keyed(key))
    const both = await keyed([next, key])
    const fresh = await suspended(both)
    await expect((await keyed(next)).resume(old.ticket, YES)).rejects.toThrow('another key')
    expect((await both.resume(old.ticket, YES)).status).toBe('ok')
    expect((await (await keyed(next)).resume(fresh.ticket, YES)).status).toBe('ok')
  })

  test('a caller that approves its own call is refused, and the ticket stays good', async () => {
    const cordon = await cordonIn(stage.newFolder(), [note()], { requestedBy: 'alice' })
    const { ticket } = await suspended(cordon)
    await expect(cordon.resume(ticket, { kind: 'approve_once', by: 'alice' })).rejects.toMatchObject({
      code: 'approval-refused',
    })
    expect((await cordon.resume(ticket, YES)).status).toBe('ok')
  })

  test.each([
    ['a text', { key: 'hunter2-hunter2-hunter2-hunter2!' }],
    ['a text in a list', { key: [randomBytes(32), 'hunter2-hunter2-hunter2-hunter2!'] }],
    ['a text in place of the settings', 'hunter2-hunter2-hunter2-hunter2!'],
    ['a mapping', { key: { hex: 'hunter2-hunter2-hunter2-hunter2!' } }],
  ])('an error never shows a key that is %s', async (_, tickets) => {
    const error: unknown = await cordonIn(stage.newFolder(), [note()], { tickets: tickets as never }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'option-invalid' })
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hunter2')
  })

  test('an empty list of keys is refused', async () => {
    const folder = stage.newFolder()
    await expect(cordonIn(folder, [note()], { tickets: { key: [], folder } })).rejects.toThrow('short key')
  })

  test('a folder that others can write is refused, and its twin is not', async () => {
    const workspace = stage.newFolder()
    const folder = join(workspace, 'shared')
    mkdirSync(folder)
    for (const mode of [0o777, 0o1777, 0o770]) {
      chmodSync(folder, mode)
      await expect(cordonIn(workspace, [note()], { tickets: { key, folder } })).rejects.toMatchObject({
        code: 'tickets-unsafe',
      })
    }
    chmodSync(folder, 0o755)
    const cordon = await cordonIn(workspace, [note()], { tickets: { key, folder } })
    expect((await cordon.resume((await suspended(cordon)).ticket, YES)).status).toBe('ok')
  })
})
