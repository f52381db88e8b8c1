// A server on stdio ends by itself when its client is gone: an open runtime does not keep it.
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { expect, onTestFinished, test } from 'vitest'

import { REPOSITORY } from '../../../../test/repository.js'
import { folderWith } from '../mcp/gateway.js'

const SERVER = join(REPOSITORY, 'examples/mcp-server/server.mjs')

test('a server with sandboxed tools ends when its input ends', async () => {
  const cwd = folderWith({ 'notes/today.txt': 'Buy milk.' })
  const server = spawn(process.execPath, [SERVER], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void server.kill('SIGKILL'))
  const ended = once(server, 'exit')
  const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'test', version: '1' }
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/call', params: { name: 'read_note', arguments: { path: 'notes/today.txt' } } })
  for await (const line of createInterface({ input: server.stdout }))
    if (line.includes('"id":2')) {
      expect(line).toContain('Buy milk.')
      server.stdin.end()
    }
  expect(await ended).toEqual([0, null])
})
