// Sockets of container engines. A server here plays an engine only where no real one would answer like that.
import { chownSync, linkSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { createServer as createRawServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

import { engineFix } from '../../src/diagnosis/container-engine.js'
import { openEngine } from '../../src/sandbox/container/engine.js'
import { findEngine, trySockets } from '../../src/sandbox/container/find-engine.js'

const folder = mkdtempSync(join(tmpdir(), 'cordon-engines-'))
const servers: Server[] = []

const digest = (digit: string): string => `sha256:${digit.repeat(64)}`
const [WANTED, OTHER] = [digest('a'), digest('b')]

const listen = async (name: string, image: object = {}): Promise<string> => {
  const answers: readonly (readonly [string, object])[] = [
    ['/version', { Version: '1.2.3', Components: [] }],
    ['/info', { MemoryLimit: true, PidsLimit: true, SecurityOptions: ['name=rootless'] }],
    ['/images/', image],
  ]
  const server = createServer(({ url = '' }, response) => {
    const found = answers.find(([path]) => url.includes(path))
    response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found?.[1] ?? {}))
  })
  const socket = join(folder, name)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return socket
}

/** Its engine was stopped, and the file of the socket stayed. */
const staleSocket = async (name: string): Promise<string> => {
  const server = servers[servers.push(createServer()) - 1]
  const socket = join(folder, name)
  await new Promise<void>((resolve) => server?.listen(`${socket}.first`, resolve))
  linkSync(`${socket}.first`, socket)
  await new Promise((resolve) => server?.close(resolve))
  return socket
}

afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})

