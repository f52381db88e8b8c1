// What the embedded database says when its program ends in the middle: a trace of WebAssembly, which helps nobody. The
// usual reason is a full disk, so that is looked at.
import { statfsSync } from 'node:fs'

import type { PGlite } from '@electric-sql/pglite'

import { fail } from '../../errors/index.js'

/** It writes its log in files of this size, and begins one when it starts. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024

export const embeddedFailure = (error: unknown, folder: string | undefined): unknown => {
  if (!(error instanceof Error) || !isOfProgram(error)) return error
  const problem = `its program ended: ${error.message.split('\n', 1)[0] ?? ''}`
  return folder !== undefined && isFull(folder)
    ? fail('store-full', { where: folder, problem }, error)
    : fail('store-unavailable', { where: folder ?? 'memory', problem }, error)
}

/** Nothing can be asked of it after this: what it could not write it needed to go on. */
export const hasEnded = (error: unknown): boolean =>
  error instanceof Error &&
  (isOfProgram(error) ||
    ['FATAL', 'PANIC'].some((each) => each === (error as { readonly severity?: unknown }).severity) ||
    /pg_wal\//.test(error.message))

const isOfProgram = (error: Error): boolean =>
  ['RuntimeError', 'ExitStatus'].includes(error.name) ||
  /^(?:PGlite (?:failed to initialize|is clos)|Aborted\(|Program terminated|unreachable)/.test(error.message)

/**
 * Asked again, a program that has ended in the middle goes round and round, and this process with it. PGlite itself
 * asks again: it takes back what failed. So every message to it goes through here, and none after it has ended.
 */
export const guardProgram = (open: PGlite): PGlite => {
  const send = open.execProtocolStream.bind(open)
  let ended: Error | undefined
  return Object.assign(open, {
    execProtocolStream: async (...given: Parameters<typeof send>) => {
      if (ended !== undefined) throw ended
      try {
        return await send(...given)
      } catch (error) {
        if (hasEnded(error)) ended = error as Error
        throw error
      }
    },
  })
}

const isFull = (folder: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < LEAST_FREE_BYTES
  } catch {
    return false
  }
}
