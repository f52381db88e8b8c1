// What the embedded database says when its program ends in the middle: a trace of WebAssembly, which helps nobody. The
// usual reason is a full disk, so that is looked at.
import { statfsSync } from 'node:fs'

import { fail } from '../errors/index.js'

/** It writes its log in files of this size, and begins one when it starts. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024

export const embeddedFailure = (error: unknown, folder: string | undefined): unknown => {
  if (!(error instanceof Error) || !hasEnded(error)) return error
  const problem = `its program ended: ${error.message.split('\n', 1)[0] ?? ''}`
  return folder !== undefined && isFull(folder) ? fail('store-full', { where: folder, problem }, error) : fail('store-unavailable', { where: folder ?? 'memory', problem }, error)
}

const hasEnded = (error: Error): boolean => ['RuntimeError', 'ExitStatus'].includes(error.name) || /^(?:PGlite (?:failed to initialize|is clos)|Aborted\(|Program terminated|unreachable)/.test(error.message)

const isFull = (folder: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < LEAST_FREE_BYTES
  } catch {
    return false
  }
}
