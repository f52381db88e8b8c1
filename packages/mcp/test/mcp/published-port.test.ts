// A server that serves HTTP inside its cell: the gateway reaches it, and nobody else.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { describe, expect, test } from 'vitest'

import { REPOSITORY } from '../../../../test/repository.js'
import { IN_MATRIX } from '../../../../test/turns.js'
import { CORDON, GATEWAY_ENVIRONMENT, folderWith, openGateway, openProgram, serverScript, textOf } from './gateway.js'
import type { Opened } from './gateway.js'
import { isConnectedToItself } from '../../src/bridge/published-server.js'

const CONFORMANCE = fileURLToPath(new URL('conformance-server.mjs', import.meta.url))
const PORT = 47_311

const workspace = (files: Readonly<Record<string, string>> = {}): string =>
  folderWith({ 'tools.yaml': '"*": server\n', ...files })

const publishing = (words: readonly string[], command: readonly string[], cwd = workspace()): Promise<Opened> =>
  openGateway(cwd, ['--tools', 'tools.yaml', ...words, '--', ...command])

const failureOf = (opened: Promise<Opened>): Promise<string> =>
  opened.then(
    () => 'started',
    (error: unknown) => String(error),
  )

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => {
      resolve(false)
    })
  })

describe('a published server over HTTP', () => {
  test('is served to the client, with progress, and its session is ended', async () => {
    const { client, stderr } = await publishing(
      ['--env', `PORT=${PORT}`, '--publish', `${PORT}/mcp`],
      ['node', serverScript('everything'), 'streamableHttp'],
    )
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'hi' } }))).toBe('Echo: hi')
    const steps: number[] = []
    const long = { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 2 } }
    await client.callTool(long, undefined, { onprogress: ({ progress }) => steps.push(progress) })
    // A client forgets progress that it reads together with the answer.
    expect(steps[0]).toBe(1)
    await client.close()
    expect(stderr()).toContain('Received session termination request')
  })

  test('is reached by nobody else: neither from the host nor from another cell', async () => {
    const { client } = await publishing(['--publish', `${PORT + 1}`], ['node', CONFORMANCE, 'http', `${PORT + 1}`])
    expect(await canConnect(PORT + 1)).toBe(false)
    const script =
      `require('node:net').connect(${PORT + 1}, '127.0.0.1')` +
      `.on('connect', () => console.log('reached')).on('error', ({ code }) => console.log(code))`
    const other = spawnSync(process.execPath, [CORDON, 'run', '--', process.execPath, '-e', script], {
      env: GATEWAY_ENVIRONMENT,
      cwd: workspace(),
      encoding: 'utf8',
    })
    expect(other.stdout).toBe('ECONNREFUSED\n')
    expect(textOf(await client.callTool({ name: 'test_simple_text', arguments: {} }))).toContain('simple text')
  })

  test('may listen on the loopback of IPv6 alone', IN_MATRIX, async () => {
    const server = fileURLToPath(new URL('hostile-http-server.mjs', import.meta.url))
    const { client } = await publishing(['--publish', `${PORT + 4}`], ['node', server, `${PORT + 4}`, '::1'])
    expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'hi' } }))).toBe('hi')
  })

  test('may be named in mcp.yaml', async () => {
    const settings = { '.config/cordon/mcp.yaml': `servers: { mine: { publish: ${PORT + 2}/mcp } }\n` }
    const cwd = workspace(settings)
    const command = ['mcp', '--tools', 'tools.yaml', '--server', 'mine', '--read', `${fileURLToPath(ROOT)}**`, '--']
    const { client } = await openProgram(
      cwd,
      [process.execPath, CORDON, ...command, 'node', CONFORMANCE, 'http', `${PORT + 2}`],
      {},
      undefined,
      { XDG_CONFIG_HOME: `${cwd}/.config` },
    )
    expect(textOf(await client.callTool({ name: 'test_simple_text', arguments: {} }))).toContain('simple text')
  })
})

const ROOT = pathToFileURL(`${REPOSITORY}/`)

describe('a connection to the port', () => {
  const connected = (options: { port: number; localPort?: number }): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', ...options })
      socket.on('error', reject).on('connect', () => {
        resolve(isConnectedToItself(socket))
        socket.destroy()
      })
    })

  test('that the kernel gave the same port, where nobody listens, does not count', async () => {
    expect(await connected({ port: PORT + 5, localPort: PORT + 5 })).toBe(true)
  })

  test('that a server accepted counts', async () => {
    const server = createServer().listen(PORT + 5, '127.0.0.1')
    await once(server, 'listening')
    expect(await connected({ port: PORT + 5 })).toBe(false)
    server.close()
  })
})

describe('a published server that cannot be used', () => {
  const script = (text: string) => workspace({ 'server.cjs': text })
  const run = (text: string, words: readonly string[] = []) => {
    const cwd = script(text)
    return failureOf(
      publishing(['--read', `${cwd}/server.cjs`, '--publish', `${PORT + 3}`, ...words], ['node', 'server.cjs'], cwd),
    )
  }

  test('because it ends is named with its status and its last words', async () => {
    const said = await run('console.log("no licence found"); process.exit(7)')
    expect(said).toContain('mcp-server-not-started')
    expect(said).toContain('exit 7')
    expect(said).toContain('no licence found')
  })

  test('because it lacks a file names the grant', async () => {
    const said = await run('require("node:fs").readFileSync(process.cwd() + "/tools.yaml")')
    expect(said).toMatch(/add --read \S+tools\.yaml/)
  })

  test('because it does not listen is named with the address', { ...IN_MATRIX, timeout: 60_000 }, async () => {
    const said = await run('setInterval(() => undefined, 1000)')
    expect(said).toContain(`the server does not listen at 127.0.0.1:${PORT + 3}`)
  })

  test.each([
    ['of the form landlock', ['--form', 'landlock'], 'landlock share the loopback'],
    ['with the whole network', ['--net', 'all'], 'the whole network shares the loopback'],
  ])('in a cell %s is refused', async (_, words, problem) => {
    const said = await run('setInterval(() => undefined, 1000)', words)
    expect(said).toContain('mcp-server-not-started')
    expect(said).toContain(problem)
  })

  test.each(['0', '70000', 'x', '3000mcp'])('at %j is refused as a port', async (port) => {
    expect(await failureOf(publishing(['--publish', port], ['true']))).toContain('is not a port with a path')
  })
})
