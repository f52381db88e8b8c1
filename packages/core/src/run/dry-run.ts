// `cordon run --dry-run`: the decision, its rules with file and line, and what would change it.
import type { PermissionDecision } from '../gate/index.js'

import { oneLine } from '../line/text/console-text.js'
import type { Paint } from '../line/text/console-text.js'
import { visibleWord } from '../line/text/visible-text.js'
import { wouldRun } from './facts.js'
import type { Outcome } from './facts.js'
import { boundaryFacts } from './run-prompt.js'

type Evaluated = Extract<Outcome, { kind: 'evaluated' }>

export const renderDecision = (decision: PermissionDecision, { order, boundary }: Evaluated, paint: Paint): string => {
  const { explain, decision: what, decision_source: source, decision_reason: reason, mode, risk } = decision
  const runs = wouldRun(decision)
  const tone = runs ? 'green' : what === 'ask' ? 'yellow' : 'red'
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
    ...boundaryFacts(boundary),
    ...explain.steps.map(({ step, outcome }) => {
      const isTyped = step === 'mode' && runs && source === 'command'
      const condition = isTyped ? ', if it had not been typed by a person who may approve it' : ''
      return ['step', `${step}: ${outcome}${condition}`] as const
    }),
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
