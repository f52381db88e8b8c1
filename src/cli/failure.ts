import { CordonError } from '../errors/index.js'

import { STDERR, oneLine, paintFor, writeText } from './text/console-text.js'

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

/** Of commands that run nothing for others, whose statuses are their own. Says what went wrong, as below. */
export const reportRefusal = (
  error: CordonError,
  environment: Readonly<Record<string, string | undefined>>,
): number => {
  reportFailure(error, environment)
  return NOT_UNDERSTOOD.has(error.code) ? EXIT_NOT_UNDERSTOOD : EXIT_NOT_DONE
}

/** Says on stderr what went wrong and what to do about it; returns the exit status. */
export const reportFailure = (error: unknown, environment: Readonly<Record<string, string | undefined>>): number => {
  const paint = paintFor(STDERR, environment)
  if (error instanceof CordonError) {
    writeText(STDERR, `${paint('red', 'cordon:')} ${error.code}: ${oneLine(error.message)}\n`)
    if (error.fix !== undefined) writeText(STDERR, `${paint('bold', 'fix:')} ${oneLine(error.fix)}\n`)
  } else {
    // Not one of ours: a mistake in Cordon, for which the trace is the message.
    writeText(STDERR, `cordon: bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  }
  return exitStatusOf(error)
}
