import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

import { codeOf } from '../../errors/index.js'

import { fullFile, listFullFiles, statOf } from './audit-files.js'
import { createLineReader } from './file-lines.js'
import type { FileLine, LineReader } from './file-lines.js'

export interface LogLine extends FileLine {
  readonly file: string
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

interface Current {
  readonly handle: FileHandle
  readonly reader: LineReader
}

export const createLogReader = (log: string): LogReader => {
  const files: string[] = []
  const missing: number[] = []
  let current: Current | undefined
  let file = 1

  const isFull = (): boolean => statOf(fullFile(log, file)) !== undefined

  /** The file with the next number, under its current name. */
  const openNext = async (): Promise<Current | undefined> => {
    for (;;) {
      const handle = (await openIfThere(fullFile(log, file))) ?? (await openCurrent())
      if (handle === undefined) return undefined
      if (handle === 'renamed') continue
      files.push(isFull() ? fullFile(log, file) : log)
      return { handle, reader: createLineReader(handle) }
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
        for await (const line of current.reader.lines()) yield { ...line, file: wasFull ? fullFile(log, file) : log }
        if (!wasFull) {
          if (isFull()) continue
          return
        }
        await current.handle.close()
        current = undefined
        file += 1
      }
    },
    unfinished: () => current?.reader.unfinished() ?? 0,
    files: () => files,
    missing: () => missing,
    close: async () => {
      await current?.handle.close()
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
