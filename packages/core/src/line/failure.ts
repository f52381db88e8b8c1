// Errors on stderr, and the exit statuses for them.
import { CordonError } from '../errors/index.js'

import { STDERR, oneLine, paintFor, writeText } from './text/console-text.js'
import type { Paint } from './text/console-text.js'
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
  writeText(STDERR, failureLines(error, paintFor(STDERR, environment)))
  return exitStatusOf(error)
}

/** The error and its fix. The message of a bug of Cordon is its trace. */
export const failureLines = (error: unknown, paint: Paint): string =>
  error instanceof CordonError
    ? problemLines(`${error.code}: ${error.message}`, error.fix, paint)
    : `cordon: bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`

/** What is wrong, and the way out, each on a line. */
const problemLines = (problem: string, fix: string | undefined, paint: Paint): string =>
  [
    `${paint('red', 'cordon:')} ${oneLine(problem)}\n`,
    ...(fix === undefined || fix === '' ? [] : [`${paint('bold', 'fix:')} ${oneLine(fix)}\n`]),
  ].join('')

export const reportLines = (problem: string, fix: string | undefined, environment: Environment): void => {
  writeText(STDERR, problemLines(problem, fix, paintFor(STDERR, environment)))
}
