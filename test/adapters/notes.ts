// A runtime with notes for the tests of adapters: reading is allowed, and somebody has to approve removing.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { pathRead, pathWrite } from '../../src/gate/index.js'
import { processTool, tool } from '../../src/runtime/index.js'
import type { Cordon, CordonOptions } from '../../src/runtime/index.js'
import { ENDS_WHAT_HANGS_MS } from '../hanging.js'
import { openStage } from '../runtime/stage.js'

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
      ...{ workspace, tools: TOOLS, ruleFiles: 'none', mode: 'default' },
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

/** An example checks itself. */
export const runExample = (name: string): { readonly status: number | null; readonly output: string } => {
  const script = fileURLToPath(new URL(`../../examples/${name}/run.mjs`, import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    encoding: 'utf8',
    timeout: ENDS_WHAT_HANGS_MS,
  })
  return { status, output: `${stdout}${stderr}` }
}
