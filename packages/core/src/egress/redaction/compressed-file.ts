// Searches a body that is a compressed file. A value in it cannot be covered without compressing it again, so the
// answer is broken off before the value has passed.
import type { Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'

import { fail } from '../../errors/index.js'

import { createZstd } from './content-coding.js'
import type { Redactor } from './redactor.js'

const GZIP = Buffer.from([0x1f, 0x8b, 0x08])
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** A file that grows more than this is an attack. */
const MOST_GROWTH = 1_000
const GROWTH_COUNTS_FROM = 64 * 1024 * 1024

const decompressorFor = (head: Buffer): Transform | undefined => {
  if (head.subarray(0, GZIP.length).equals(GZIP)) return createGunzip()
  return head.subarray(0, ZSTD.length).equals(ZSTD) ? createZstd?.() : undefined
}

/** Only a possible file has to wait for more bytes. */
const mayBecomeMark = (head: Buffer): boolean =>
  [GZIP, ZSTD].some((mark) => head.length < mark.length && mark.subarray(0, head.length).equals(head))

/** The chunks of a body. A chunk of a compressed file is passed on when its content was searched. */
export async function* searchedFile(
  chunks: AsyncIterable<Buffer>,
  newRedactor: () => Redactor,
  host: string,
): AsyncGenerator<Buffer, undefined> {
  let head: Buffer | undefined = Buffer.alloc(0)
  let search: FileSearch | undefined
  for await (const chunk of chunks) {
    let next = chunk
    if (head !== undefined) {
      head = Buffer.concat([head, chunk])
      if (mayBecomeMark(head)) continue
      const decompressor = decompressorFor(head)
      if (decompressor !== undefined) search = searchIn(decompressor, newRedactor(), host)
      next = head
      head = undefined
    }
    if (search === undefined) yield next
    else yield* await search.take(next)
  }
  if (head !== undefined && head.length > 0) yield head
  if (search !== undefined) yield* await search.end()
}

interface FileSearch {
  /** Takes the next chunk. Gives the chunks that may pass. */
  readonly take: (chunk: Buffer) => Promise<readonly Buffer[]>
  readonly end: () => Promise<readonly Buffer[]>
}

/** A chunk, and how much of the content has to have passed the redactor before it. Unknown until more content comes. */
interface Waiting {
  readonly chunk: Buffer
  until: number | undefined
}

const searchIn = (decompressor: Transform, redactor: Redactor, host: string): FileSearch => {
  let [compressed, produced, passed] = [0, 0, 0]
  let waiting: readonly Waiting[] = []
  let isOver = false
  const found = (): Error =>
    fail('response-unreadable', { host, problem: 'it is a compressed file that contains the value of a credential' })
  decompressor.on('data', (bytes: Buffer) => {
    produced += bytes.length
    passed += redactor.push(bytes).length
  })
  const onOver = (): void => {
    isOver = true
  }
  // Bytes after the file, or that are no file, are not searched as one.
  decompressor.on('error', onOver).on('end', onOver)
  const judge = (): void => {
    if (redactor.count() > 0) throw found()
    if (produced > GROWTH_COUNTS_FROM && produced > compressed * MOST_GROWTH)
      throw fail('response-unreadable', { host, problem: 'it is a compressed file that grows without end' })
  }
  const all = (): readonly Buffer[] => {
    const chunks = waiting.map(({ chunk }) => chunk)
    waiting = []
    return chunks
  }
  const searched = (): readonly Buffer[] => {
    const isReady = ({ until }: Waiting): boolean => until !== undefined && until <= passed
    const ready = waiting.filter(isReady)
    waiting = waiting.slice(ready.length)
    return ready.map(({ chunk }) => chunk)
  }
  return {
    take: async (chunk) => {
      compressed += chunk.length
      const before = produced
      if (!isOver)
        await new Promise((resolve) => {
          decompressor.once('error', resolve)
          decompressor.write(chunk, resolve)
        })
      if (isOver) passed += redactor.end().length
      judge()
      // A chunk may hold the start of content that comes out with a later one.
      if (produced > before) for (const each of waiting) each.until ??= produced
      waiting = [...waiting, { chunk, until: undefined }]
      return isOver ? all() : searched()
    },
    end: async () => {
      if (!isOver)
        await new Promise((resolve) => {
          decompressor.once('end', resolve).once('error', resolve)
          decompressor.end()
        })
      redactor.end()
      judge()
      decompressor.destroy()
      return all()
    },
  }
}
