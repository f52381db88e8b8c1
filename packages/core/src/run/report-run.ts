// What `cordon run` prints: on stderr, except for a decision that nothing ran after.
import { failureLines } from '../line/failure.js'
import type { CommandLine } from '../line/caller.js'
import { STDERR, STDOUT, oneLine, paintOn } from '../line/text/console-text.js'
import type { Paint } from '../line/text/console-text.js'
import type { TypedRun } from './typed-run.js'

const MOST_ERRORS = 20

export interface RunReport {
  /** Refusals, warnings and hints. */
  readonly say: (lines: readonly string[]) => void
  readonly end: (run: TypedRun) => Promise<void>
}

export const reportRun = (
  { given, environment, terminals }: CommandLine,
  write: (descriptor: number, text: string) => void,
): RunReport => {
  const json = given.switches.has('json')
  const paint: Paint = paintOn(terminals.err, environment)
  const say = (lines: readonly string[]): void => {
    if (json || given.switches.has('quiet')) return
    for (const text of lines) write(STDERR, `${paint('yellow', 'cordon:')} ${oneLine(text)}\n`)
  }
  return {
    say,
    end: async ({ outcome, facts, advice }) => {
      // Nothing ran, so the decision itself is the output.
      const isDry = outcome.kind === 'evaluated'
      if (json) write(isDry ? STDOUT : STDERR, `${JSON.stringify(facts)}\n`)
      else if (isDry) {
        const { renderDecision } = await import('./dry-run.js')
        write(STDOUT, renderDecision(facts.permission_decision, outcome, paintOn(terminals.out, environment)))
      } else {
        const errors = outcome.kind === 'ran' ? outcome.problems.slice(0, MOST_ERRORS) : [outcome.error]
        for (const error of errors) write(STDERR, failureLines(error, paint))
        say(advice)
      }
    },
  }
}
