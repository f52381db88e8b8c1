// Properties for any bytes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { Duplex, PassThrough } from 'node:stream'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { readClientHello } from '../../src/egress/connection/client-hello.js'
import { readBody } from '../../src/egress/http/body.js'
import { readBytes } from '../../src/egress/http/byte-reader.js'
import { endToEnd, withoutHeaders } from '../../src/egress/http/header-list.js'
import { readRequestHead, requestFraming } from '../../src/egress/http/message-head.js'
import { renderHeaders, writeBody } from '../../src/egress/http/write.js'
import { CordonError } from '../../src/errors/index.js'

import { say } from './raw.js'

/** Pieces of requests, good and bad, from which everything is put together. */
const piece = fc.constantFrom(
  'GET',
  'POST',
  'get',
  ' ',
  '  ',
  '\t',
  '/',
  '/a',
  '/a?b=c',
  '*',
  'http://a.test/',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/2.0',
  '\r\n',
  '\r\n',
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n',
  ':',
  ': ',
  'Host',
  'Host: a.test',
  'Content-Length',
  'Content-Length: 3',
  'content-length: 0',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Connection: close',
  'X-A: b',
  'abc',
  '3\r\nabc\r\n',
  '0\r\n\r\n',
  '\0',
  'é',
  '3;x',
  ',',
)
const line = fc.constantFrom('GET / HTTP/1.1', 'POST /a?b HTTP/1.1', 'PUT /%41 HTTP/1.0', 'OPTIONS * HTTP/1.1')
const header = fc.constantFrom(
  'Host: a.test',
  'Content-Length: 3',
  'Transfer-Encoding: chunked',
  'X-A: b',
  'X-A:',
  'X-B: \t c \t',
  'Connection: close',
  'Expect: x',
  'Cookie: a=b',
)
const request = fc.oneof(
  fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join('')),
  fc
    .tuple(
      line,
      fc.array(header, { maxLength: 5 }),
      fc.constantFrom('', 'abc', '3\r\nabc\r\n0\r\n\r\n', '0\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n'),
      fc.option(fc.tuple(fc.nat(120), piece)),
    )
    .map(([first, headers, body, change]) => {
      const text = `${[first, ...headers].join('\r\n')}\r\n\r\n${body}`
      return change === null ? text : `${text.slice(0, change[0])}${change[1]}${text.slice(change[0])}`
    }),
)

const streamOf = (chunks: readonly Buffer[]): Duplex => {
  const stream = new PassThrough()
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  return stream
}
const cut = (bytes: Buffer, places: readonly number[]): readonly Buffer[] => {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return at
    .slice(1)
    .map((end, index) => bytes.subarray(at[index], end))
    .filter(({ length }) => length > 0)
}

interface Understood {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** As it is passed on. */
  readonly bytes: string
}

/** What we understand of the first request in some bytes; nothing where we refuse. */
const understand = async (chunks: readonly Buffer[]): Promise<Understood | undefined> => {
  const reader = readBytes(streamOf(chunks))
  try {
    const head = await readRequestHead(reader)
    if (head === undefined) return undefined
    const framing = requestFraming(head)
    const body = readBody(reader, framing, 'tool')
    const sink = new PassThrough({ highWaterMark: 1 << 20 })
    const headers = withoutHeaders(endToEnd(head.headers), new Set(['host', 'content-length', 'expect']))
    sink.write(
      `${head.method} ${head.target} HTTP/1.1\r\nHost: ` +
        `a.test\r\n${renderHeaders(headers, 'tool')}${framing.kind === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : framing.kind === 'length' ? `Content-Length: ${framing.length}\r\n` : ''}\r\n`,
      'latin1',
    )
    const pieces: Buffer[] = []
    async function* remembered(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
      for await (const chunk of chunks) {
        pieces.push(chunk)
        yield chunk
      }
    }
    if (body !== undefined)
      await writeBody(
        sink,
        { ...body, chunks: remembered(body.chunks) },
        framing.kind === 'chunked' ? 'chunked' : 'length',
        'tool',
      )
    const bytes = (sink.read() as Buffer).toString('latin1')
    return { method: head.method, target: head.target, headers, body: Buffer.concat(pieces).toString('latin1'), bytes }
  } catch (error) {
    if (error instanceof CordonError && (error.code === 'http-malformed' || error.code === 'answer-malformed'))
      return undefined
    throw error
  }
}

