// The proxy refuses what two programs could read differently, and writes anew what it passes on.
import type { Socket } from 'node:net'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { say } from './raw.js'
import { startTcp } from './servers.js'
import type { TestServer } from './servers.js'
import { openStage } from './stage.js'
import type { Stage } from './stage.js'

let stage: Stage
let server: TestServer
let received: string
let answer: (socket: Socket) => void
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
beforeEach(async () => {
  received = ''
  answer = (socket) => {
    socket.write(ok)
  }
  server = await startTcp((socket) => {
    let head = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      head += chunk.toString('latin1')
      if (head.includes('\r\n\r\n')) {
        head = ''
        answer(socket)
      }
    })
  })
  stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
})
afterEach(async () => {
  await stage.close()
  await server.close()
})

const send = async (text: string, quiet = 400): Promise<string> =>
  say(await stage.portTo('api.test', server.port), text.replaceAll('HOST', `Host: api.test:${server.port}`), quiet)

describe('the proxy refuses a request with', () => {
  const smuggled = 'GET /admin HTTP/1.1\r\nHOST\r\n\r\n'
  test.each([
    ['both lengths', 'POST / HTTP/1.1\r\nHOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHOST\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde'],
    ['two equal lengths', 'POST / HTTP/1.1\r\nHOST\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd'],
    ['a list of lengths', 'POST / HTTP/1.1\r\nHOST\r\nContent-Length: 4, 4\r\n\r\nabcd'],
    ['a signed length', 'POST / HTTP/1.1\r\nHOST\r\nContent-Length: +4\r\n\r\nabcd'],
    ['a hexadecimal length', 'POST / HTTP/1.1\r\nHOST\r\nContent-Length: 0x4\r\n\r\nabcd'],
    ['a huge length', 'POST / HTTP/1.1\r\nHOST\r\nContent-Length: 99999999999999999999\r\n\r\n'],
    ['an odd coding', 'POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['two codings', 'POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    [
      'chunked twice',
      'POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
    ],
    ['a coding behind a vertical tab', 'POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n'],
    [
      'a coding with an underscore',
      'POST / HTTP/1.1\r\nHOST\r\nContent-Length: 4\r\nTransfer_Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a length with an underscore', 'POST / HTTP/1.1\r\nHOST\r\nContent_Length: 4\r\n\r\n'],
    [
      'a length with a dot, beside a proper one',
      'POST / HTTP/1.1\r\nHOST\r\nContent-Length: 4\r\ncontent.length: 40\r\n\r\nabcd',
    ],
    ['a space before a colon', 'POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nHOST\r\nX-A: b\r\n c\r\n\r\n'],
    ['a folded first header', 'GET / HTTP/1.1\r\n X: y\r\nHOST\r\n\r\n'],
    ['a bare line feed between headers', 'GET / HTTP/1.1\r\nHOST\nX-A: b\r\n\r\n'],
    ['a bare carriage return in a header', 'GET / HTTP/1.1\r\nHOST\r\nX-A: b\rX-B: c\r\n\r\n'],
    ['bare line feeds at its end', `GET / HTTP/1.1\r\nHOST\n\n${smuggled}`],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHOST\r\nX-A: b\0c\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHOST\r\n: x\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHOST\r\nX-A\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHOST\r\nHost: other.test\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\nX-A: b\r\n\r\n'],
    ['a space in its URL', 'GET /a b HTTP/1.1\r\nHOST\r\n\r\n'],
    ['a fragment in its URL', 'GET /a#b HTTP/1.1\r\nHOST\r\n\r\n'],
    ['chunked in HTTP/1.0', 'POST / HTTP/1.0\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['CONNECT inside', 'CONNECT other.test:443 HTTP/1.1\r\nHOST\r\n\r\n'],
    ['a blank line before it', '\r\nGET / HTTP/1.1\r\nHOST\r\n\r\n'],
    ['too many headers', `GET / HTTP/1.1\r\nHOST\r\n${'X-A: b\r\n'.repeat(300)}\r\n`],
    ['a head without end', `GET / HTTP/1.1\r\nHOST\r\nX-A: ${'a'.repeat(70_000)}`],
  ])('%s', async (_, text) => {
    expect(await send(text)).toMatch(/^HTTP\/1\.1 400/)
    expect(received).toBe('')
    expect(stage.violations()).toEqual([expect.objectContaining({ reason: 'malformed' })])
  })

  test.each([
    ['a chunk without a size', 'zz\r\n'],
    ['a chunk with a negative size', '-1\r\n'],
    ['a chunk longer than it says', `3\r\nabcdef\r\n0\r\n\r\n`],
    ['a chunk that ends in a bare line feed', '3\nabc\r\n0\r\n\r\n'],
    ['a size beyond all numbers', 'fffffffffffffffff\r\n'],
    ['a line feed in a chunk extension', '3;a\nb\r\nabc\r\n0\r\n\r\n'],
  ])('%s in its body', async (_, chunks) => {
    answer = () => undefined
    const said = await send(`POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`)
    expect(said).toMatch(/^HTTP\/1\.1 400/)
    // The server was not led to believe that the request is whole.
    expect(received).not.toContain('0\r\n\r\n')
    expect(stage.violations()).toEqual([expect.objectContaining({ reason: 'malformed' })])
  })
})

describe('the proxy passes on a request in one form:', () => {
  test('headers about the connection are dropped', async () => {
    await send(
      'GET /a HTTP/1.1\r\nHOST\r\nConnection: x-secret, close\r\nX-Secret: 1\r\nKeep-Alive: ' +
        '1\r\nProxy-Authorization: Basic eA==\r\nTE: trailers\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nX-Kept: ' +
        '1\r\nX-Forwarded-Host: other.test\r\nForwarded: host=other.test\r\n\r\n',
    )
    expect(received).toBe(`GET /a HTTP/1.1\r\nHost: api.test:${server.port}\r\nX-Kept: 1\r\n\r\n`)
  })

  test('and headers about the connection or another host, in the spellings that servers accept', async () => {
    await send(
      'GET /a HTTP/1.1\r\nHOST\r\nConnection: x-secret\r\nX_Secret: 1\r\nKeep_Alive: ' +
        '1\r\nProxy_Authorization: Basic eA==\r\nX_Forwarded_Host: other.test\r\nX.Host: ' +
        'other.test\r\nX-Forwarded-Scheme: https\r\nX_Kept: 1\r\nX_Host_Name: 1\r\n\r\n',
    )
    expect(received).toBe(`GET /a HTTP/1.1\r\nHost: api.test:${server.port}\r\nX_Kept: 1\r\nX_Host_Name: 1\r\n\r\n`)
  })

  test('extensions of chunks and trailers are dropped', async () => {
    await send(
      'POST / HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nContent-Length: ' +
        '5\r\nX-Api-Key: x\r\n\r\n',
    )
    expect(received.split('\r\n\r\n').slice(1).join('|')).toBe('3\r\nabc\r\n0|')
  })

  test('a body has the announced length, and the next request begins after it', async () => {
    const body = 'GET /admin HTTP/1.1\r\nX-A: b\r\n'
    await send(
      `POST /1 HTTP/1.1\r\nHOST\r\nContent-Length: ${body.length}\r\n\r\n${body}GET /2 HTTP/1.1\r\nHOST\r\n\r\n`,
    )
    const host = `Host: api.test:${server.port}\r\n`
    expect(received).toBe(
      `POST /1 HTTP/1.1\r\n${host}Content-Length: ${body.length}\r\n\r\n${body}GET /2 HTTP/1.1\r\n${host}\r\n`,
    )
  })

  test('HTTP/1.0 is answered until the connection closes', async () => {
    answer = (socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n')
    expect(await send('GET / HTTP/1.0\r\n\r\n')).toMatch(/Connection: close\r\n\r\nok$/)
  })

  test('bytes beyond ASCII in a path are encoded', async () => {
    await send('GET /\xc3\xbc HTTP/1.1\r\nHOST\r\n\r\n')
    expect(received).toMatch(/^GET \/%C3%BC HTTP/)
  })
})

describe('the proxy refuses an answer with', () => {
  test.each([
    ['both lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 2\r\n\r\nok'],
    ['bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['another protocol', 'ICY 200 OK\r\n\r\n'],
    ['an upgrade that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    answer = (socket) => {
      socket.write(bytes)
    }
    expect(await send('GET / HTTP/1.1\r\nHOST\r\n\r\n')).toMatch(/^HTTP\/1\.1 502/)
  })

  test('a body shorter than announced, by breaking off', async () => {
    answer = (socket) => {
      socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n')
    }
    const said = await send('GET / HTTP/1.1\r\nHOST\r\n\r\n')
    expect(said).toContain('ok')
    expect(said).not.toContain('0\r\n\r\n')
  })

  test('bytes after an answer, which do not become the answer to the next request', async () => {
    answer = (socket) => {
      socket.write(`${ok}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`)
    }
    const said = await send('GET /1 HTTP/1.1\r\nHOST\r\n\r\nGET /2 HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n')
    expect(said).not.toContain('poison')
  })
})
