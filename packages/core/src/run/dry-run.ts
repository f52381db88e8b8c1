// `cordon run --dry-run`: the decision, its rules with file and line, and what would change it.
import { createSessionCount } from '../gate/index.js'
import type { PermissionDecision } from '../gate/index.js'

import type { Environment } from '../line/command-line.js'
import { STDOUT, oneLine, paintFor, writeText } from '../line/text/console-text.js'
import type { Paint } from '../line/text/console-text.js'
import { openRunGate } from './run-gate.js'
import type { PreparedRun } from './run-gate.js'
import { describeRun } from './facts.js'
import type { FactsFile } from './facts.js'
import { EXIT_REFUSED } from '../line/failure.js'
import { boundaryFacts } from './run-prompt.js'
import { visibleWord } from '../line/text/visible-text.js'

const RUNS: ReadonlySet<PermissionDecision['decision']> = new Set(['allow', 'sandboxed'])

/** Runs, asks and records nothing. Exit status 0 if the command would run without a question. */
export const dryRun = async (
  prepared: PreparedRun,
  { facts: file, json }: { readonly facts: FactsFile | undefined; readonly json: boolean },
  environment: Environment,
): Promise<number> => {
  const { gate, call } = openRunGate(prepared)
  const { decision } = await gate.decide({ ...call, count: createSessionCount({}) })
  const status = RUNS.has(decision.decision) ? 0 : EXIT_REFUSED
  const facts = describeRun(prepared.order, { decision, state: gate.state() }, { kind: 'evaluated' }, status)
  file?.write(facts)
  writeText(
    STDOUT,
    json ? `${JSON.stringify(facts)}\n` : renderDecision(decision, prepared, paintFor(STDOUT, environment)),
  )
  return status
}

const renderDecision = (decision: PermissionDecision, { order, tool }: PreparedRun, paint: Paint): string => {
  const { explain, decision: what, decision_source: source, decision_reason: reason, mode, risk } = decision
  const tone = RUNS.has(what) ? 'green' : what === 'ask' ? 'yellow' : 'red'
  const lines: readonly (readonly [string, string])[] = [
    ['command', order.argv.map(visibleWord).join(' ')],
    ...(order.image === undefined ? [] : [['image', order.image] as const]),
    ['because', `${reason} (decided by: ${source})`],
    ['mode', `${mode}, risk ${risk}`],
    ...explain.rules.map(
      ({ effect, ref, place, because, standing }) =>
        ['rule', `${effect} (${standing}) ${ref.includes(place) ? place : `${ref} at ${place}`}: ${because}`] as const,
    ),
    ...explain.asked_again_because.map((why) => ['again', why] as const),
    ...boundaryFacts(tool.boundary),
    ...explain.steps.map(
      ({ step, outcome }) =>
        [
          'step',
          step === 'mode' && RUNS.has(what) && source === 'command'
            ? `${step}: ${outcome}, if it had not been typed by a person who may approve it`
            : `${step}: ${outcome}`,
        ] as const,
    ),
    ...explain.what_would_change_it.map((way) => ['change', way] as const),
  ]
  return [
    paint(tone, WORDS[what]),
    ...lines.map(([name, text]) => `  ${paint('dim', name.padEnd(10))}${name === 'command' ? text : oneLine(text)}`),
    '',
  ].join('\n')
}

const WORDS: Readonly<Record<PermissionDecision['decision'], string>> = {
  allow: 'would run',
  sandboxed: 'would run, because it is sandboxed',
  ask: 'would be asked about',
  unavailable: 'would not run: it needs an approval, and nobody can be asked',
  deny: 'would not run: denied',
}
