// A crash of the embedded database as an error of Cordon, instead of a WebAssembly trace. The usual reason is a full
// disk, so that is checked.
import { statfsSync } from 'node:fs'

import type { PGlite } from '@electric-sql/pglite'

import { fail } from '../../errors/errors.js'

/** The size of a file of its write-ahead log. Each start begins one. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024

export const embeddedFailure = (error: unknown, folder: string | undefined): unknown => {
  if (!(error instanceof Error) || !isOfProgram(error)) return error
  const problem = `its program ended: ${error.message.split('\n', 1)[0] ?? ''}`
  return folder !== undefined && isFull(folder)
    ? fail('store-full', { where: folder, problem }, error)
    : fail('store-unavailable', { where: folder ?? 'memory', problem }, error)
}

/** It cannot be used any more. */
export const hasEnded = (error: unknown): boolean =>
  error instanceof Error &&
  (isOfProgram(error) ||
    ['FATAL', 'PANIC'].some((each) => each === (error as { readonly severity?: unknown }).severity) ||
    /pg_wal\//.test(error.message))

const isOfProgram = (error: Error): boolean =>
  ['RuntimeError', 'ExitStatus'].includes(error.name) ||
  /^(?:PGlite (?:failed to initialize|is clos)|Aborted\(|Program terminated|unreachable)/.test(error.message)

/** Sends nothing to a crashed program, which would loop for ever. PGlite itself would send a rollback. */
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
