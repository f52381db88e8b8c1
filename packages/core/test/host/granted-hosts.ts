// Runs with granted hosts and credentials through the local host, whose proxy serves several callers.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { echo, serverAuthority, startHttps } from '../egress/servers.js'
import type { Ran } from './front.js'
import { frontPlace, hostState } from './front.js'

const HOST = 'api.test'
const VALUE = 'value-of-a-credential-91cc4be7'
const place = frontPlace()

/** In the file of the other tests of the host: it is one process, and others stop it. */
export const testGrantedHosts = (): void => {
  describe('a run with granted hosts', tests)
}

const tests = (): void => {
  let server: Awaited<ReturnType<typeof startHttps>>
  let at = ''
  let way: readonly string[] = []
  beforeAll(async () => {
    server = await startHttps(echo, { host: HOST })
    at = `${HOST}:${String(server.port)}`
    const authority = join(place.folder, 'authority.pem')
    writeFileSync(authority, serverAuthority.certificate)
    writeFileSync(join(place.folder, 'token'), `${VALUE}\n`)
    mkdirSync(join(place.folder, 'policies'))
    writeFileSync(
      join(place.folder, 'policies/service.yaml'),
      `network: [ "${at}" ]\ncredentials:\n  - { id: token, inject: { host: "${at}", as: bearer }, placeholder: TOKEN }\n`,
    )
    way = ['run', '--resolve', `${HOST}=127.0.0.1`, '--upstream-ca', authority]
  })
  afterAll(() => server.close())

  /** The server is in this process. */
  const ran = (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> =>
    new Promise((resolve) => {
      const child = place.start(words, more)
      const texts = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const)
        child[name]?.setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
      child.once('close', (status) => {
        resolve({ status, ...texts })
      })
    })
  const served = async (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> => {
    const before = hostState()?.served ?? 0
    const result = await ran(words, more)
    expect((hostState()?.served ?? 0) - before).toBe(1)
    return result
  }

  test('reaches a granted host, and no other', async () => {
    const before = server.connections()
    const reached = await served([...way, '--net', at, '--', 'curl', '-sSf', `https://${at}/x`])
    expect(reached).toMatchObject({ status: 0, stderr: '' })
    expect(server.connections()).toBe(before + 1)
    const refused = await served([...way, '--net', 'other.test', '--', 'curl', '-sSf', `https://${at}/x`])
    expect(refused.status).not.toBe(0)
    expect(server.connections()).toBe(before + 1)
  })

  test('many at once reach only their own hosts', async () => {
    const runs = Array.from({ length: 8 }, (_, index) =>
      ran([
        ...way,
        '--net',
        index % 2 === 0 ? at : 'other.test',
        '--',
        'curl',
        '-sSf',
        '-o',
        '/dev/null',
        `https://${at}/`,
      ]),
    )
    const statuses = (await Promise.all(runs)).map(({ status }) => status === 0)
    expect(statuses).toEqual([true, false, true, false, true, false, true, false])
  })

  test('gets a credential that the command never has', async () => {
    const words = [...way, '--policy', './policies/service.yaml', '--secret', 'token=file:./token']
    const program = ['--', 'sh', '-c', `env; curl -sS https://${at}/`]
    const { status, stdout } = await served([...words, ...program])
    expect(status).toBe(0)
    expect(stdout).toContain('TOKEN=')
    expect(stdout).toMatch(/authorization/i)
    expect(stdout).not.toContain(VALUE)
  })

  test('has the value of its own caller, and goes another way for what another process must ask for', async () => {
    const words = [...way, '--policy', './policies/service.yaml', '--', 'curl', '-sS', `https://${at}/`]
    const own = (secret: string) => [...way, '--secret', `token=${secret}`, ...words.slice(way.length)]
    const missing = await served(own('env:NO_SUCH_VARIABLE'))
    expect(missing.status).toBe(125)
    expect((await served(own('env:OWN'), { OWN: VALUE })).status).toBe(0)
    const before = hostState()?.served
    expect((await ran(own(`command:printf ${VALUE}`))).status).toBe(0)
    expect(
      (await ran([...way, '--net', at, '--', 'curl', '-sSf', `https://${at}/`], { NODE_EXTRA_CA_CERTS: '/no' })).status,
    ).toBe(0)
    expect(hostState()?.served).toBe(before)
  })
}
