// `cordon run`: runs one command in a cell, and reports on stderr.
import type { CommandLine } from '../../line/caller.js'
import { reportFailure } from '../../line/failure.js'
import { STDERR, STDOUT, oneLine, paintFor, writeText } from '../../line/text/console-text.js'
import { openFactsFile } from '../../run/facts.js'
import { ownSeat } from '../../run/run-seat.js'
import { runTyped } from '../../run/typed-run.js'

const MOST_ERRORS = 20

export const run = async (line: CommandLine): Promise<number> => {
  const { given, environment } = line
  const file = given.values.get('facts')?.[0]
  const factsFile = file === undefined ? undefined : openFactsFile(file)
  const json = given.switches.has('json')
  const say = (lines: readonly string[]): void => {
    if (json || given.switches.has('quiet')) return
    const paint = paintFor(STDERR, environment)
    for (const text of lines) writeText(STDERR, `${paint('yellow', 'cordon:')} ${oneLine(text)}\n`)
  }
  const { outcome, facts, advice, exitStatus } = await runTyped(line, ownSeat(), say)
  factsFile?.write(facts)
  // Nothing ran, so the decision itself is the output.
  const isDry = outcome.kind === 'evaluated'
  if (json) writeText(isDry ? STDOUT : STDERR, `${JSON.stringify(facts)}\n`)
  else if (isDry) {
    const { renderDecision } = await import('../../run/dry-run.js')
    writeText(STDOUT, renderDecision(facts.permission_decision, outcome, paintFor(STDOUT, environment)))
  } else {
    const errors = outcome.kind === 'ran' ? outcome.problems.slice(0, MOST_ERRORS) : [outcome.error]
    for (const error of errors) reportFailure(error, environment)
    say(advice)
  }
  return exitStatus
}
