// The connection, its TLS and its requests must name one host. Otherwise the proxy passes nothing on.
import { connect } from 'node:http2'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { curl } from './programs.js'
import { heard, openTls, say, sayTls } from './raw.js'
import { echo, startHttp, startHttps } from './servers.js'
import type { TestServer } from './servers.js'
import { openStage } from './stage.js'
import type { Stage } from './stage.js'

let stage: Stage
let server: TestServer
let plain: TestServer
let there: { host: string; port: number }
beforeEach(async () => {
  server = await startHttps(echo)
  plain = await startHttp(echo)
  stage = await openStage({
    network: [`api.test:${server.port}`, `api.test:${plain.port}`],
    here: ['api.test', 'other.test'],
  })
  there = { host: 'api.test', port: server.port }
})
afterEach(async () => {
  await stage.close()
  await server.close()
  await plain.close()
})

const get = (host: string, target = '/') => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`

describe('one host', () => {
  test('passes if connection, TLS and request agree, in any usual spelling', async () => {
    for (const host of [`api.test:${there.port}`, `API.test:${there.port}`, `api.test.:${there.port}`]) {
      expect(await sayTls(stage, there, get(host)), host).toContain('HTTP/1.1 200')
    }
    expect(await sayTls(stage, there, get(`api.test:${there.port}`, `https://api.test:${there.port}/x`))).toContain(
      '"url":"/x"',
    )
    expect(await sayTls(stage, { ...there, serverName: '' }, get(`api.test:${there.port}`))).toContain('HTTP/1.1 200')
  })

  test('reaches the server in one spelling', async () => {
    expect(await sayTls(stage, there, get(`API.test.:${there.port}`))).toContain(`"host":"api.test:${there.port}"`)
  })
})

describe('another host in', () => {
  test('TLS is refused', async () => {
    await expect(sayTls(stage, { ...there, serverName: 'other.test' }, get(`api.test:${there.port}`))).rejects.toThrow()
    expect(stage.violations()).toEqual([expect.objectContaining({ reason: 'mismatch', host: 'api.test' })])
  })

  test.each([
    'other.test',
    'api.test',
    'api.test:1',
    'api.test@other.test',
    'other.test#api.test',
    'api.test:0443',
    'api.test,other.test',
    '127.1',
    '2130706433',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    '',
    'apı.test',
  ])('Host (%j) is refused', async (host) => {
    expect(await sayTls(stage, there, get(Buffer.from(host).toString('latin1')))).toMatch(/^HTTP\/1\.1 40[03]/)
    expect(server.connections()).toBe(0)
    expect(stage.violations()).toHaveLength(1)
  })

  test.each([
    'https://other.test/',
    'http://api.test/',
    'https://user@api.test/',
    'ftp://api.test/',
    'https:/api.test/',
  ])('the URL (%s) is refused', async (url) => {
    expect(await sayTls(stage, there, get(`api.test:${there.port}`, url))).toMatch(/^HTTP\/1\.1 40[03]/)
  })

  test('the scheme of a URL is refused', async () => {
    expect(await sayTls(stage, there, get(`api.test:${there.port}`, `http://api.test:${there.port}/`))).toMatch(
      /^HTTP\/1\.1 400/,
    )
    expect(
      await say(
        await stage.portTo('api.test', plain.port),
        get(`api.test:${plain.port}`, `https://api.test:${plain.port}/`),
      ),
    ).toMatch(/^HTTP\/1\.1 400/)
    expect(server.connections() + plain.connections()).toBe(0)
  })

  test(':authority of HTTP/2 is refused, also beside a matching Host', async () => {
    const ask = async (headers: Record<string, string>): Promise<number | undefined> => {
      const socket = await openTls(stage, { ...there, protocols: ['h2'] })
      const session = connect(`https://api.test:${there.port}`, { createConnection: () => socket })
      session.on('error', () => undefined)
      const status = await new Promise<number | undefined>((resolve) => {
        const stream = session.request({ ':path': '/', ...headers })
        stream.on('response', (head) => {
          resolve(head[':status'])
        })
        stream.on('error', () => {
          resolve(undefined)
        })
        stream.on('close', () => {
          resolve(undefined)
        })
      })
      session.destroy()
      return status
    }
    expect(await ask({ ':authority': `api.test:${there.port}` })).toBe(200)
    expect(await ask({ ':authority': 'other.test' })).toBe(403)
    expect(await ask({ ':authority': `api.test:${there.port}`, 'host': 'other.test' })).not.toBe(200)
    expect(await ask({ ':authority': `api.test:${there.port}`, ':scheme': 'http' })).not.toBe(200)
  })

  test('CONNECT, in an odd spelling, is refused', async () => {
    const authorization = `Proxy-Authorization: Bearer ${stage.call.proxySecret}\r\n`
    const ask = (target: string, host = target) =>
      say(stage.proxyPort, `CONNECT ${target} HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n`, 300)
    expect(await ask(`api.test:${there.port}`)).toContain('200 Connection')
    for (const target of [
      'api.test',
      `other.test:${there.port}`,
      `api.test:${there.port}:1`,
      `api.test\0.other.test:${there.port}`,
      `0x7f000001:${there.port}`,
      `127.1:${there.port}`,
      `[::ffff:127.0.0.1]:${there.port}`,
      `017700000001:${there.port}`,
      `a@api.test:${there.port}`,
      `http://api.test:${there.port}`,
      `api.test:${there.port}/`,
    ]) {
      expect(await ask(target), target).toMatch(/^HTTP\/1\.1 40[03]/)
    }
    expect(await ask(`api.test:${there.port}`, 'other.test')).toMatch(/^HTTP\/1\.1 400/)
    // The first, which was allowed, and then said nothing.
    expect(server.connections()).toBe(1)
  })

  test('a second request on the same connection is refused', async () => {
    const answer = await sayTls(
      stage,
      there,
      `GET /1 HTTP/1.1\r\nHost: api.test:${there.port}\r\n\r\nGET /2 HTTP/1.1\r\nHost: other.test\r\n\r\nGET ` +
        `/3 HTTP/1.1\r\nHost: api.test:${there.port}\r\nConnection: close\r\n\r\n`,
    )
    expect(Array.from(answer.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status)).toEqual(['200', '403', '200'])
  })
})

