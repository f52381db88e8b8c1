// `cordon why` of a call that is in the store of a team.
import type { AnswerOf } from '../../store/index.js'

import type { Arguments } from '../arguments.js'
import { usage } from '../arguments.js'
import { callIdOf } from '../team/calls.js'
import type { CommandLine } from '../command-line.js'
import type { Paint } from '../text/console-text.js'
import { STDOUT, jsonLine, paintFor, writeText } from '../text/console-text.js'
import { renderBoundary, voterOf } from '../team/question-text.js'
import { isStore, openStore, placeOf, teamOf } from '../store/store-options.js'
import { renderFacts, renderHash, renderQuoted } from '../text/table-text.js'
import { renderUsage } from '../text/usage-text.js'
import { visible, wrapped } from '../text/visible-text.js'

const COMMAND = 'cordon why'

export const whyStored = async (
  wanted: string,
  given: Arguments,
  environment: CommandLine['environment'],
): Promise<number> => {
  const store = await openStore(given, environment, COMMAND)
  try {
    const team = () => teamOf(store, given, environment, COMMAND)
    const [last] = wanted === 'last' ? await store.ask('listInvocations', { team: await team(), most: 1 }) : []
    const id =
      last?.id ?? (await callIdOf({ store, team, wrong: (problem, fix) => usage(problem, COMMAND, fix) }, wanted))
    const explained = await store.ask('explainInvocation', { id })
    writeText(
      STDOUT,
      given.switches.has('json') ? jsonLine(explained) : renderExplanation(explained, paintFor(STDOUT, environment)),
    )
    return 0
  } finally {
    await store.close()
  }
}

/** For a reader without a local log: calls of a team are in its store, where there is one. */
export const teamHint = (given: Arguments, environment: CommandLine['environment']): string => {
  const place = placeOf(given, environment, COMMAND)
  return place.kind === 'folder' && !isStore(place.folder)
    ? ''
    : '; for a call of a team: cordon why ID (cordon calls list has them), or cordon why last --team TEAM'
}

type Explained = AnswerOf<'explainInvocation'>

const renderExplanation = (
  { invocation, inputText, tool, questions, votes, evaluations, events }: Explained,
  paint: Paint,
): string =>
  [
    paint('bold', visible(summaryOf(invocation))),
    '',
    ...renderFacts(
      [
        [
          'tool',
          `${invocation.tool}, version ${String(invocation.toolVersion)}, of the class ${invocation.egressClass}`,
        ],
        [
          'agent',
          invocation.invokedBy === invocation.agent
            ? invocation.agent
            : `${invocation.agent}, asked for by ${invocation.invokedBy}`,
        ],
        ['asked', `${invocation.createdAt}, valid until ${invocation.expiresAt}`],
        ...evaluations.map(({ type, verdict, reason }) => ['rule', `${type}: ${verdict} (${reason})`] as const),
        ...questions.map(
          ({ status, why, needed }) => ['question', `${why}; ${String(needed)} needed: ${status}`] as const,
        ),
        ...votes.map(
          (vote) =>
            ['answer', `${vote.verdict} by ${voterOf(vote)}${vote.reason === null ? '' : `: ${vote.reason}`}`] as const,
        ),
        ...(invocation.runner === null ? [] : [['runner', `${invocation.runner}, claim ${invocation.fence}`] as const]),
        ...(invocation.outputProblem === null
          ? []
          : [['result', `not of the form that the tool was registered with: ${invocation.outputProblem}`] as const]),
        ...(invocation.error === null ? [] : [['error', invocation.error] as const]),
        ...renderUsage(invocation.usage),
        ...events
          .filter(({ type }) => type === 'credential.resolved')
          .map(
            ({ at, actor }) =>
              ['credential', `${tool?.credentialRef ?? 'of the store'} was given to ${actor} for it at ${at}`] as const,
          ),
        ...costOf(invocation),
      ],
      paint,
    ),
    `  ${paint('dim', 'arguments')}`,
    ...renderQuoted(inputText),
    ...renderHash(invocation.inputHash, paint),
    ...(tool === null
      ? renderFacts([['boundary', 'the tool is not any more what it was then']], paint)
      : renderBoundary(tool, paint)),
    '',
    ...(events.length === 0
      ? ['  the record of it is for admins and operators']
      : events.flatMap(({ at, type, actor, details }) => [
          `  ${paint('dim', at)} ${type.padEnd(21)} ${visible(`by ${actor}`)}`,
          ...wrapped(visible(detailsText(details)), DETAILS_WIDTH)
            .filter((line) => line !== '')
            .map((line) => `${DETAILS_INDENT}${line}`),
        ])),
    '',
  ].join('\n')

const DETAILS_INDENT = ' '.repeat(6)
const DETAILS_WIDTH = 90

const detailsText = (details: unknown): string =>
  typeof details === 'object' && details !== null
    ? Object.entries(details)
        .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
    : ''

/** What it cost beside what was said that it would; nothing where nobody said or measured anything. */
const costOf = ({
  costEstimate,
  costMeasured,
  costReported,
  costDeviates,
}: Explained['invocation']): readonly (readonly [string, string])[] => {
  const parts = (
    [
      ['measured', costMeasured],
      ['reported by its runner', costReported],
      ['estimated', costEstimate],
    ] as const
  ).flatMap(([how, cost]) => (cost === null ? [] : [`${String(cost)} ${how}`]))
  return parts.length === 0
    ? []
    : [
        [
          'cost',
          `${parts.join(', ')}${costDeviates === true ? '; it deviates: these are far from each other, or it says that it ran for longer than it was claimed' : ''}`,
        ],
      ]
}

const summaryOf = ({
  status,
  tool,
  approvalDecidedBy: by,
  approvalReason: reason,
  approvalRequired,
}: Explained['invocation']): string => {
  const because = reason === null ? '' : `: ${reason}`
  switch (status) {
    case 'pending':
      return `${tool} waits for an approval`
    case 'rejected':
      return `${tool} was rejected by ${by ?? 'somebody'}${because}`
    case 'expired':
    case 'cancelled':
      return `${tool} was not run: it is ${status}`
    case 'approved':
    case 'running':
    case 'completed':
    case 'failed':
      return (
        `${tool} is ${status}; ` +
        (approvalRequired ? `approved by ${by ?? 'nobody'}${because}` : 'it needed no approval')
      )
  }
}
