import type { Writable } from 'node:stream'

import { fail } from '../../errors/index.js'

import type { Body } from './body.js'
import type { HeaderList } from './header-list.js'
import { isHeader, withoutHeaders } from './header-list.js'
import type { Side } from './message-head.js'
import { malformed } from './message-head.js'

/** Writes, and waits for a slow receiver. */
export const write = async (stream: Writable, chunk: Buffer | string): Promise<void> => {
  if (stream.destroyed || stream.writableEnded) throw fail('egress-closed', {})
  if (!stream.write(chunk, 'latin1')) await drained(stream)
}

const drained = (stream: Writable): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (): void => {
      stream.off('drain', settle).off('close', settle).off('error', settle)
      if (stream.destroyed) reject(fail('egress-closed', {}))
      else resolve()
    }
    stream.on('drain', settle).on('close', settle).on('error', settle)
  })

/** In one packet with the start of the body. */
export const writeHead = (stream: Writable, head: string): void => {
  stream.cork()
  stream.write(head, 'latin1')
  process.nextTick(() => {
    stream.uncork()
  })
}

/** `close`: the end of the connection is the end of the body. */
type OutgoingFraming = 'none' | 'length' | 'chunked' | 'close'

/** `length`: the one to state, if any. */
export const framingHeader = (framing: OutgoingFraming, length: number | string | undefined): string => {
  if (framing === 'chunked') return 'Transfer-Encoding: chunked\r\n'
  return length === undefined ? '' : `Content-Length: ${length}\r\n`
}

export const writeBody = async (stream: Writable, body: Body, framing: OutgoingFraming, side: Side): Promise<void> => {
  let left = framing === 'length' ? (body.length ?? 0) : Infinity
  for await (const chunk of body.chunks) {
    if (chunk.length === 0) continue
    left -= chunk.length
    // The receiver would read the rest as the next message.
    if (left < 0) throw malformed(side, 'its body is longer than it said')
    if (framing !== 'chunked') {
      await write(stream, chunk)
      continue
    }
    stream.cork()
    stream.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
    stream.write(chunk)
    const isWelcome = stream.write('\r\n', 'latin1')
    stream.uncork()
    if (!isWelcome) await drained(stream)
  }
  if (framing === 'length' && left > 0) throw malformed(side, 'its body is shorter than it said')
  // The request was judged before its trailers, so they are not passed on.
  const trailers = side === 'tool' ? [] : withoutHeaders(body.trailers(), NO_TRAILER)
  if (framing === 'chunked') await write(stream, `0\r\n${renderHeaders(trailers, side)}\r\n`)
}

/** Headers that decide about a message cannot follow it. */
const NO_TRAILER = new Set([
  'content-length',
  'transfer-encoding',
  'host',
  'authorization',
  'content-encoding',
  'content-type',
  'content-range',
  'trailer',
  'set-cookie',
  'cookie',
  'connection',
])

export const renderHeaders = (headers: HeaderList, side: Side): string =>
  headers
    .map((header) => {
      if (!isHeader(header)) throw malformed(side, 'a header contains a character that no header may')
      return `${header.join(': ')}\r\n`
    })
    .join('')
