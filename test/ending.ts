import type { Ending } from '../packages/core/src/sandbox/index.js'

/** undefined where a program did not end by itself. */
export const exitCodeOf = (ending: Ending): number | undefined =>
  ending.status === 'exited' ? ending.exitCode : undefined

/** The part of a result that says how it ended. */
export const endingOf = (ending: Ending): Ending => {
  switch (ending.status) {
    case 'exited':
      return { status: ending.status, exitCode: ending.exitCode }
    case 'signaled':
      return { status: ending.status, signal: ending.signal }
    case 'limit':
      return { status: ending.status, limit: ending.limit, signal: ending.signal }
  }
}
