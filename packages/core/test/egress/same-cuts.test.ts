// The same conversation with two different secrets: what a tool gets, in which pieces, and after which step of the
// server. The server goes on when the tool has got all that is due, so that no clock decides.
import { createHash } from 'node:crypto'
import { connect as connectHttp2 } from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { constants, createGzip, gzipSync } from 'node:zlib'

import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'

import { grpcCuts, lineCuts, webSocketCuts } from '../../src/egress/redaction/cuts.js'
import { compileNeedles } from '../../src/egress/redaction/needle-search.js'
import { literalNeedles, needlesOf, searchedNeedles } from '../../src/egress/redaction/needles.js'
import { createRedactor } from '../../src/egress/redaction/redactor.js'

import { curl } from './programs.js'
import { openTls } from './raw.js'
import { startHttps } from './servers.js'
import type { TestServer } from './servers.js'
import { bearer, openStage } from './stage.js'
import type { Stage } from './stage.js'

const SECRETS = ['tok_q7x2k9m4w8z1', 'ghp_%41&#65;=\\u0'] as const
const SETS = SECRETS.map(
  (secret) => compileNeedles(searchedNeedles(secret), literalNeedles(needlesOf(secret))) ?? expect.fail(),
)
/** Repeated by the server: beginnings of both secrets, also encoded. */
const BEGINNINGS = SECRETS.flatMap((secret) =>
  [
    secret,
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64'),
    encodeURIComponent(secret),
  ].flatMap((text) => [1, 3, 7, 12].map((length) => text.slice(0, length))),
)

describe.each([
  ['lines', () => lineCuts()],
  ['blocks', () => lineCuts(64)],
  ['messages of a WebSocket', webSocketCuts],
  ['messages of gRPC', grpcCuts],
])('a stream in %s', (name, newCuts) => {
  test('is passed on in the same pieces, whatever the secret is', () => {
    const framed = (text: string): Buffer => {
      const bytes = Buffer.from(text)
      if (name.endsWith('gRPC')) return Buffer.concat([Buffer.from([0, 0, 0, 0, bytes.length]), bytes])
      return name.endsWith('WebSocket') ? Buffer.concat([Buffer.from([0x81, bytes.length]), bytes]) : bytes
    }
    const piece = fc.oneof(
      fc.constantFrom(...BEGINNINGS),
      fc.constantFrom('\n', '\n\n', '=\r\n', '  ', '}\n'),
      fc.string({ maxLength: 100 }).filter((text) => Buffer.byteLength(text) < 126),
    )
    const act = fc.record({ text: piece, cut: fc.nat(130), pauses: fc.boolean() })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 120 }), (acts) => {
        const [one, other] = SETS.map((needles) => {
          const redactor = createRedactor(needles, newCuts())
          return acts
            .flatMap(({ text, cut, pauses }) => [
              redactor.push(framed(text).subarray(0, cut)),
              redactor.push(framed(text).subarray(cut)),
              ...(pauses ? [redactor.pause()] : []),
            ])
            .concat(redactor.end())
            .map(({ length }) => length)
        })
        expect(one).toEqual(other)
        expect(one?.reduce((sum, length) => sum + length, 0)).toBe(
          acts.reduce((sum, { text }) => sum + framed(text).length, 0),
        )
      }),
    )
  })
})

let stage: Stage
let server: TestServer
let close = (): Promise<void> => Promise.resolve()
afterEach(() => close())
const open = async (
  secret: string,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  onUpgrade?: (request: IncomingMessage, socket: Socket) => void,
): Promise<void> => {
  server = await startHttps(handle, onUpgrade === undefined ? {} : { onUpgrade })
  stage = await openStage({
    network: [`api.test:${server.port}`],
    here: ['api.test'],
    credentials: [bearer('token', `api.test:${server.port}`)],
    secrets: { token: secret },
  })
  close = async () => {
    close = () => Promise.resolve()
    await stage.close()
    await server.close()
  }
}

/** The lengths in which a stream arrives, until it has `last` at its end. */
const pieces = (stream: Duplex, last: string, onPiece: () => void = () => undefined): Promise<readonly number[]> =>
  new Promise((resolve) => {
    const lengths: number[] = []
    let text = ''
    stream.on('data', (chunk: Buffer) => {
      lengths.push(chunk.length)
      text += chunk.toString('latin1')
      onPiece()
      if (text.includes(last)) resolve(lengths)
    })
  })

