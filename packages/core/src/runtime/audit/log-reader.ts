import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

import { codeOf } from '../../errors/index.js'

import { fullFile, listFullFiles, statOf } from './audit-files.js'
import { MAX_LINE_BYTES } from './chain.js'

export interface LogLine {
  readonly file: string
  /** From 1 in each file. */
  readonly number: number
  /** Empty where the line is too long. */
  readonly text: string
}

/** Reads all files of a log in their order, also while it is written and rotated. */
export interface LogReader {
  /** The lines up to now. Called again, it continues where it stopped. */
  readonly lines: () => AsyncGenerator<LogLine>
  /** Bytes after the last whole line. */
  readonly unfinished: () => number
  /** Every file that was opened. */
  readonly files: () => readonly string[]
  /** Numbers of missing files that have a later file. */
  readonly missing: () => readonly number[]
  readonly close: () => Promise<void>
}

type LineReader = ReturnType<typeof createLineReader>

export const createLogReader = (log: string): LogReader => {
  const files: string[] = []
  const missing: number[] = []
  let current: LineReader | undefined
  let file = 1

  const isFull = (): boolean => statOf(fullFile(log, file)) !== undefined

  /** The file with the next number, under its current name. */
  const openNext = async (): Promise<LineReader | undefined> => {
    for (;;) {
      const handle = (await openIfThere(fullFile(log, file))) ?? (await openCurrent())
      if (handle === undefined) return undefined
      if (handle === 'renamed') continue
      files.push(isFull() ? fullFile(log, file) : log)
      return createLineReader(handle)
    }
  }

  const openCurrent = async (): Promise<FileHandle | 'renamed' | undefined> => {
    const later = listFullFiles(log).find((each) => each.file >= file)
    if (later !== undefined) {
      // It got its number since, or there is a gap.
      while (file < later.file) missing.push(file++)
      return 'renamed'
    }
    const handle = await openIfThere(log)
    if (handle === undefined || !isFull()) return handle
    await handle.close()
    return 'renamed'
  }

  return {
    async *lines() {
      for (;;) {
        current ??= await openNext()
        if (current === undefined) return
        // Checked before reading, so that every line up to the rename is read.
        const wasFull = isFull()
        for await (const line of current.lines()) yield { ...line, file: wasFull ? fullFile(log, file) : log }
        if (!wasFull) {
          if (isFull()) continue
          return
        }
        await current.close()
        current = undefined
        file += 1
      }
    },
    unfinished: () => current?.unfinished() ?? 0,
    files: () => files,
    missing: () => missing,
    close: async () => {
      await current?.close()
      current = undefined
    },
  }
}

const openIfThere = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const LINE_FEED = 0x0a
const CHUNK_BYTES = 256 * 1024

/** Reads the whole lines of a file. */
const createLineReader = (handle: FileHandle) => {
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
  const take = () => {
    number += 1
    const text = length > MAX_LINE_BYTES ? '' : Buffer.concat(parts).toString('utf8')
    parts = []
    length = 0
    return { number, text }
  }

  return {
    /** Called again, it continues behind the last whole line. */
    async *lines() {
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
        if (bytesRead === 0) return
        at += bytesRead
        const bytes = chunk.subarray(0, bytesRead)
        const found: ReturnType<typeof take>[] = []
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
    /** The number of bytes after the last whole line. */
    unfinished: () => length,
    close: () => handle.close(),
  }
}
