// `cordon why` for a call in the store of a team.
import {
  jsonLine,
  paintFor,
  renderFacts,
  renderHash,
  renderQuoted,
  renderUsage,
  STDOUT,
  usage,
  visible,
  wrapText,
  writeText,
} from 'cordon/commands'
import type { Arguments, CommandLine, Paint } from 'cordon/commands'

import { namesStore } from '../../options/store-help.js'
import { withStore } from '../../options/store-options.js'
import type { AnswerOf } from '../../store/index.js'
import { callIdOf } from '../calls.js'
import { callerOf, renderBoundary, voteText } from '../question-text.js'

const COMMAND = 'cordon why'

/** Undefined: the call is in the audit log of this host. */
export const whyStored = async (line: CommandLine): Promise<number | undefined> => {
  const { given, environment } = line
  const [wanted = '', ...more] = given.rest
  if (more.length > 0 || !isStored(wanted, given)) return undefined
  const wrong = (problem: string, fix?: string) => usage(problem, COMMAND, fix)
  return withStore(line, COMMAND, async (store, team) => {
    const [last] = wanted === 'last' ? await store.ask('listInvocations', { team: await team(), most: 1 }) : []
    const id = last?.id ?? (await callIdOf({ store, team, wrong }, wanted))
    const explained = await store.ask('explainInvocation', { id })
    const isJson = given.switches.has('json')
    writeText(STDOUT, isJson ? jsonLine(explained) : renderExplanation(explained, paintFor(STDOUT, environment)))
    return 0
  })
}

/** Ids of the store are UUIDs of version 7, those of the log are not. An option may name the store too. */
const isStored = (wanted: string, { values }: Arguments): boolean =>
  !values.has('log') && (namesStore(values) || /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(wanted))

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
        ['agent', callerOf(invocation)],
        ['asked', `${invocation.createdAt}, valid until ${invocation.expiresAt}`],
        ...evaluations.map(({ type, verdict, reason }) => ['rule', `${type}: ${verdict} (${reason})`] as const),
        ...questions.map(
          ({ status, why, needed }) => ['question', `${why}; ${String(needed)} needed: ${status}`] as const,
        ),
        ...votes.map((vote) => ['answer', voteText(vote)] as const),
        ['runner', invocation.runner === null ? null : `${invocation.runner}, claim ${invocation.fence}`],
        [
          'result',
          invocation.outputProblem === null ? null : `does not fit the registered schema: ${invocation.outputProblem}`,
        ],
        ['error', invocation.error],
        ...renderUsage(invocation.usage),
        ...events
          .filter(({ type }) => type === 'credential.resolved')
          .map(
            ({ at, actor }) =>
              ['credential', `${tool?.credentialRef ?? 'of the store'} was given to ${actor} for it at ${at}`] as const,
          ),
        ['cost', costOf(invocation)],
      ],
      paint,
    ),
    ...renderQuoted('arguments', inputText, paint),
    ...renderHash(invocation.inputHash, paint),
    ...(tool === null
      ? renderFacts([['boundary', 'the tool has changed since then']], paint)
      : renderBoundary(tool, paint)),
    '',
    ...(events.length === 0
      ? ['  only admins and operators see its log entries']
      : events.flatMap(({ at, type, actor, details }) => [
          `  ${paint('dim', at)} ${type.padEnd(21)} ${visible(`by ${actor}`)}`,
          ...wrapText(visible(detailsText(details)), DETAILS_WIDTH)
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

const costOf = (call: Explained['invocation']): string | undefined => {
  const parts = (
    [
      ['measured', call.costMeasured],
      ['reported by its runner', call.costReported],
      ['estimated', call.costEstimate],
    ] as const
  ).flatMap(([how, cost]) => (cost === null ? [] : [`${String(cost)} ${how}`]))
  const deviates = '; it deviates: these are far apart, or the reported time is longer than the claim'
  return parts.length === 0 ? undefined : `${parts.join(', ')}${call.costDeviates === true ? deviates : ''}`
}

const summaryOf = (call: Explained['invocation']): string => {
  const { status, tool, approvalDecidedBy: by, approvalReason: reason, approvalRequired } = call
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
