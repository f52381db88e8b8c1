// Errors on stderr, and the exit statuses for them.
import { CordonError } from '../errors/index.js'

import { STDERR, oneLine, paintFor, writeText } from './text/console-text.js'
import type { Environment } from './arguments.js'

/** Cordon refused, or could not build the boundary. */
export const EXIT_REFUSED = 125

export const exitStatusOf = (error: unknown): number => {
  if (!(error instanceof CordonError)) return EXIT_REFUSED
  switch (error.code) {
    case 'program-not-executable':
      return 126
    case 'program-not-found':
      return 127
    default:
      return EXIT_REFUSED
  }
}

const EXIT_NOT_DONE = 1
const EXIT_NOT_UNDERSTOOD = 2
const NOT_UNDERSTOOD: ReadonlySet<string> = new Set(['usage-error', 'file-unreadable', 'file-syntax'])

/** For commands that run no other command, and so have exit statuses of their own. */
export const reportRefusal = (error: CordonError, environment: Environment): number => {
  reportFailure(error, environment)
  return NOT_UNDERSTOOD.has(error.code) ? EXIT_NOT_UNDERSTOOD : EXIT_NOT_DONE
}

/** Prints the error and its fix on stderr. Returns the exit status. */
export const reportFailure = (error: unknown, environment: Environment): number => {
  if (error instanceof CordonError) {
    reportLines(`${error.code}: ${error.message}`, error.fix, environment)
  } else {
    // A bug of Cordon: its trace is the message.
    writeText(STDERR, `cordon: bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  }
  return exitStatusOf(error)
}

/** What is wrong, and the way out, each on a line of stderr. */
export const reportLines = (problem: string, fix: string | undefined, environment: Environment): void => {
  const paint = paintFor(STDERR, environment)
  writeText(STDERR, `${paint('red', 'cordon:')} ${oneLine(problem)}\n`)
  if (fix !== undefined && fix !== '') writeText(STDERR, `${paint('bold', 'fix:')} ${oneLine(fix)}\n`)
}
