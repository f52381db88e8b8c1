import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'

import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'

import { createCall } from '../../src/egress/call.js'
import { Secret } from '../../src/egress/credentials/secret-store.js'
import { lineCuts } from '../../src/egress/redaction/cuts.js'
import { compileNeedles } from '../../src/egress/redaction/needle-search.js'
import { literalNeedles, needlesOf, searchedNeedles } from '../../src/egress/redaction/needles.js'
import { createRedactor } from '../../src/egress/redaction/redactor.js'

import { IS_MATRIX } from '../../../../test/turns.js'
import { curl } from './programs.js'
import { openTls } from './raw.js'
import { startHttps } from './servers.js'
import type { Handle, TestServer } from './servers.js'
import { bearer, credential, openStage, rightsOf } from './stage.js'
import type { Stage } from './stage.js'

const SECRET = 'ghp_"Secret/+=value\\0123<é>'
const bytes = Buffer.from(SECRET).toString('latin1')

const setOf = (value: string) =>
  compileNeedles(searchedNeedles(value), literalNeedles(needlesOf(value))) ?? expect.fail()
const SET = setOf(bytes)
const redact = (set: ReturnType<typeof setOf>, chunks: readonly Buffer[]): Buffer => {
  const redactor = createRedactor(set, lineCuts())
  return Buffer.concat([...chunks.map((chunk) => redactor.push(chunk)), redactor.end()])
}
const split = (text: Buffer, cuts: readonly number[]): readonly Buffer[] => {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
  return places.slice(1).map((end, at) => text.subarray(places[at], end))
}

const everyByte = (text: string, spell: (hex: string, at: number) => string): string =>
  Array.from(Buffer.from(text), (byte, at) => spell(byte.toString(16).padStart(2, '0'), at)).join('')
const inLines = (text: string, width: number, lineEnd: string): string =>
  text.replaceAll(new RegExp(`.{${String(width)}}`, 'g'), (line) => `${line}${lineEnd}`)