describe('the sockets of engines', () => {
  test('a socket that refuses connections is passed over, and the next one is used', async () => {
    const [stale, alive] = [await staleSocket('stale.sock'), await listen('alive.sock')]
    expect(await trySockets([stale, alive])).toMatchObject({
      found: { socket: alive, name: 'docker', version: '1.2.3', isRootless: true, limitsMemory: true },
      silent: [{ socket: stale, problem: expect.stringContaining('ECONNREFUSED') as string }],
    })
    expect(await trySockets([alive, stale])).toMatchObject({ found: { socket: alive }, silent: [] })
  })

  /** What no engine would answer. */
  const answering = async (name: string, answer: string): Promise<string> => {
    const server = createRawServer((client) => {
      client.on('error', () => undefined)
      client.once('data', () => client.end(answer))
    })
    const socket = join(folder, name)
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    onTestFinished(() => {
      server.close()
    })
    return socket
  }

  test.each([
    ['with an error', '403', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', 'HTTP status 403'],
    [
      'with another protocol',
      '101',
      'HTTP/1.1 101 Other\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n',
      'HTTP status 101',
    ],
    ['and breaks off', 'cut', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{', 'aborted'],
  ])('an engine that answers %s is not replaced by the next one', async (_, name, answer, problem) => {
    const [refusing, alive] = [await answering(`${name}.sock`, answer), await listen(`after-${name}.sock`)]
    await expect(findEngine([refusing, alive])).rejects.toMatchObject({
      code: 'container-engine-unreachable',
      params: { socket: refusing, problem },
    })
    expect(await findEngine([alive, refusing])).toMatchObject({ socket: alive })
  })

  test('if none answers, the error names all of them', async () => {
    const sockets = [await staleSocket('one.sock'), await staleSocket('two.sock')]
    await expect(findEngine(sockets)).rejects.toMatchObject({
      code: 'container-engine-unreachable',
      params: { socket: sockets.join(', '), problem: expect.stringContaining('ECONNREFUSED') as string },
    })
    const missing = join(folder, 'none.sock')
    await expect(findEngine([missing])).rejects.toMatchObject({ code: 'container-engine-missing' })
    expect(await trySockets([missing])).toEqual({ found: undefined, silent: [] })
  })

  test.runIf(process.getuid?.() === 0)('one of another user is passed over, and one of this user is used', async () => {
    const [foreign, own] = [await listen('foreign.sock'), await listen('own.sock')]
    chownSync(foreign, 12_345, 12_345)
    expect(await trySockets([foreign, own])).toMatchObject({
      found: { socket: own },
      silent: [{ socket: foreign, problem: expect.stringContaining('belongs to the user 12345') as string }],
    })
    await expect(findEngine([foreign])).rejects.toMatchObject({ code: 'container-engine-unreachable' })
  })

  test.each([
    ['podman of a user', [{ socket: '/run/user/1/podman/podman.sock', problem: 'ECONNREFUSED' }], 1],
    ['nothing, for a user', [], 1],
  ])('the fix for %s starts the socket of this user', (_, silent, uid) => {
    expect(engineFix(silent, {}, uid)).toMatch(/^systemctl --user start podman\.socket/)
  })

  test('the fix follows the socket, the user and DOCKER_HOST', () => {
    expect(engineFix([], {}, 0)).toMatch(/^systemctl start podman\.socket/)
    expect(engineFix([], {}, 1)).toContain('podman system service --time=0 unix:///PATH')
    const docker = { socket: '/var/run/docker.sock', problem: 'connect ECONNREFUSED' }
    expect(engineFix([docker], {}, 1)).toBe('systemctl start docker')
    expect(engineFix([{ ...docker, problem: 'connect EACCES' }], {}, 1)).toContain('may not open /var/run/docker.sock')
    expect(engineFix([], { DOCKER_HOST: 'tcp://10.0.0.1:1' }, 1)).toMatch(/^export DOCKER_HOST=unix:/)
    expect(engineFix([], { DOCKER_HOST: 'unix:///x' }, 1)).toContain('unset DOCKER_HOST')
    const closed = [{ socket: '/x', problem: 'connect EACCES /x' }]
    expect(engineFix(closed, { DOCKER_HOST: 'unix:///x' }, 1)).toContain('this user may not open /x')
  })
})

describe('an image by its digest', () => {
  const imageFrom = async (name: string, answer: object, given = 'tools') =>
    (await openEngine([await listen(name, answer)])).image(`${given}@${WANTED}`)

  test('is refused if the engine has another one', async () => {
    const other = imageFrom('other.sock', { Id: OTHER, RepoDigests: [`tools@${OTHER}`], Config: {} })
    await expect(other).rejects.toMatchObject({ code: 'image-not-the-digest', params: { found: OTHER } })
    await expect(imageFrom('without.sock', { Config: {} })).rejects.toMatchObject({ code: 'image-not-the-digest' })
  })

  test('is taken if the engine knows it by this digest', async () => {
    const known = imageFrom('known.sock', { Id: OTHER, RepoDigests: [`tools@${WANTED}`], Config: {} })
    expect(await known).toMatchObject({ digest: OTHER })
  })

  test.each([
    ['docker.io/library/tools', 'localhost/tools'],
    ['docker.io/library/tools', 'docker.io/library/tools-2'],
    ['tools', 'registry.example/tools'],
    ['registry.example/tools', 'tools'],
  ])('is refused by the name %s if the engine knows it as %s', async (given, known) => {
    const named = imageFrom(`not-${given}-${known}`.replaceAll('/', '-'), aliased(known), given)
    await expect(named).rejects.toMatchObject({ code: 'image-not-the-digest' })
  })

  test.each([
    ['docker.io/library/tools', 'docker.io/library/tools'],
    ['docker.io/library/tools:1', 'tools'],
    ['tools', 'docker.io/library/tools'],
    ['tools:1', 'localhost/tools'],
    ['registry.example:5000/tools:1', 'registry.example:5000/tools'],
  ])('is taken by the name %s if the engine knows it as %s', async (given, known) => {
    const named = imageFrom(`as-${given}-${known}`.replaceAll('/', '-'), aliased(known), given)
    expect(await named).toMatchObject({ digest: OTHER })
  })

  const aliased = (name: string) => ({ Id: OTHER, RepoDigests: [`${name}@${WANTED}`], Config: {} })
})
