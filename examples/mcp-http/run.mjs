// A scripted model uses an MCP server that serves HTTP inside its cell. See README.md.
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const HERE = dirname(fileURLToPath(import.meta.url))
const ROOT = join(HERE, '..', '..')
const PORT = 3040

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-example-')))
const project = join(folder, 'project')
const config = join(folder, 'config')
mkdirSync(join(project, 'notes'), { recursive: true })
mkdirSync(join(config, 'cordon'), { recursive: true })
writeFileSync(join(project, 'notes', 'today.txt'), 'Buy milk.\n')
writeFileSync(join(project, 'key.txt'), 'a secret\n')
copyFileSync(join(HERE, 'mcp.yaml'), join(config, 'cordon', 'mcp.yaml'))

const transport = new StdioClientTransport({
  command: process.execPath,
  args: [
    ...[
      join(ROOT, 'packages', 'core', 'bin', 'cordon.js'),
      'mcp',
      '--server',
      'notes',
      '--read',
      `${ROOT}/node_modules/**`,
    ],
    ...['--read', join(HERE, 'server.mjs'), '--', process.execPath, join(HERE, 'server.mjs'), String(PORT)],
  ],
  cwd: project,
  env: { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: config, XDG_STATE_HOME: join(folder, 'state') },
  stderr: 'inherit',
})
const client = new Client({ name: 'scripted-model', version: '1' })

let wrong = 0
const check = (what, given, expected) => {
  if (given !== expected) wrong += 1
  console.log(`${given === expected ? 'as expected' : 'WRONG'}: ${what}: ${given}`)
}
const reading = async (path) => {
  const { _meta, content } = await client.callTool({ name: 'read_note', arguments: { path } })
  return _meta?.['cordon/status'] === undefined ? content[0].text.trim() : 'refused'
}
const fromOutside = () =>
  new Promise((resolve) => {
    const socket = connect(PORT, '127.0.0.1')
    socket.on('connect', () => resolve('reached')).on('error', ({ code }) => resolve(code))
  })

try {
  await client.connect(transport)
  check('the note', await reading(join(project, 'notes', 'today.txt')), 'Buy milk.')
  check('the key', await reading(join(project, 'key.txt')), 'refused')
  check('the port from outside of the cell', await fromOutside(), 'ECONNREFUSED')
} finally {
  await client.close()
  rmSync(folder, { recursive: true, force: true })
}
console.log(wrong === 0 ? 'Only the gateway reached the server.' : `${wrong} answers were wrong.`)
process.exitCode = wrong === 0 ? 0 : 1