const ENCODINGS: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['in JSON', (text) => JSON.stringify(text)],
  ['in JSON with escaped slashes', (text) => JSON.stringify(text).replaceAll('/', '\\/')],
  [
    'in JSON in ASCII',
    (text) =>
      JSON.stringify(text).replaceAll(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ],
  [
    'in JSON as Go writes it',
    (text) => JSON.stringify(text).replaceAll(/[<>&]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ],
  ['in a URL', encodeURIComponent],
  ['in a URL in lower case', (text) => encodeURIComponent(text).replaceAll(/%../g, (c) => c.toLowerCase())],
  ['in a form', (text) => new URLSearchParams({ a: text }).toString()],
  [
    'in HTML',
    (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  ],
  ['in hexadecimal', (text) => Buffer.from(text).toString('hex')],
  ['in base64', (text) => Buffer.from(text).toString('base64')],
  ['in base64 behind something', (text) => Buffer.from(`user:${text}`).toString('base64')],
  ['in base64 between something', (text) => Buffer.from(`{"a":"${text}"}`).toString('base64')],
  ['in a URL with every byte encoded', (text) => everyByte(text, (hex) => `%${hex}`)],
  [
    'in a URL with every byte encoded, in either case',
    (text) => everyByte(text, (hex, at) => `%${at % 2 === 0 ? hex.toUpperCase() : hex}`),
  ],
  [
    'in JSON with every character escaped',
    (text) => Array.from(text, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  ],
  [
    'in JSON within JSON',
    (text) => Array.from(text, (c) => `\\\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  ],
  ['in JavaScript with every byte escaped', (text) => everyByte(text, (hex) => `\\x${hex}`)],
  ['in HTML by numbers', (text) => Array.from(text, (c) => `&#${String(c.charCodeAt(0))};`).join('')],
  [
    'in HTML by numbers in hexadecimal',
    (text) => Array.from(text, (c) => `&#x${c.charCodeAt(0).toString(16).toUpperCase()};`).join(''),
  ],
  [
    'in quoted-printable',
    (text) => everyByte(text, (hex, at) => `=${hex.toUpperCase()}${at % 9 === 8 ? '=\r\n' : ''}`),
  ],
  ['in hexadecimal in either case', (text) => everyByte(text, (hex, at) => (at % 2 === 0 ? hex.toUpperCase() : hex))],
  ['in base64 in lines', (text) => inLines(Buffer.from(`a ${text} b`).toString('base64'), 11, '\r\n')],
  ['in base64 in short lines', (text) => inLines(Buffer.from(`${text} b`).toString('base64'), 5, '\n')],
  ['in base64 in indented lines', (text) => inLines(Buffer.from(`ab ${text}`).toString('base64url'), 17, '\n    ')],
  ['in base64 in lines within JSON', (text) => inLines(Buffer.from(`a ${text} b`).toString('base64'), 20, '\\n')],
  ['in base64url', (text) => Buffer.from(`ab${text}cd`).toString('base64url')],
]

describe('a secret is covered', () => {
  test.each(ENCODINGS)('%s, with any surroundings and any cuts', (_, encode) => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 20 }),
        fc.string({ maxLength: 20 }),
        fc.array(fc.nat(200), { maxLength: 12 }),
        (before, after, cuts) => {
          const text = Buffer.from(`${before}${encode(SECRET)}${after}`)
          const covered = redact(SET, split(text, cuts))
          expect(covered.length).toBe(text.length)
          expect(covered.includes('***')).toBe(true)
          for (const needle of needlesOf(bytes)) expect(covered.includes(needle)).toBe(false)
        },
      ),
    )
  })

  test('in one pass, like in one search for each', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 4 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 60 }),
        fc.array(fc.nat(100), { maxLength: 6 }),
        (needles, text, cuts) => {
          const expected = Buffer.from(text)
          for (const needle of needles) {
            for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1))
              expected.fill('*', at, at + needle.length)
          }
          expect(
            redact(
              compileNeedles(literalNeedles(needles.map((needle) => Buffer.from(needle)))) ?? expect.fail(),
              split(Buffer.from(text), cuts),
            ).toString(),
          ).toBe(expected.toString())
        },
      ),
      { numRuns: IS_MATRIX ? 500 : 100 },
    )
  })

  test('and lines pass at once, whatever the secret is: other text waits until no secret can go on in it', () => {
    for (const secret of ['secret', 'banana']) {
      const redactor = createRedactor(setOf(secret), lineCuts())
      const passed = (text: string): string => redactor.push(Buffer.from(text)).toString()
      expect(passed('data: hello\n\n')).toBe('data: hello\n\n')
      expect(passed('{"a":1}\r\n')).toBe('{"a":1}\r\n')
      expect(passed('a sec')).toBe('')
      expect(passed('ond\n')).toBe('')
      expect(redactor.pause().toString()).toBe('a second\n')
      expect(passed('x'.repeat(8_191))).toBe('')
      expect(passed('x')).toBe('x'.repeat(4_096))
      expect(redactor.pause().toString()).toBe('')
      expect(passed('\n')).toBe('')
      expect(passed(`${secret}!\n`)).toBe(`${'x'.repeat(4_096)}\n******!\n`)
      expect(redactor.end().toString()).toBe('')
      expect(redactor.count()).toBe(1)
    }
  })
})

test('a line that ends in CR alone passes after a pause, and a soft end of quoted-printable does not', () => {
  const afterPause = (text: string): string => {
    const redactor = createRedactor(SET, lineCuts())
    redactor.push(Buffer.from(text))
    return redactor.pause().toString()
  }
  expect(afterPause('data: one\r\rdata: tw')).toBe('data: one\r\r')
  expect(afterPause('data: one\r\n')).toBe('data: one\r\n')
  expect(afterPause('a soft=\r\n')).toBe('')
  expect(afterPause('a soft=\r')).toBe('')
})

let stage: Stage
let server: TestServer
let close = (): Promise<void> => Promise.resolve()
afterEach(() => close())
const closeLater = (): void => {
  close = async () => {
    close = () => Promise.resolve()
    await stage.close()
    await server.close()
  }
}

const set = async (
  handle: Handle,
  onUpgrade?: (request: { headers: Record<string, unknown> }, socket: Socket) => void,
): Promise<string> => {
  server = await startHttps(handle, onUpgrade === undefined ? {} : { onUpgrade })
  closeLater()
  stage = await openStage({
    network: [`api.test:${server.port}`],
    here: ['api.test'],
    credentials: [bearer('token', `api.test:${server.port}`)],
    secrets: { token: SECRET },
  })
  return `https://api.test:${server.port}/`
}
const pause = () => new Promise((resolve) => setTimeout(resolve, 20))
const isClean = (text: string): void => {
  for (const needle of needlesOf(bytes)) expect(text).not.toContain(needle.toString('latin1'))
  expect(text).toContain('*****')
}

