import type { ByteReader } from './byte-reader.js'
import type { HeaderList } from './header-list.js'
import type { Framing, Side } from './message-head.js'
import { malformed, parseHeaders } from './message-head.js'

/** A body: its length, if known, and its pieces as they arrive. */
export interface Body {
  readonly length: number | undefined
  readonly chunks: AsyncIterable<Buffer>
  /** Known after the last piece. */
  readonly trailers: () => HeaderList
}

const NO_TRAILERS = (): HeaderList => []

export const wholeBody = (bytes: Buffer): Body => ({
  length: bytes.length,
  chunks: onePiece(bytes),
  trailers: NO_TRAILERS,
})

async function* onePiece(bytes: Buffer): AsyncGenerator<Buffer, undefined> {
  if (bytes.length > 0) yield await Promise.resolve(bytes)
}

/** Undefined if it is longer than `most` bytes. */
export const readWhole = async ({ chunks }: Body, most: number): Promise<Buffer | undefined> => {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > most) return undefined
    pieces.push(chunk)
  }
  return Buffer.concat(pieces)
}

export const readBody = (reader: ByteReader, framing: Framing, side: Side): Body | undefined => {
  switch (framing.kind) {
    case 'none':
      return undefined
    case 'length':
      return { length: framing.length, chunks: exactly(reader, framing.length, side), trailers: NO_TRAILERS }
    case 'until-close':
      return { length: undefined, chunks: untilClose(reader), trailers: NO_TRAILERS }
    case 'chunked': {
      let trailers: HeaderList = []
      const chunks = dechunked(reader, side, (found) => {
        trailers = found
      })
      return { length: undefined, chunks, trailers: () => trailers }
    }
  }
}

async function* exactly(reader: ByteReader, length: number, side: Side): AsyncGenerator<Buffer, undefined> {
  for (let left = length; left > 0;) {
    const chunk = await reader.next(left)
    if (chunk === undefined) throw malformed(side, 'it ends in the middle of its body')
    left -= chunk.length
    yield chunk
  }
}

async function* untilClose(reader: ByteReader): AsyncGenerator<Buffer, undefined> {
  for (let chunk = await reader.next(Infinity); chunk !== undefined; chunk = await reader.next(Infinity)) yield chunk
}

// Extensions of chunks are not passed on.
const CHUNK_LINE = /^(?<size>[0-9a-fA-F]{1,12})[\t ]*(?:;[\t\x20-\x7e]*)?$/
const MAX_LINE = 4096

async function* dechunked(
  reader: ByteReader,
  side: Side,
  keepTrailers: (trailers: HeaderList) => void,
): AsyncGenerator<Buffer, undefined> {
  for (;;) {
    const { size } = CHUNK_LINE.exec(await readLine(reader, side))?.groups ?? {}
    if (size === undefined) throw malformed(side, 'a chunk has no proper size')
    const length = Number.parseInt(size, 16)
    if (length === 0) break
    yield* exactly(reader, length, side)
    if ((await readLine(reader, side)) !== '') throw malformed(side, 'a chunk is longer than its size')
  }
  const lines: string[] = []
  for (let line = await readLine(reader, side); line !== ''; line = await readLine(reader, side)) {
    lines.push(line)
    if (lines.length > 64) throw malformed(side, 'there are more than 64 trailers')
  }
  keepTrailers(parseHeaders(lines, side))
}

const readLine = async (reader: ByteReader, side: Side): Promise<string> => {
  for (let checked = 0; ;) {
    const bytes = reader.peek()
    const end = bytes.indexOf(0x0a, checked)
    checked = bytes.length
    if (end !== -1 && bytes[end - 1] !== 0x0d) throw malformed(side, 'a line does not end in CR LF')
    if (end !== -1) return reader.take(end + 1).toString('latin1', 0, end - 1)
    if (bytes.length > MAX_LINE) throw malformed(side, 'a line of its body is too long')
    if (!(await reader.more())) throw malformed(side, 'it ends in the middle of its body')
  }
}
