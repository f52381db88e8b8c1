import { afterEach, describe, expect, test } from 'vitest'

import { curl } from './programs.js'
import { say } from './raw.js'
import { echo, startHttp, startHttps, startTcp } from './servers.js'
import type { TestServer } from './servers.js'
import { bearer, openStage } from './stage.js'
import type { Stage, StageOptions } from './stage.js'

let stage: Stage
let server: TestServer
afterEach(async () => {
  await stage.close()
  await server.close()
})

const set = async (network: (port: number) => unknown, options: Partial<StageOptions> = {}): Promise<string> => {
  server = await startHttps(echo)
  stage = await openStage({ network: network(server.port), here: ['api.test', 'other.test'], ...options })
  return `https://api.test:${server.port}`
}

const statusOf = async (...args: readonly string[]): Promise<string> =>
  (await curl(stage, '-o', '/dev/null', '-w', '%{http_code}', ...args)).output

describe('a request passes only if the policy allows it:', () => {
  test.each(['--http1.1', '--http2'])(
    'no body of a GET where only some methods or paths are granted (%s)',
    async (version) => {
      const sent = [version, '-X', 'GET', '-d', '_method=DELETE']
      for (const part of [{ methods: ['GET'] }, { paths: ['/**'] }]) {
        const url = await set((port) => [{ host: `api.test:${port}`, ...part }])
        expect(await statusOf(...sent, `${url}/a`)).toBe('403')
        expect(await statusOf(version, `${url}/a`)).toBe('200')
        expect(stage.violations()).toMatchObject([{ method: 'GET', reason: 'malformed' }])
        await stage.close()
        await server.close()
      }
      const reading = await set((port) => [`api.test:${port}`], { egressClass: 'read_only' })
      expect(await statusOf(...sent, `${reading}/a`)).toBe('403')
      await stage.close()
      await server.close()
      expect(await statusOf(...sent, `${await set((port) => [`api.test:${port}`])}/a`)).toBe('200')
    },
  )

  test('headers that are named like parts of every object pass like others (HTTP/2)', async () => {
    const url = await set((port) => [`api.test:${port}`])
    const { output } = await curl(stage, '--http2', '-H', 'constructor: one', '-H', '__proto__: two', `${url}/a`)
    expect(output).toContain('"constructor":"one"')
    expect(output).toContain('"__proto__":"two"')
  })

  test('methods', async () => {
    const url = await set((port) => [{ host: `api.test:${port}`, methods: ['GET', 'PUT'] }])
    expect(await statusOf(`${url}/a`)).toBe('200')
    expect(await statusOf('-X', 'PUT', '-d', 'x', `${url}/a`)).toBe('200')
    expect(await statusOf('-d', 'x', `${url}/a`)).toBe('403')
    for (const version of ['--http1.1', '--http2']) expect(await statusOf(version, '-X', 'get', `${url}/a`)).toBe('400')
    expect(stage.violations()[0]).toMatchObject({
      method: 'POST',
      path: '/a',
      reason: 'not-granted',
      allow: `network: [{ host: "api.test:${server.port}", methods: [POST], paths: ["/a"] }]`,
    })
  })

  test('paths, in every spelling', async () => {
    const url = await set((port) => [{ host: `api.test:${port}`, paths: ['/v1/**'] }])
    expect(await statusOf(`${url}/v1/a?x=../../y`)).toBe('200')
    for (const path of [
      '/v2',
      '/v1/../v2',
      '/v1/%2e%2e/v2',
      '/v1/..%0a/v2',
      '//v1/x',
      '/v1%2f..%2fv2',
      '/v1/..%2fv2',
      '/v1/%5c..',
      '/v1/..;/v2',
      '/v1/%2e%2e%3bx/v2',
      '/v1/%252e%252e/v2',
    ])
      expect(await statusOf('--path-as-is', `${url}${path}`), path).toBe('403')
    for (const path of ['/v1//x', '/v1/group%2Fname', '/v1/a;x=1/b', '/v1/a%3f'])
      expect(await statusOf('--path-as-is', `${url}${path}`), path).toBe('200')
    expect(await statusOf('-H', 'X-Original-URL: /v2', `${url}/v1/a`)).toBe('403')
    expect(await statusOf('--path-as-is', `${url}/v1;x/a`)).toBe('403')
    expect(stage.violations().at(-1)?.because).toBe(
      'servers read its path in more than one way, and not every reading is granted: /v1;x/a, /v1/a, /v1',
    )
  })

  test('paths in headers, in the spellings that servers accept', async () => {
    const url = await set((port) => [{ host: `api.test:${port}`, paths: ['/v1/**'] }])
    for (const version of ['--http1.1', '--http2']) {
      expect(await statusOf(version, '-H', 'X_Original_Urls: /v2', `${url}/v1/a`)).toBe('200')
      for (const name of [
        'X_Original_URL',
        'X.Original.URL',
        'X-Forwarded-Uri',
        'X_Forwarded_Uri',
        'X-Original-URI',
        'x_rewrite-url',
        'Destination',
        'X-Amz-Copy-Source',
      ])
        expect(await statusOf(version, '-H', `${name}: /v2`, `${url}/v1/a`), name).toBe('403')
    }
    expect(stage.violations()[0]).toMatchObject({
      reason: 'not-granted',
      because: expect.stringContaining('X_Original_URL') as string,
      allow: null,
    })
  })

  test('lengths under the name of another header, also in HTTP/2', async () => {
    const url = await set((port) => [`api.test:${port}`])
    for (const version of ['--http1.1', '--http2']) {
      expect(await statusOf(version, '-H', 'Content_Lengths: 1', `${url}/`)).toBe('200')
      for (const name of ['Content_Length', 'Transfer_Encoding', 'transfer.encoding'])
        expect(await statusOf(version, '-H', `${name}: 1`, `${url}/`), name).toBe('400')
    }
    expect(stage.violations().map(({ reason }) => reason)).toEqual(Array.from({ length: 6 }, () => 'malformed'))
  })

  test('methods in headers and in the query, in the spellings that servers accept', async () => {
    const url = await set((port) => [{ host: `api.test:${port}`, methods: ['GET', 'POST'] }])
    for (const version of ['--http1.1', '--http2']) {
      for (const name of [
        'X-HTTP-Method-Override',
        'X_HTTP_Method_Override',
        'X.HTTP.Method',
        'x_http-method',
        'X_Method_Override',
        'X-Forwarded-Method',
        'X-Tunneled-Method',
        'X-HTTP-Verb',
        'HttpMethod',
      ]) {
        expect(await statusOf(version, '-H', `${name}: post`, `${url}/a`), name).toBe('200')
        expect(await statusOf(version, '-H', `${name}: DELETE`, `${url}/a`), name).toBe('403')
        expect(await statusOf(version, '-H', `${name}: GET, delete`, `${url}/a`), name).toBe('403')
      }
      // Each is judged by itself: so many are none.
      expect(
        await statusOf(version, `${url}/a?_method=${Array.from({ length: 5_000 }, (_, at) => `M${at}`).join()}`),
      ).toBe('403')
      expect(await statusOf(version, '-d', 'x', `${url}/a?_method=post&b`)).toBe('200')
      for (const query of [
        'b&_meth%6fd=delete',
        'a=1;_method=DELETE',
        '_method[]=DELETE',
        '_METHOD=delete',
        'X-HTTP-Method-Override=DELETE',
        '_HttpMethod=DELETE',
        '%5fhttpmethod=delete',
        'httpMethod=DELETE',
        'http_method=DELETE',
        '$method=DELETE',
        'method=DELETE',
        '_verb=DELETE',
        'x-tunneled-method=DELETE',
      ])
        expect(await statusOf(version, '-g', '-d', 'x', `${url}/a?${query}`), query).toBe('403')
      expect(await statusOf(version, '-g', '-d', 'x', `${url}/a?a=_method;b=DELETE`)).toBe('200')
      for (const query of ['method=flickr.photos.search', 'payment_method=delete', 'verb=be'])
        expect(await statusOf(version, '-d', 'x', `${url}/a?${query}`), query).toBe('200')
    }
  })

  test('a denial wins over a grant', async () => {
    const url = await set((port) => [
      `api.test:${port}`,
      { host: `api.test:${port}`, paths: ['/admin'], action: 'deny' },
    ])
    expect(await statusOf(`${url}/a`)).toBe('200')
    expect(await statusOf(`${url}/admin/x`)).toBe('403')
    for (const path of [
      '/x/../admin',
      '/admin;x=1/users',
      '/admin;/users',
      '/admin%3bx/users',
      '/x//..%2fadmin',
      '/ADMIN/x',
      '/admin.%20/x',
    ])
      expect(await statusOf('--path-as-is', `${url}${path}`), path).toBe('403')
    for (const path of ['/admins;x=1/users', '/x%3badmin/users', '/x//admin'])
      expect(await statusOf('--path-as-is', `${url}${path}`), path).toBe('200')
    expect(stage.violations()[0]).toMatchObject({ reason: 'denied', allow: null })
  })

  test('a host that is denied as a whole is reported as such, without a useless suggestion', async () => {
    const url = await set((port) => [`*.test:${port}`, { host: 'other.test', action: 'deny' }])
    expect(await statusOf(url)).toBe('200')
    expect((await curl(stage, `https://other.test:${server.port}/`)).errors).toContain('403')
    expect((await curl(stage, 'https://elsewhere.example/')).errors).toContain('403')
    expect(stage.violations()).toMatchObject([
      { host: 'other.test', reason: 'denied', because: 'an entry of the policy denies it: other.test', allow: null },
      { host: 'elsewhere.example', reason: 'not-granted', allow: 'network: ["elsewhere.example"]' },
    ])
  })

  test('read_only allows only GET, HEAD and OPTIONS, also in HTTP/2, and no way around that', async () => {
    const url = await set((port) => [`api.test:${port}`], { egressClass: 'read_only' })
    for (const version of ['--http1.1', '--http2']) {
      expect(await statusOf(version, `${url}/`)).toBe('200')
      expect(await statusOf(version, '-I', `${url}/`)).toBe('200')
      expect(await statusOf(version, '-X', 'OPTIONS', `${url}/`)).toBe('200')
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])
        expect(await statusOf(version, '-X', method, `${url}/`), method).toBe('403')
      expect(await statusOf(version, '-H', 'X-HTTP-Method-Override: DELETE', `${url}/`)).toBe('403')
    }
    expect(stage.violations()[0]).toMatchObject({ reason: 'read-only', allow: 'egress_class: write' })
  })

  test('a call of the class write without approval only reads', async () => {
    const url = await set((port) => [`api.test:${port}`], { writeApproval: 'none' })
    expect(await statusOf(`${url}/`)).toBe('200')
    expect(await statusOf('-d', 'x', `${url}/`)).toBe('403')
    expect(stage.violations()[0]).toMatchObject({ reason: 'unapproved' })
  })

  test('the class none reaches nothing', async () => {
    const url = await set(() => 'none')
    expect((await curl(stage, url)).errors).toContain('403')
    expect(server.connections()).toBe(0)
  })

  test('another port of a granted host is another destination', async () => {
    await set((port) => [`api.test:${port}`])
    const other = await startHttps(echo)
    expect((await curl(stage, `https://api.test:${other.port}/`)).errors).toContain('403')
    expect(other.connections()).toBe(0)
    await other.close()
  })

  test('plain HTTP is judged like HTTPS', async () => {
    server = await startHttp(echo)
    stage = await openStage({ network: [{ host: `api.test:${server.port}`, methods: ['GET'] }], here: ['api.test'] })
    const url = `http://api.test:${server.port}`
    for (const way of [[], ['--proxytunnel']]) {
      expect(await statusOf(...way, `${url}/a`)).toBe('200')
      expect(await statusOf(...way, '-d', 'x', `${url}/a`)).toBe('403')
    }
  })
})

