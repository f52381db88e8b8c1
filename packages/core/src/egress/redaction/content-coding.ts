import type { Duplex, Transform } from 'node:stream'
import * as zlib from 'node:zlib'

import { CordonError, fail } from '../../errors/index.js'
import type { Body } from '../http/body.js'
import type { HeaderList } from '../http/header-list.js'
import { membersOf } from '../http/header-list.js'
import { write } from '../http/write.js'

/** Made from the first bytes. */
type Decoder = (first: Buffer) => Duplex

/** `deflate` is zlib (RFC 9110). Some servers omit its two bytes. */
const hasZlibHeader = (first: Buffer): boolean =>
  first.length >= 2 && ((first[0] ?? 0) & 0x0f) === 8 && first.readUInt16BE(0) % 31 === 0

/** Newer than the oldest Node that Cordon runs on. */
export const createZstd = (zlib as { readonly createZstdDecompress?: () => Transform }).createZstdDecompress

const DECODERS = new Map<string, Decoder>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', (first) => (hasZlibHeader(first) ? zlib.createInflate() : zlib.createInflateRaw())],
  ['br', () => zlib.createBrotliDecompress()],
])
if (createZstd !== undefined) DECODERS.set('zstd', () => createZstd())

const MOST = 2

/** The requested codings that can be decoded here, for the server. */
export const acceptedCodings = (headers: HeaderList): string => {
  const wanted = membersOf(headers, 'accept-encoding')
    .map((member) => member.split(';')[0]?.trim() ?? '')
    .filter((coding) => DECODERS.has(coding))
  return wanted.length === 0 ? 'identity' : wanted.join(', ')
}

/** In the order in which they were applied. */
export const codingsOf = (headers: HeaderList): readonly string[] =>
  membersOf(headers, 'content-encoding').filter((coding) => coding !== 'identity')

/** Decodes a body in constant memory. A body that cannot be decoded cannot be searched, and is refused. */
export const decoded = (body: Body, headers: HeaderList, host: string): Body => {
  const codings = codingsOf(headers)
  if (codings.length === 0) return body
  if (codings.length > MOST)
    throw fail('response-unreadable', { host, problem: `it is encoded ${codings.length} times` })
  const decoders = codings.map((coding) => {
    const decoder = DECODERS.get(coding)
    if (decoder === undefined)
      throw fail('response-unreadable', {
        host,
        problem: `its encoding ${JSON.stringify(coding.slice(0, 32))} is not known here`,
      })
    return decoder
  })
  return {
    length: undefined,
    chunks: decoders.reduceRight<AsyncIterable<Buffer>>(
      (chunks, decoder) => through(chunks, decoder, host),
      body.chunks,
    ),
    trailers: body.trailers,
  }
}

const MOST_FIRST = 2

async function* through(
  chunks: AsyncIterable<Buffer>,
  makeDecoder: Decoder,
  host: string,
): AsyncGenerator<Buffer, undefined> {
  const pieces = chunks[Symbol.asyncIterator]()
  let first: Buffer = Buffer.alloc(0)
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    first = Buffer.concat([first, next.value])
    if (first.length >= MOST_FIRST) break
  }
  // An empty body is empty in any coding.
  if (first.length > 0) yield* decodedBy(makeDecoder(first), withFirst(first, pieces), host)
}

async function* withFirst(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, undefined> {
  try {
    yield first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

async function* decodedBy(
  decoder: Duplex,
  chunks: AsyncIterable<Buffer>,
  host: string,
): AsyncGenerator<Buffer, undefined> {
  const feeding = (async () => {
    try {
      for await (const chunk of chunks) {
        await write(decoder, chunk)
        if (decoder.destroyed) return
      }
      decoder.end()
    } catch (error) {
      decoder.destroy(error instanceof Error ? error : new Error('broken'))
    }
  })()
  try {
    for await (const chunk of decoder) yield chunk as Buffer
    await feeding
  } catch (error) {
    throw error instanceof CordonError
      ? error
      : fail('response-unreadable', { host, problem: 'its encoding is broken' }, error)
  } finally {
    decoder.destroy()
  }
}
