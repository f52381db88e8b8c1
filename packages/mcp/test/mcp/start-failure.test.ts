// A server that cannot start says what it lacked, and the option and the line of mcp.yaml that would grant it.
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { folderWith, openGateway } from './gateway.js'
import { serverSource } from './local-registry.js'

/** `before`: what the server does first. `SERVER` in it stands for the server itself, if it waits for something. */
const failing = async (before: string, options: readonly string[] = []) => {
  const waiting = before.split('SERVER')
  const source =
    waiting.length === 1
      ? serverSource('"started"', before)
      : waiting.join(serverSource('"started"').replace(/^#!.*/, ''))
  const folder = folderWith({ 'server.cjs': source, 'secret/key.txt': 'key' })
  const words = ['--read', join(folder, 'server.cjs'), ...options.map((word) => word.replace('FOLDER', folder))]
  const opened = openGateway(folder, [...words, '--server', 'mine', '--', 'node', 'server.cjs'])
  const stderr = await opened.then(
    () => 'started',
    (error: unknown) => String(error),
  )
  return { stderr, folder }
}

describe('a server that cannot start', () => {
  test('for want of a file names the file, the option and the line', async () => {
    const read = 'require("node:fs").readFileSync(process.cwd() + "/secret/key.txt")'
    const { stderr, folder } = await failing(read)
    expect(stderr).toContain('mcp-server-not-started')
    expect(stderr).toContain('it ended before it answered (exit 1)')
    expect(stderr).toContain('ENOENT')
    expect(stderr).toContain(`add --read ${folder}/secret/key.txt`)
    expect(stderr).toContain("servers: { mine: { policy: { filesystem: { read: ['secret/key.txt'] } } } }")
    expect((await failing(read, ['--read', 'FOLDER/secret/key.txt'])).stderr).toBe('started')
  })

  test.each([
    ['with no host granted', []],
    ['with another host granted', ['--net', 'other.example']],
  ])('for want of a host names the host, the option and the line (%s)', async (_, options) => {
    const look = 'require("node:dns").lookup("api.example.org", (error) => { if (error) throw error\nSERVER })'
    const { stderr } = await failing(look, options)
    expect(stderr).toContain('add --net api.example.org')
    expect(stderr).toContain("servers: { mine: { policy: { network: ['api.example.org'] } } }")
    expect((await failing(look, ['--net', 'api.example.org'])).stderr).toBe('started')
  })

  test('for its own reasons gets no advice about grants', async () => {
    const { stderr } = await failing('throw new Error("my own fault")')
    expect(stderr).toContain('Error: my own fault')
    expect(stderr).not.toMatch(/add --/)
  })
})