describe('a request to another host cannot pass as something other than HTTP:', () => {
  const evil = 'GET / HTTP/1.1\r\nHost: other.test\r\n\r\n'
  test.each([
    ['behind blank lines', `\r\n\r\n${evil}`],
    ['behind spaces', `  ${evil}`],
    ['in lower case', evil.replace('GET', 'get')],
    ['with two spaces', evil.replace('GET /', 'GET  /')],
    ['with tabs', evil.replaceAll(' ', '\t')],
    ['with bare line feeds', evil.replaceAll('\r\n', '\n')],
    ['with another version', evil.replace('1.1', '1.2')],
    ['with a very long line', evil.replace('/ ', `/${'a'.repeat(40_000)} `)],
  ])('%s', async (_, bytes) => {
    const answer = await say(await stage.portTo('api.test', plain.port), bytes)
    expect(answer).not.toContain('200 OK')
    expect(plain.connections()).toBe(0)
    expect(stage.violations()).toHaveLength(1)
  })

  test('after a silence, or in the middle of a line', async () => {
    const { connect: connectTcp } = await import('node:net')
    const sendInParts = async (parts: readonly string[]): Promise<void> => {
      const socket = connectTcp(await stage.portTo('api.test', plain.port), '127.0.0.1')
      const answer = heard(socket, 2_500)
      for (const part of parts) {
        socket.write(part)
        await new Promise((resolve) => setTimeout(resolve, 400))
      }
      expect(await answer).not.toContain('200 OK')
    }
    await Promise.all([
      sendInParts(['', evil]),
      sendInParts(['GET / ', evil.slice(6)]),
      sendInParts(['G', evil.slice(1)]),
    ])
    expect(stage.violations()).toHaveLength(3)
  })

  test('TLS for another host after a silence', async () => {
    const { connect: connectTcp } = await import('node:net')
    const { connect: secure } = await import('node:tls')
    const socket = connectTcp(await stage.portTo('api.test', there.port), '127.0.0.1')
    await new Promise((resolve) => setTimeout(resolve, 400))
    const outcome = await new Promise((resolve) => {
      const tls = secure({ socket, servername: 'other.test', rejectUnauthorized: false })
      tls.once('secureConnect', () => {
        resolve('secured')
      })
      tls.once('error', () => {
        resolve('refused')
      })
      tls.once('close', () => {
        resolve('refused')
      })
    })
    expect(outcome).toBe('refused')
  })
})

test('but curl reaches the host by its name, on both ports', async () => {
  expect((await curl(stage, `https://api.test:${server.port}/`)).output).toContain('"method":"GET"')
  expect((await curl(stage, `http://api.test:${plain.port}/`)).output).toContain('"method":"GET"')
})
