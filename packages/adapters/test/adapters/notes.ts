// A runtime with notes for the tests of adapters: reading is allowed, and somebody has to approve removing.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { pathRead, pathWrite } from 'cordon/gate'
import { processTool, tool } from 'cordon'
import type { Cordon, CordonOptions } from 'cordon'
import { REPOSITORY, linkPackages } from '../../../../test/repository.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'
import { openStage } from '../../../core/test/runtime/stage.js'

export interface Notes {
  readonly cordon: Cordon
  readonly hasNote: () => boolean
}

export const FRUIT = { path: 'notes/fruit' }

const onePath = (path: object) => ({ type: 'object', properties: { path }, required: ['path'] })

const TOOLS = [
  tool({
    name: 'read_note',
    description: 'Reads a note',
    input: onePath(pathRead()),
    policy: { filesystem: { read: ['notes'] } },
    run: async ({ path }: typeof FRUIT) => (await import('node:fs')).readFileSync(path, 'utf8'),
  }),
  processTool({
    name: 'remove.note',
    description: 'Removes a note',
    input: onePath(pathWrite()),
    policy: { filesystem: { write: ['notes'] } },
    command: ({ path }: typeof FRUIT) => ['rm', '-v', '--', path],
  }),
]

/** `remove.note` is `remove_note` for a model. */
export const openNotesStage = (): ((options?: Partial<CordonOptions>) => Promise<Notes>) => {
  const stage = openStage()
  const key = randomBytes(32)
  return async (options = {}) => {
    const workspace = stage.newFolder()
    mkdirSync(join(workspace, 'notes'))
    writeFileSync(join(workspace, FRUIT.path), 'pear\n')
    const cordon = await stage.cordon({
      workspace,
      tools: TOOLS,
      ruleFiles: 'none',
      mode: 'default',
      rules: [
        [
          { effect: 'allow', tool: 'read_note', because: 'it changes nothing' },
          { effect: 'ask', tool: 'remove.note', because: 'notes have no versions' },
        ],
      ],
      tickets: { key, folder: join(workspace, 'tickets') },
      ...options,
    })
    return { cordon, hasNote: () => existsSync(join(workspace, FRUIT.path)) }
  }
}

interface ExampleRun {
  readonly status: number | null
  readonly output: string
}

const ROOT = REPOSITORY

/** An example checks itself. */
export const runExample = (name: string, folder = ROOT, node = process.execPath): ExampleRun => {
  const script = join(folder, 'examples', name, 'run.mjs')
  const { status, stdout, stderr } = spawnSync(node, [script], { encoding: 'utf8', timeout: ENDS_WHAT_HANGS_MS })
  return { status, output: `${stdout}${stderr}` }
}

/** Runs an example as somebody does who has installed Cordon and the SDK, whose modules are in another folder. */
export const runExampleWith = (modules: string, name: string, node = process.execPath): ExampleRun => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-installed-'))
  try {
    for (const each of ['notes', name]) cpSync(join(ROOT, 'examples', each), join(folder, 'examples', each), RECURSIVE)
    mkdirSync(join(folder, 'node_modules'))
    for (const each of readdirSync(modules)) symlinkSync(join(modules, each), join(folder, 'node_modules', each))
    linkPackages(folder, 'cordon', '@cordon/adapters')
    return runExample(name, folder, node)
  } finally {
    rmSync(folder, RECURSIVE)
  }
}

const RECURSIVE = { recursive: true }