describe('any bytes', () => {
  test('are refused or understood, in the same way for any cuts', async () => {
    await fc.assert(
      fc.asyncProperty(request, fc.array(fc.nat(500), { maxLength: 8 }), async (text, places) => {
        const bytes = Buffer.from(text, 'latin1')
        const whole = await understand([bytes].filter(({ length }) => length > 0))
        expect(await understand(cut(bytes, places))).toEqual(
          whole === undefined ? undefined : { ...whole, bytes: expect.any(String) as string },
        )
      }),
      { numRuns: 1500 },
    )
  })

  test('that are passed on are exactly one request for another parser, with the same meaning', async () => {
    const seen: { method: string; target: string; headers: string; body: string }[] = []
    let malformed = 0
    const server = createServer((incoming, response) => {
      let body = ''
      incoming.on('data', (chunk: Buffer) => {
        body += chunk.toString('latin1')
      })
      incoming.on('end', () => {
        seen.push({
          method: incoming.method ?? '',
          target: incoming.url ?? '',
          headers: JSON.stringify(incoming.rawHeaders),
          body,
        })
        response.end()
      })
    })
    server.on('clientError', (_, socket) => {
      malformed++
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    let understoodByBoth = 0
    await fc.assert(
      fc.asyncProperty(request, async (text) => {
        const understood = await understand([Buffer.from(text, 'latin1')])
        if (understood === undefined || understood.method === 'CONNECT') return
        seen.length = 0
        malformed = 0
        await say(port, `${understood.bytes}GET /after HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`)
        // It may refuse what we let through, such as a method that it does not know, but not half of it.
        if (malformed > 0) {
          expect(seen).toEqual([])
          return
        }
        understoodByBoth++
        expect(seen.map(({ method, target }) => [method, target])).toEqual([
          [understood.method, understood.target],
          ['GET', '/after'],
        ])
        expect(seen[0]?.body).toBe(understood.body)
        for (const [name, value] of understood.headers)
          expect(seen[0]?.headers).toContain(JSON.stringify([name, value]).slice(1, -1))
      }),
      { numRuns: 600 },
    )
    expect(understoodByBoth).toBeGreaterThan(50)
    await new Promise((resolve) => server.close(resolve))
  })

  test('never break the reader of TLS', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(['hello', 'incomplete', 'malformed']).toContain(readClientHello(Buffer.from([22, 3, 1, ...bytes])).kind)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the first message of a real client', () => {
  const helloOf = async (serverName: string): Promise<Buffer> => {
    const wire = new PassThrough()
    const socket = connect({
      socket: Duplex.from({ readable: new PassThrough(), writable: wire }),
      servername: serverName,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    socket.on('error', () => undefined)
    const bytes = await new Promise<Buffer>((resolve) => wire.once('data', resolve))
    socket.destroy()
    return bytes
  }

  test('is read in pieces and in many records, but not if it is changed', async () => {
    const bytes = await helloOf('api.example.org')
    expect(readClientHello(bytes)).toEqual({
      kind: 'hello',
      hello: { serverName: 'api.example.org', protocols: ['h2', 'http/1.1'] },
    })
    for (let length = 0; length < bytes.length; length++)
      expect(readClientHello(bytes.subarray(0, length)).kind).toBe('incomplete')
    const body = bytes.subarray(5)
    const records = Array.from({ length: Math.ceil(body.length / 7) }, (_, at) => {
      const part = body.subarray(at * 7, at * 7 + 7)
      return Buffer.concat([Buffer.from([22, 3, 1, 0, part.length]), part])
    })
    expect(readClientHello(Buffer.concat(records))).toMatchObject({ hello: { serverName: 'api.example.org' } })
    fc.assert(
      fc.property(fc.nat(bytes.length - 6), fc.nat(255), (at, value) => {
        const changed = Buffer.from(bytes)
        changed[5 + at] = value
        expect(['hello', 'incomplete', 'malformed']).toContain(readClientHello(changed).kind)
      }),
    )
  })
})
