// A cell has its own /tmp, so what a server saves there is gone when it ends.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { HOSTILE, folderWith, openGateway } from './gateway.js'

test('a server that gets a path which its cell hides starts with a warning that names the path', async () => {
  const server = {
    command: 'node',
    args: [HOSTILE, '--file=/tmp/data/notes.db'],
    env: { MEMORY_FILE_PATH: './memory' },
  }
  const folder = folderWith({
    'tools.yaml': '"*": server\n',
    'mcp.json': JSON.stringify({ mcpServers: { m: server } }),
  })
  expect(folder.startsWith(tmpdir())).toBe(true)
  const words = ['--tools', 'tools.yaml', '--config', 'mcp.json']
  const hidden = await openGateway(folder, words)
  expect(hidden.stderr()).toContain('gets /tmp/data/notes.db (an argument), which its cell hides')
  // Only what exists can be granted.
  const memory = join(folder, 'memory')
  expect(hidden.stderr()).toContain(`run touch ${memory}, and add --write ${memory}`)
  expect(hidden.stderr()).toContain('run mkdir -p /tmp/data && touch /tmp/data/notes.db')
})

test('a server that gets a granted path starts without a warning', async () => {
  const folder = folderWith({ 'tools.yaml': '"*": server\n', 'data/notes.db': '' })
  const words = ['--tools', 'tools.yaml', '--write', 'data/**', '--', 'node', HOSTILE, join(folder, 'data/notes.db')]
  const { client, stderr } = await openGateway(folder, words)
  expect((await client.listTools()).tools).not.toEqual([])
  expect(stderr()).not.toContain('hides')
})
