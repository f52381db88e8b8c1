// Texts by which a tool or a server could block the calls of others.
import { PassThrough } from 'node:stream'
import { connect as connectTcp } from 'node:net'

import { afterEach, describe, expect, test } from 'vitest'

import { createClassifier } from '../../src/egress/connection/sniff.js'
import { readClientHello } from '../../src/egress/connection/client-hello.js'
import { readBytes } from '../../src/egress/http/byte-reader.js'
import { readRequestHead, readResponseHead } from '../../src/egress/http/message-head.js'
import { expectLinear } from '../../../../test/linear.js'

import { heard, say } from './raw.js'
import { startTcp } from './servers.js'
import type { TestServer } from './servers.js'
import { openStage } from './stage.js'
import type { Stage } from './stage.js'

const BLANKS = 64_000

const readerOf = (text: string): ReturnType<typeof readBytes> => {
  const stream = new PassThrough()
  stream.end(Buffer.from(text, 'latin1'))
  return readBytes(stream)
}

describe('a header with very many blanks', () => {
  let stage: Stage
  let server: TestServer
  afterEach(async () => {
    await stage.close()
    await server.close()
  })

  test('takes linear time to read, from a tool and a server, and is passed on without them', async () => {
    for (const blanks of [' ', '\t', ' \t']) {
      const filled = (size: number): string => blanks.repeat(size / blanks.length)
      await expectLinear('of a tool', (size) =>
        readRequestHead(readerOf(`GET / HTTP/1.1\r\nHost: a\r\nX: a${filled(size)}b\r\n\r\n`)),
      )
      await expectLinear('of a server', (size) =>
        readResponseHead(readerOf(`HTTP/1.1 200 OK\r\nX: a${filled(size)}b\r\nY:${filled(200)}\r\n\r\n`)),
      )
    }
    const head = await readRequestHead(readerOf(`GET / HTTP/1.1\r\nX: \t a${' '.repeat(BLANKS)}b \t \r\nY:   \r\n\r\n`))
    expect(head?.headers).toEqual([
      ['X', `a${' '.repeat(BLANKS)}b`],
      ['Y', ''],
    ])
    let got = ''
    server = await startTcp((socket) => {
      socket.on('data', (chunk: Buffer) => {
        got += chunk.toString('latin1')
        if (got.endsWith('\r\n\r\n'))
          socket.end(`HTTP/1.1 200 OK\r\nX:${' '.repeat(BLANKS)}well${' '.repeat(500)}\r\nContent-Length: 0\r\n\r\n`)
      })
    })
    stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
    const answer = await say(
      await stage.portTo('api.test', server.port),
      `GET / HTTP/1.1\r\nHost: ` +
        `api.test:${server.port}\r\nX:${' '.repeat(BLANKS)}asked${' '.repeat(500)}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\nX: well\r\n/)
    expect(got).toContain('X: asked\r\n')
  })

  test('in many small pieces is read like in one', async () => {
    server = await startTcp((socket) => {
      socket.on('data', () => undefined)
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell')
    })
    stage = await openStage({ network: [`api.test:${server.port}`], here: ['api.test'] })
    const socket = connectTcp({ port: await stage.portTo('api.test', server.port), host: '127.0.0.1', noDelay: true })
    const request =
      `GET / HTTP/1.1\r\nHost: api.test:${server.port}\r\nX: ${'piece'.repeat(100)}\r\nConnection: ` + `close\r\n\r\n`
    for (let at = 0; at < request.length; at += 7) {
      socket.write(request.slice(at, at + 7))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await heard(socket)).toContain('well')
  })
})

describe('the first bytes of a connection', () => {
  const classified = (text: string, pieceOf: number): string => {
    const classify = createClassifier()
    const bytes = Buffer.from(text, 'latin1')
    for (let at = 0; at < bytes.length; at += pieceOf) {
      const opening = classify(bytes.subarray(at, at + pieceOf))
      if (opening !== undefined) return opening
    }
    return 'unknown'
  }

  test('are classified in linear time, in one piece or many', async () => {
    for (const piece of ['\xa0', ' ', '\r\n', 'a', 'h', 'ht', '\xff ', 'HTTP', '\x80\xa0']) {
      for (const size of [1, 3, 65_536])
        await expectLinear(JSON.stringify(piece), (length) => classified(piece.repeat(length / piece.length), size))
    }
  })

  test.each([
    ['GET / HTTP/1.1\r\n', 'http1'],
    ['\r\n \xa0get / http/1.1\r\n', 'http1'],
    ['a\x01 HTTP/9', 'http1'],
    ['hhtthttp/', 'http1'],
    ['x'.repeat(20_000), 'http1'],
    [' '.repeat(20_000), 'http1'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'http2'],
    ['\x16\x03\x01', 'tls'],
    ['SSH-2.0-x\r\n', 'other'],
    ['\0', 'other'],
    ['a\rb', 'other'],
    ['PING', 'unknown'],
    ['\n\n GET /', 'unknown'],
    ['\xa0\xa0', 'unknown'],
    ['{"a": ', 'unknown'],
  ])('%j are %s', (text, expected) => {
    expect(classified(text, 65_536)).toBe(expected)
  })

  test('of TLS are read in linear time, however small the records are, and a whole message is read', async () => {
    // A message that says it is long, one byte to a record.
    const message = Buffer.concat([Buffer.from([1, 0, 0xff, 0xff]), Buffer.alloc(11_000)])
    const records = Buffer.concat(Array.from(message, (byte) => Buffer.from([22, 3, 1, 0, 1, byte])))
    await expectLinear('small records', (size) => {
      let looks = 0
      for (let known = 0, next = 0; known < size; known++) {
        if (known < next) continue
        const reading = readClientHello(records.subarray(0, known))
        looks += 1
        next = reading.kind === 'incomplete' ? known + reading.missing : size
      }
      // Counted: as the connection does it, only when what is missing may have come.
      expect(looks).toBeLessThan(100)
    })
  })
})