const request = (path: string, ...headers: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, `Host: api.test:${server.port}`, ...headers, '', ''].join('\r\n')

describe('a tool gets an answer in the same pieces for two secrets:', () => {
  const events = BEGINNINGS.map((text) => `data: ${text}\n\n`)
  /** Each event in two writes, and the next one when the tool has got this one. */
  const sendEvents = (write: (text: string) => void): (() => void) => {
    let next = 0
    return () => {
      const event = events[next++]
      if (event === undefined) return
      write(event.slice(0, -2))
      setImmediate(() => {
        write(event.slice(-2))
      })
    }
  }

  test.each(['plain', 'gzip'])('events of HTTP/1.1, %s', async (coding) => {
    const seen: (readonly number[])[] = []
    for (const secret of SECRETS) {
      let go = (): void => undefined
      await open(secret, (_, response) => {
        response.writeHead(200, {
          'content-type': 'text/event-stream',
          ...(coding === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
        })
        const gzip = createGzip()
        if (coding === 'gzip') gzip.pipe(response)
        go = sendEvents((text) => {
          if (coding === 'plain') response.write(text)
          else {
            gzip.write(text)
            gzip.flush(constants.Z_SYNC_FLUSH)
          }
        })
        response.flushHeaders()
      })
      const socket = await openTls(stage, { host: 'api.test', port: server.port })
      const got = pieces(socket, events.at(-1) ?? '', () => {
        go()
      })
      socket.write(request('/', 'Accept-Encoding: gzip'))
      seen.push(await got)
      socket.destroy()
      await close()
    }
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]?.length).toBeGreaterThan(events.length)
  })

  test('events of HTTP/2', async () => {
    const seen: (readonly number[])[] = []
    for (const secret of SECRETS) {
      let go = (): void => undefined
      await open(secret, (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        go = sendEvents((text) => response.write(text))
        go()
      })
      const tunnel = await openTls(stage, { host: 'api.test', port: server.port, protocols: ['h2'] })
      const session = connectHttp2(`https://api.test:${server.port}`, { createConnection: () => tunnel })
      const stream = session.request({ ':path': '/' })
      seen.push(
        await pieces(stream, events.at(-1) ?? '', () => {
          go()
        }),
      )
      session.destroy()
      await close()
    }
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]).toHaveLength(events.length)
  })

  test('messages of a WebSocket', async () => {
    const seen: (readonly number[])[] = []
    for (const secret of SECRETS) {
      let go = (): void => undefined
      await open(
        secret,
        () => undefined,
        ({ headers }, socket) => {
          const accept = createHash('sha1')
            .update(`${String(headers['sec-websocket-key'])}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
            .digest('base64')
          let next = 0
          go = () => {
            const text = BEGINNINGS[next++]
            if (text === undefined) return
            socket.write(Buffer.from([0x81, text.length]))
            setImmediate(() => socket.write(text))
          }
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
              `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
          )
        },
      )
      const socket = await openTls(stage, { host: 'api.test', port: server.port })
      const got = pieces(socket, BEGINNINGS.at(-1) ?? '', () => {
        go()
      })
      socket.write(
        request(
          '/',
          'Upgrade: websocket',
          'Connection: Upgrade',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==',
        ),
      )
      seen.push(await got)
      socket.destroy()
      await close()
    }
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]).toHaveLength(BEGINNINGS.length + 1)
  })

  test('a compressed file that a program saves, and a compressed answer that repeats the secret', async () => {
    const file = gzipSync(`${BEGINNINGS.join(' ')}\n`.repeat(2_000), { level: 0 })
    const seen: unknown[] = []
    for (const secret of SECRETS) {
      await open(secret, (asked, response) => {
        if (asked.url === '/file') response.end(file)
        else {
          response.writeHead(200, { 'content-encoding': 'gzip' })
          response.end(gzipSync(`${secret} ${'x'.repeat(50_000)} ${String(asked.headers.authorization)}`))
        }
      })
      const saved = join(stage.folder, 'saved')
      const { errors } = await curl(stage, '-o', saved, `https://api.test:${server.port}/file`)
      expect(errors).not.toMatch(/curl: \(\d+\)/)
      expect(readFileSync(saved).equals(file)).toBe(true)
      const traced = await curl(stage, '--compressed', '--raw', '--http1.1', `https://api.test:${server.port}/`)
      seen.push(traced.output)
      await close()
    }
    expect(seen[0]).toBe(seen[1])
    expect(seen[0]).toContain('Bearer ****')
  })
})