describe.each(['--http1.1', '--http2'])('an answer that echoes the credential (%s) is redacted', (version) => {
  test('in its headers', async () => {
    const url = await set((request, response) => {
      response.writeHead(200, {
        'x-echo': encodeURIComponent(Buffer.from(String(request.headers.authorization), 'latin1').toString()),
        'set-cookie': [`a=${Buffer.from(SECRET).toString('base64')}`],
      })
      response.end('ok')
    })
    isClean((await curl(stage, version, '-i', url)).output)
  })

  test('in a body that arrives byte by byte', async () => {
    const url = await set((_, response) => {
      void (async () => {
        for (const byte of Buffer.from(`<${SECRET}>`)) {
          response.write(Buffer.from([byte]))
          await pause()
        }
        response.end()
      })()
    })
    const { output } = await curl(stage, version, url)
    expect(output).toBe(`<${'*'.repeat(bytes.length)}>`)
  })

  test.each([
    ['gzip', 'gzip', gzipSync],
    ['deflate', 'deflate', deflateSync],
    ['deflate without the frame of zlib', 'deflate', deflateRawSync],
    ['br', 'br', brotliCompressSync],
  ] as const)('in a body that is compressed by %s', async (_, coding, compress) => {
    const long = 'x'.repeat(200_000)
    const url = await set((_, response) => {
      response.writeHead(200, { 'content-encoding': coding, 'content-type': 'application/json', 'etag': '"1"' })
      const packed = compress(Buffer.from(long + JSON.stringify({ token: SECRET }) + long))
      response.write(packed.subarray(0, 10))
      setTimeout(() => response.end(packed.subarray(10)), 30)
    })
    const { output } = await curl(stage, version, '--compressed', url)
    expect(output.length).toBeGreaterThan(400_000)
    isClean(output)
  })

  test('also if it was compressed twice, or without being requested', async () => {
    const url = await set((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip, br' })
      response.end(brotliCompressSync(gzipSync(SECRET)))
    })
    isClean((await curl(stage, version, url)).output)
  })
})

test.each(['--http1.1', '--http2'])(
  'the compressed length of an answer is not passed on, also to HEAD, and that of a plain one is (%s)',
  async (version) => {
    const url = await set((request, response) => {
      const body = request.url === '/plain' ? Buffer.from('plain') : gzipSync(`${SECRET} and ${request.url}`)
      response.writeHead(200, {
        'content-length': body.length,
        ...(request.url === '/plain' ? {} : { 'content-encoding': 'gzip' }),
      })
      response.end(request.method === 'HEAD' ? undefined : body)
    })
    expect((await curl(stage, version, '-I', url)).output).not.toMatch(/content-(length|encoding)/i)
    expect((await curl(stage, version, '-i', url)).output).not.toMatch(/content-(length|encoding)/i)
    expect((await curl(stage, version, '-I', `${url}plain`)).output).toMatch(/content-length: 5\b/i)
  },
)

describe('an answer that cannot be searched is refused:', () => {
  test.each(['zip', 'compress', 'aes128gcm'])('in the encoding %s', async (coding) => {
    const url = await set((_, response) => {
      response.writeHead(200, { 'content-encoding': coding })
      response.end('anything')
    })
    expect((await curl(stage, '-w', '%{http_code}', url)).output).toMatch(/encoding that is not allowed here.*502/s)
  })

  test('in an encoding that breaks off', async () => {
    const url = await set((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(gzipSync(Buffer.alloc(100_000, SECRET)).subarray(0, -20))
    })
    const { status, output } = await curl(stage, url)
    expect(status).not.toBe(0)
    expect(output).not.toContain(SECRET.slice(0, 8))
  })

  test('in pieces: ranges are not requested', async () => {
    const asked: unknown[] = []
    const url = await set((request, response) => {
      asked.push(request.headers.range)
      response.end('whole')
    })
    await curl(stage, '-H', 'Range: bytes=0-3', url)
    expect(asked).toEqual([undefined])
  })
})

