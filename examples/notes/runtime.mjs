// The runtime of the examples for SDKs: a model may read notes, and a person decides whether it removes one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { createCordon, processTool, tool } from 'cordon'
import { pathRead, pathWrite } from 'cordon/gate'

const onePath = (path) => ({ type: 'object', properties: { path }, required: ['path'] })

/** Every process opens it with the same folder, and so with the same key for tickets. */
export const openNotes = (folder) =>
  createCordon({
    workspace: join(folder, 'project'),
    ruleFiles: 'none',
    mode: 'default',
    tools: [
      tool({
        name: 'read_note',
        description: 'Reads a note',
        input: onePath(pathRead()),
        policy: { filesystem: { read: ['notes'] } },
        run: async ({ path }) => (await import('node:fs')).readFileSync(path, 'utf8'),
      }),
      processTool({
        name: 'remove_note',
        description: 'Removes a note',
        input: onePath(pathWrite()),
        policy: { filesystem: { write: ['notes'] } },
        command: ({ path }) => ['rm', '-v', '--', path],
      }),
    ],
    rules: [
      {
        rules: [
          { effect: 'allow', tool: 'read_note', because: 'it changes nothing' },
          { effect: 'ask', tool: 'remove_note', because: 'notes have no versions' },
        ],
      },
    ],
    tickets: { key: readFileSync(join(folder, 'key')), folder: join(folder, 'tickets') },
  })

/** What the scripted models do. The first call is allowed, the second denied, and somebody has to approve the third. */
export const WANTED = [
  { name: 'read_note', input: { path: 'notes/fruit' } },
  { name: 'read_note', input: { path: '/etc/shadow' } },
  { name: 'remove_note', input: { path: 'notes/fruit' } },
]
