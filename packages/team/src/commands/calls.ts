// `cordon calls`: lists, shows and cancels calls of a team.
import {
  ageOf,
  idAmong,
  renderDuration,
  renderFacts,
  renderHash,
  renderQuoted,
  renderTable,
  renderUsage,
} from 'cordon/commands'
import type { CommandLine, Paint } from 'cordon/commands'
import { CordonError } from 'cordon/errors'
import { withoutUndefined } from 'cordon/shapes'

import { runStoreCommand } from '../options/store-command.js'
import type { CommandContext } from '../options/store-command.js'
import { INVOCATION_STATES, isFinal } from '../store/index.js'
import type { AnswerOf, StoreAccess } from '../store/index.js'
import { CALLS_HELP } from './help.js'
import { callerOf } from './question-text.js'

export const calls = (line: CommandLine): Promise<number> =>
  runStoreCommand({ name: 'team calls', help: CALLS_HELP, actions: { list, show, cancel } }, line)

type Call = AnswerOf<'listInvocations'>[number]

const MOST = 1000

export const renderCalls = (all: readonly Call[], paint: Paint, nothing: string): string =>
  renderTable(
    ['CALL', 'TOOL', 'STATE', 'AGENT', 'AGE', 'TOOK', 'RUNNER'],
    all.map((call) => [
      call.id,
      `${call.tool} ${String(call.toolVersion)}`,
      stateOf(call),
      callerOf(call),
      ageOf(call.createdAt),
      tookOf(call),
      call.runner ?? '',
    ]),
    paint,
    nothing,
  )

const stateOf = ({ status, isCancelRequested }: Pick<Call, 'status' | 'isCancelRequested'>): string =>
  status === 'running' && isCancelRequested ? 'running (told to end)' : status
const tookOf = ({ startedAt, completedAt }: Pick<Call, 'startedAt' | 'completedAt'>): string =>
  startedAt === null || completedAt === null
    ? ''
    : renderDuration(Math.max(0, Date.parse(completedAt) - Date.parse(startedAt)))

const list = async ({ store, team, option, numberOption, print, wrong }: CommandContext): Promise<number> => {
  const wanted = option('status')
  const status = INVOCATION_STATES.find((each) => each === wanted)
  if (wanted !== undefined && status === undefined)
    throw wrong(`--status is one of ${INVOCATION_STATES.join(', ')}, not ${wanted}`)
  const filter = withoutUndefined({
    agent: option('agent'),
    tool: option('tool'),
    profile: option('profile'),
    status,
    most: numberOption('limit', 1, MOST),
  })
  const found = await store.ask('listInvocations', { team: await team(), ...filter })
  return print(found, (paint) => renderCalls(found, paint, 'you can see no such calls'))
}

const show = async (context: CommandContext): Promise<number> => {
  const word = context.oneWord(
    'no call is named, or more than one',
    'name one by its id: cordon team calls list has them',
  )
  const call = await context.store.ask('findInvocation', { id: await callIdOf(context, word) })
  return context.print(call, (paint) => renderCall(call, paint, context.again(`why ${call.id}`)))
}

const MOST_LETTERS = 20_000

const renderCall = (call: AnswerOf<'findInvocation'>, paint: Paint, why: string): string =>
  [
    ...renderFacts(
      [
        ['call', call.id],
        ['tool', `${call.tool}, version ${String(call.toolVersion)}, of the class ${call.egressClass}`],
        ['state', stateOf(call)],
        ['agent', callerOf(call)],
        ['asked', `${call.createdAt}, ${ageOf(call.createdAt)} ago`],
        [
          'began',
          call.startedAt === null ? null : `${call.startedAt}${call.runner === null ? '' : ` by ${call.runner}`}`,
        ],
        [
          'ended',
          call.completedAt === null
            ? null
            : `${call.completedAt}${tookOf(call) === '' ? '' : `, after ${tookOf(call)}`}`,
        ],
        ['error', call.error],
        ...renderUsage(call.usage),
      ],
      paint,
    ),
    ...renderQuoted('arguments', shortened(JSON.stringify(call.input, null, 2)), paint),
    ...renderHash(call.inputHash, paint),
    ...(call.output === null
      ? []
      : renderQuoted(
          'output',
          shortened(typeof call.output === 'string' ? call.output : JSON.stringify(call.output, null, 2)),
          paint,
        )),
    ...renderFacts([['why', why]], paint),
    '',
  ].join('\n')

