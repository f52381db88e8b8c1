// The files of `cordon runner --health`, for probes. A probe looks at their times, so it starts no Node.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { messageOf } from 'cordon/errors'

import { fail } from '../errors/errors.js'

export interface HealthFiles {
  readonly write: (isReady: boolean) => void
}

/**
 * `alive` is written at every heartbeat, also while the database does not answer: ending the runner then would lose the
 * results that wait in it. `ready` is there only while the runner claims calls.
 */
export const openHealthFiles = (folder: string, report: (problem: string) => void): HealthFiles => {
  const [alive, ready] = [join(folder, 'alive'), join(folder, 'ready')]
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // An earlier process in the same container may have left them.
    for (const file of [alive, ready]) rmSync(file, { force: true })
    writeFileSync(alive, '')
  } catch (error) {
    throw fail('file-unwritable', { path: folder, problem: messageOf(error) }, error)
  }
  return {
    write: (isReady) => {
      const now = `${new Date().toISOString()}\n`
      try {
        writeFileSync(alive, now)
        if (isReady) writeFileSync(ready, now)
        else rmSync(ready, { force: true })
      } catch (error) {
        report(`cannot write ${folder}: ${messageOf(error)}`)
      }
    },
  }
}