test('an event stream of a host with a credential is passed on event by event', async () => {
  const url = await set((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: first\n\n')
  })
  const socket = await openTls(stage, { host: 'api.test', port: server.port })
  socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`)
  const text = await new Promise<string>((resolve) => {
    let seen = ''
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.toString()
      if (seen.includes('data: first')) resolve(seen)
    })
  })
  expect(text).toContain('text/event-stream')
  socket.destroy()
})

test('a WebSocket works, is not compressed, and does not reveal the credential', async () => {
  const url = await set(
    () => undefined,
    ({ headers }, socket) => {
      const accept = createHash('sha1')
        .update(`${String(headers['sec-websocket-key'])}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: ` +
          `Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nX-Extensions: ` +
          `${String(headers['sec-websocket-extensions'])}\r\n\r\n`,
      )
      const send = (text: string): void => {
        const message = Buffer.from(text)
        socket.write(Buffer.concat([Buffer.from([0x81, message.length]), message]))
      }
      send(`<${SECRET}>`)
      // Without its end: a message that ends like a secret begins does not wait for more.
      send(SECRET.slice(0, -1))
      socket.on('data', (chunk: Buffer) => {
        send(chunk.toString())
      })
    },
  )
  const socket = await openTls(stage, { host: 'api.test', port: server.port })
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: ${new URL(url).host}\r\nUpgrade: websocket\r\nConnection: keep-alive, ` +
      `Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ` +
      `x3JJHMbDL1EzLkh9GBhXDw==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n`,
  )
  const text = await new Promise<string>((resolve) => {
    let seen = ''
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.toString('latin1')
      if (seen.includes('*>')) resolve(seen)
    })
  })
  expect(text).toContain('Sec-WebSocket-Accept: HSmrc0sMlYUkAGmm5OPpG2HaGWk=')
  expect(text).toContain('X-Extensions: undefined')
  expect(text).toContain(`<${'*'.repeat(bytes.length)}>`)
  socket.write('frame')
  await new Promise<void>((resolve) =>
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('frame')) resolve()
    }),
  )
  socket.end()
  await expect
    .poll(() => stage.events.find(({ type }) => type === 'egress.request'))
    .toMatchObject({ status: 101, redactions: 1, path: '/ws' })
})

test.each([
  ['gzip', gzipSync],
  ['zstd', (zlib as { zstdCompressSync?: typeof gzipSync }).zstdCompressSync],
] as const)(
  'a file in %s that contains the secret is cut off, and one without it passes unchanged',
  async (_, compress) => {
    if (compress === undefined) return
    const filler = Array.from({ length: 4_000 }, (_each, at) => `line ${String(at * 7919)} of a long file\n`).join('')
    const files: Record<string, Buffer> = {
      '/clean': compress(Buffer.from(`${filler}${filler}`)),
      '/echo': compress(Buffer.from(`${filler}<${SECRET}>${filler}`)),
    }
    const url = await set((request, response) => {
      response.end(files[request.url ?? ''])
    })
    const clean = await curl(stage, '-o', join(stage.folder, 'clean'), `${url}clean`)
    expect(clean.errors).not.toMatch(/curl: \(\d+\)/)
    expect(readFileSync(join(stage.folder, 'clean')).equals(files['/clean'] as Buffer)).toBe(true)
    await curl(stage, '-o', join(stage.folder, 'echo'), `${url}echo`)
    const part = existsSync(join(stage.folder, 'echo')) ? readFileSync(join(stage.folder, 'echo')) : Buffer.alloc(0)
    expect(part.length).toBeLessThan((files['/echo'] as Buffer).length)
    expect(stage.events.findLast(({ type }) => type === 'egress.request')).toMatchObject({
      path: '/echo',
      problem: 'response-unreadable',
    })
  },
)

test('a password is also covered as the header that was made from it', async () => {
  server = await startHttps((request, response) => response.end(request.headers.authorization))
  closeLater()
  stage = await openStage({
    network: [`api.test:${server.port}`],
    here: ['api.test'],
    credentials: [credential('token', `api.test:${server.port}`, { kind: 'basic', user: 'x' })],
    secrets: { token: 'password-123' },
  })
  expect((await curl(stage, `https://api.test:${server.port}/`)).output).toMatch(/^Basic \*+$/)
})

test('a secret is covered at every host with a credential, however it is injected there', () => {
  const call = createCall(rightsOf({ network: ['a.test', 'b.test'] }))
  const secret = new Secret(Buffer.from(SECRET))
  const shown = credential('token', 'a.test', { kind: 'client-certificate' })
  const sent = bearer('token', 'b.test')
  // A certificate's key never leaves this process, so there is nothing to search for.
  expect(call.needles([secret], [{ credential: shown, value: bytes }])).toBeUndefined()
  const needles = call.needles([secret], [{ credential: sent, value: bytes }])
  expect(needles).toBeDefined()
  expect(call.needles([secret], [{ credential: sent, value: bytes }])).toBe(needles)
})