const shortened = (text: string): string =>
  text.length <= MOST_LETTERS
    ? text
    : `${text.slice(0, MOST_LETTERS)}\n(and ${String(text.length - MOST_LETTERS)} letters more; --json has all)`

const WAIT_MS = 30_000

export const waitOf = ({ timeOption }: CommandContext): number => timeOption('wait', '10s or 2m') ?? WAIT_MS

const cancel = async (context: CommandContext): Promise<number> => {
  const { store, words, option, wrong, print } = context
  if (words.length === 0) throw wrong('no call is named', 'name calls by their ids: cordon team calls list has them')
  const waitMs = waitOf(context)
  const ids: string[] = []
  for (const word of words) ids.push(await callIdOf(context, word))
  const cancelled = await cancelCalls(store, [...new Set(ids)], { reason: option('reason'), waitMs })
  print(cancelled, (paint) => cancelled.map((call) => `${describeCancelled(call, paint)}\n`).join(''))
  return cancelled.every(({ status, wasOver }) => status !== 'running' && !wasOver) ? 0 : EXIT_NOT_DONE
}

const EXIT_NOT_DONE = 1

export const describeCancelled = ({ id, status, wasOver }: CancelledCall, paint: Paint): string => {
  if (wasOver) return `${paint('yellow', 'over before')} ${id}: ${status}`
  if (status === 'running') return `${paint('red', 'still runs')} ${id}; it was told to end`
  return status === 'cancelled' ? `${paint('green', 'cancelled')} ${id}` : `${paint('green', 'ended')} ${id}: ${status}`
}

/** The id that a word names, among the last calls of the team. */
export const callIdOf = (
  { store, team, wrong }: Pick<CommandContext, 'store' | 'team' | 'wrong'>,
  word: string,
): Promise<string> =>
  idAmong(
    word,
    async () => (await store.ask('listInvocations', { team: await team(), most: MOST })).map(({ id }) => [id]),
    { what: 'call', listedBy: 'cordon team calls list', wrong },
  )

type Status = AnswerOf<'findInvocation'>['status']

export interface CancelledCall {
  readonly id: string
  /** `running`: it was told to end, and still runs. */
  readonly status: Status
  /** It had ended before anybody cancelled it. */
  readonly wasOver: boolean
}

export interface Cancelling {
  readonly reason: string | undefined
  readonly waitMs: number
  /** Hears of each call that could not be cancelled. Without it the first such error is thrown. */
  readonly onProblem?: (id: string, problem: CordonError) => void
}

/** Withdraws pending calls, asks running ones to end, and waits for them. */
export const cancelCalls = async (
  store: StoreAccess,
  ids: readonly string[],
  { reason, waitMs, onProblem }: Cancelling,
): Promise<readonly CancelledCall[]> => {
  const until = Date.now() + waitMs
  const told: CancelledCall[] = []
  const tell = async (id: string): Promise<void> => {
    try {
      told.push(await cancelOne(store, id, reason))
    } catch (error) {
      if (!(error instanceof CordonError) || onProblem === undefined) throw error
      onProblem(id, error)
    }
  }
  // Cancel all before waiting for the first.
  for (const id of ids) await tell(id)
  const ended: CancelledCall[] = []
  // One after the other, because a server limits the waiting requests of one caller.
  for (const call of told)
    ended.push(call.status === 'running' ? { ...call, status: await waitForEnd(store, call.id, reason, until) } : call)
  return ended
}

const cancelOne = async (store: StoreAccess, id: string, reason: string | undefined): Promise<CancelledCall> => {
  try {
    return { id, ...(await store.ask('cancelInvocation', { id, ...withoutUndefined({ reason }) })), wasOver: false }
  } catch (error) {
    if (!(error instanceof CordonError) || error.code !== 'store-state') throw error
    const { status } = await store.ask('findInvocation', { id })
    if (!isFinal(status)) throw error
    return { id, status, wasOver: true }
  }
}

const waitForEnd = async (
  store: StoreAccess,
  id: string,
  reason: string | undefined,
  until: number,
): Promise<Status> => {
  let known: string | undefined
  for (;;) {
    const waitMs = Math.max(0, until - Date.now())
    const seen = await store.follow('findInvocation', { id }, withoutUndefined({ waitMs, known }))
    const status = seen?.answer.status ?? 'running'
    // Its runner was lost, so the call would be asked about, or run, again.
    if (status === 'pending' || status === 'approved') return (await cancelOne(store, id, reason)).status
    if (status !== 'running') return status
    if (waitMs === 0) return 'running'
    known = seen?.mark ?? known
  }
}
