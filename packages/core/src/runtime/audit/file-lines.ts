import type { FileHandle } from 'node:fs/promises'

import { MAX_LINE_BYTES } from './chain.js'

/** Reads the whole lines of a file. */
export interface LineReader {
  /** Called again, it continues behind the last whole line. */
  readonly lines: () => AsyncGenerator<FileLine>
  /** The number of bytes after the last whole line. */
  readonly unfinished: () => number
}

export interface FileLine {
  /** From 1. */
  readonly number: number
  /** Empty where the line is too long. */
  readonly text: string
}

const LINE_FEED = 0x0a
const CHUNK_BYTES = 256 * 1024

export const createLineReader = (handle: FileHandle): LineReader => {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let parts: Buffer[] = []
  let length = 0
  let at = 0
  let number = 0

  const add = (part: Buffer): void => {
    length += part.length
    // Copied, because the chunk is used again.
    if (length <= MAX_LINE_BYTES) parts.push(Buffer.from(part))
  }
  const take = (): FileLine => {
    number += 1
    const text = length > MAX_LINE_BYTES ? '' : Buffer.concat(parts).toString('utf8')
    parts = []
    length = 0
    return { number, text }
  }

  return {
    async *lines() {
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
        if (bytesRead === 0) return
        at += bytesRead
        const bytes = chunk.subarray(0, bytesRead)
        const found: FileLine[] = []
        let begin = 0
        for (let feed = bytes.indexOf(LINE_FEED); feed !== -1; feed = bytes.indexOf(LINE_FEED, begin)) {
          add(bytes.subarray(begin, feed))
          begin = feed + 1
          found.push(take())
        }
        if (begin < bytes.length) add(bytes.subarray(begin))
        yield* found
      }
    },
    unfinished: () => length,
  }
}
