import { afterEach, describe, expect, test } from 'vitest'

import { curl, curlThere } from './programs.js'
import { echo, startHttps } from './servers.js'
import type { TestServer } from './servers.js'
import { bearer, openStage } from './stage.js'
import type { Stage } from './stage.js'

let stage: Stage | undefined
let server: TestServer | undefined
afterEach(async () => {
  await stage?.close()
  await server?.close()
})

describe('curl reaches a granted host through the proxy', () => {
  test.each([
    ['--http1.1', '1.1'],
    ['--http2', '2.0'],
  ])('with %s, and the server sees the credential that curl does not have', async (version, seen) => {
    server = await startHttps(echo)
    stage = await openStage({
      network: [`api.test:${server.port}`],
      here: ['api.test'],
      credentials: [bearer('token', `api.test:${server.port}`)],
      secrets: { token: 'value-of-the-token' },
    })
    const { output, errors, status } = await curl(stage, version, `https://api.test:${server.port}/a?b=c`)
    expect([status, errors]).toEqual([0, ''])
    const said = JSON.parse(output) as { headers: Record<string, string>; url: string; httpVersion: string }
    expect(said.url).toBe('/a?b=c')
    expect(said.httpVersion).toBe(seen)
    expect(said.headers['authorization']).toBe(`Bearer ${'*'.repeat(18)}`)
    expect(stage.events).toContainEqual(
      expect.objectContaining({
        type: 'egress.request',
        host: 'api.test',
        port: server.port,
        method: 'GET',
        path: '/a',
        status: 200,
        rule: `api.test:${server.port}`,
        credentials: ['token'],
        redactions: 1,
      }),
    )
  })

  test('without any setting, on the connection of a broker', async () => {
    server = await startHttps(echo)
    stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
    const { output, errors } = await curlThere(stage, 'api.test', server.port, `https://api.test:${server.port}/a`)
    expect(errors).toBe('')
    expect(JSON.parse(output)).toMatchObject({ url: '/a' })
  })
})

describe('curl does not reach', () => {
  test('a host without a grant, and the record says what would allow it', async () => {
    server = await startHttps(echo)
    stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test', 'other.test'] })
    const { status, errors } = await curl(stage, `https://other.test:${server.port}/`)
    expect(status).not.toBe(0)
    expect(errors).toContain('403')
    expect(stage.violations()).toEqual([
      expect.objectContaining({
        kind: 'egress',
        host: 'other.test',
        port: server.port,
        reason: 'not-granted',
        allow: `network: ["other.test:${server.port}"]`,
      }),
    ])
    expect(server.connections()).toBe(0)
  })
})