describe('a direct connection', () => {
  test('is not inspected: the program sees the certificate of the server', async () => {
    server = await startHttps(echo)
    stage = await openStage({ network: [{ host: `api.test:${server.port}`, action: 'direct' }], here: ['api.test'] })
    expect((await curl(stage, `https://api.test:${server.port}/`)).errors).toContain('certificate')
    expect((await curl(stage, '-k', `https://api.test:${server.port}/`)).output).toContain('"method":"GET"')
    expect(stage.events.some(({ type }) => type === 'egress.request')).toBe(false)
    expect(stage.events.find(({ type }) => type === 'egress.closed')).toMatchObject({
      bytes_sent: expect.any(Number) as number,
    })
  })

  test('must name its host in TLS', async () => {
    server = await startHttps(echo)
    stage = await openStage({
      network: [{ host: `api.test:${server.port}`, action: 'direct' }],
      here: ['api.test', 'other.test'],
    })
    const connectTo = ['--connect-to', `other.test:${server.port}:api.test:${server.port}`]
    const { status } = await curl(stage, '-k', ...connectTo, `https://other.test:${server.port}/`)
    expect(status).not.toBe(0)
    expect(stage.violations()).toEqual([expect.objectContaining({ reason: 'mismatch' })])
  })
})

describe('a protocol other than HTTP', () => {
  const greet = (first: boolean) =>
    startTcp((socket) => {
      if (first) socket.write('SSH-2.0-server\r\n')
      socket.on('data', (chunk: Buffer) => socket.write(`heard ${chunk.toString()}`))
      socket.on('end', () => socket.end())
    })
  test.each([
    ['the server', true],
    ['the tool', false],
  ])('passes on a port that is granted by its number, if %s speaks first', async (_, first) => {
    server = await greet(first)
    stage = await openStage({ network: [`db.test:${server.port}`], here: ['db.test'] })
    const answer = await say(await stage.portTo('db.test', server.port), first ? '' : 'SSH-2.0-tool\r\n')
    expect(answer).toContain(first ? 'SSH-2.0-server' : 'heard SSH-2.0-tool')
  })

  test.each([
    ['methods are restricted', { methods: ['GET'] }, {}],
    ['paths are restricted', { paths: ['/**'] }, {}],
    ['only reading is granted', {}, { egressClass: 'read_only' }],
  ])('does not pass where %s', async (_, entry, options) => {
    server = await greet(true)
    stage = await openStage({ network: [{ host: `db.test:${server.port}`, ...entry }], here: ['db.test'], ...options })
    expect(await say(await stage.portTo('db.test', server.port), 'SSH-2.0-tool\r\n')).toBe('')
    expect(server.connections()).toBe(0)
    expect(stage.violations()).toEqual([expect.objectContaining({ reason: 'protocol' })])
  })

  test('does not pass to a host with a credential', async () => {
    server = await greet(true)
    stage = await openStage({
      network: [`db.test:${server.port}`],
      here: ['db.test'],
      credentials: [bearer('token', `db.test:${server.port}`)],
      secrets: { token: 'value-of-token' },
    })
    expect(await say(await stage.portTo('db.test', server.port), 'SSH-2.0-tool\r\n')).toBe('')
    expect(server.connections()).toBe(0)
  })

  test('does not pass over web ports to a host that is granted without a port', async () => {
    server = await greet(true)
    stage = await openStage({ network: ['db.test'], here: ['db.test'] })
    expect(await say(await stage.portTo('db.test', 443), 'SSH-2.0-tool\r\n')).toBe('')
    expect(stage.violations()).toEqual([
      expect.objectContaining({ reason: 'protocol', allow: 'network: ["db.test:443"]' }),
    ])
  })
})
