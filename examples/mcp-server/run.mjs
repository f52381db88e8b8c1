// Uses a server with sandboxed tools, with a bare client and behind Cordon. See README.md.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const HERE = dirname(fileURLToPath(import.meta.url))
const ROOT = join(HERE, '..', '..')
const SERVER = [process.execPath, join(HERE, 'server.mjs')]
// The server runs from this checkout, so its cell needs it. An installed server needs its node_modules.
const CORDON = [
  process.execPath,
  join(ROOT, 'packages', 'core', 'bin', 'cordon.js'),
  'mcp',
  '--server',
  'notes',
  '--read',
  `${ROOT}/**`,
  '--',
]

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-example-')))
const project = join(folder, 'project')
const config = join(folder, 'config')
for (const each of ['notes', 'drafts']) mkdirSync(join(project, each), { recursive: true })
mkdirSync(join(config, 'cordon'), { recursive: true })
writeFileSync(join(project, 'notes', 'today.txt'), 'Buy milk.\n')
writeFileSync(join(project, 'key.txt'), 'a secret\n')
copyFileSync(join(HERE, 'mcp.yaml'), join(config, 'cordon', 'mcp.yaml'))

const draft = join(project, 'drafts', 'draft.txt')
const stolen = join(project, 'drafts', 'stolen.txt')

/** What is called, and what must come of it. */
const STEPS = [
  { name: 'read_note', arguments: { path: 'notes/today.txt' }, answer: 'done' },
  { name: 'read_note', arguments: { path: 'key.txt' }, answer: 'refused' },
  { name: 'count_lines', arguments: {}, answer: 'done' },
  {
    name: 'save_draft',
    arguments: { text: 'a draft' },
    answer: 'done',
    holds: () => readFileSync(draft, 'utf8') === 'a draft',
  },
  { name: 'summarize', arguments: {}, answer: 'refused', holds: () => !existsSync(stolen) },
]

let wrong = 0
const use = async (title, [command, ...args]) => {
  const client = new Client({ name: 'example', version: '1' })
  const env = { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: config, XDG_STATE_HOME: join(folder, 'state') }
  await client.connect(new StdioClientTransport({ command, args, cwd: project, env, stderr: 'ignore' }))
  try {
    for (const { answer, holds = () => true, ...call } of STEPS) {
      const result = await client.callTool(call)
      const given = result.isError === true ? 'refused' : 'done'
      const isRight = given === answer && holds()
      if (!isRight) wrong += 1
      console.log(
        `${title}, ${isRight ? 'as expected' : 'WRONG'}: ${call.name} was ${given}: ${result.content[0]?.text.trim()}`,
      )
    }
  } finally {
    await client.close()
  }
}

try {
  await use('bare', SERVER)
  rmSync(draft, { force: true })
  await use('behind cordon mcp', [...CORDON, ...SERVER])
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(wrong === 0 ? 'No tool went beyond its policy.' : `${wrong} answers were wrong.`)
process.exitCode = wrong === 0 ? 0 : 1
