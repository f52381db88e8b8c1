import { INVOCATION_STATES } from '../../store/index.js'
import type { AnswerOf } from '../../store/index.js'

import { CALLS_HELP } from './calls-help.js'
import { cancelCalls } from './cancel-calls.js'
import type { CancelledCall } from './cancel-calls.js'
import type { CommandLine } from '../command-line.js'
import type { Paint } from '../text/console-text.js'
import { idAmong, isFullId } from '../text/named-id.js'
import type { CommandContext } from '../store/store-command.js'
import { runStoreCommand } from '../store/store-command.js'
import { renderFacts, renderHash, renderQuoted, renderSpan, renderTable } from '../text/table-text.js'
import { parseSpan } from '../text/time-words.js'
import { renderDuration, renderUsage } from '../text/usage-text.js'

export const calls = (line: CommandLine): Promise<number> =>
  runStoreCommand({ name: 'calls', help: CALLS_HELP, actions: { list, show, cancel } }, line)

type Call = AnswerOf<'listInvocations'>[number]

const MOST = 1000

export const renderCalls = (all: readonly Call[], paint: Paint, nothing: string): string =>
  renderTable(
    ['CALL', 'TOOL', 'STATE', 'AGENT', 'AGE', 'TOOK', 'RUNNER'],
    all.map((call) => [
      call.id,
      `${call.tool} ${String(call.toolVersion)}`,
      stateOf(call),
      whoOf(call),
      renderSpan(Date.now() - Date.parse(call.createdAt)),
      tookOf(call),
      call.runner ?? '',
    ]),
    paint,
    nothing,
  )

const stateOf = ({ status, isCancelRequested }: Pick<Call, 'status' | 'isCancelRequested'>): string =>
  status === 'running' && isCancelRequested ? 'running (told to end)' : status
const whoOf = ({ agent, invokedBy }: Pick<Call, 'agent' | 'invokedBy'>): string =>
  agent === invokedBy ? agent : `${agent}, asked for by ${invokedBy}`
const tookOf = ({ startedAt, completedAt }: Pick<Call, 'startedAt' | 'completedAt'>): string =>
  startedAt === null || completedAt === null
    ? ''
    : renderDuration(Math.max(0, Date.parse(completedAt) - Date.parse(startedAt)))

const list = async ({ store, team, option, print, wrong }: CommandContext): Promise<number> => {
  const [state, limit] = [option('state'), option('limit')]
  const status = INVOCATION_STATES.find((each) => each === state)
  if (state !== undefined && status === undefined)
    throw wrong(`--state is one of ${INVOCATION_STATES.join(', ')}, not ${state}`)
  const most = limit === undefined ? undefined : Number(limit)
  if (most !== undefined && !(Number.isInteger(most) && most >= 1 && most <= MOST))
    throw wrong(`--limit is a number from 1 to ${String(MOST)}, not ${limit ?? ''}`)
  const named = Object.fromEntries(
    (['agent', 'tool', 'profile'] as const).flatMap((name) => {
      const value = option(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const found = await store.ask('listInvocations', {
    team: await team(),
    ...named,
    ...(status === undefined ? {} : { status }),
    ...(most === undefined ? {} : { most }),
  })
  print(found, (paint) =>
    renderCalls(
      found,
      paint,
      state === undefined && Object.keys(named).length === 0
        ? 'there are no calls that you may see'
        : 'there are no such calls that you may see',
    ),
  )
  return 0
}

const show = async (context: CommandContext): Promise<number> => {
  const [word, ...rest] = context.words
  if (word === undefined || rest.length > 0)
    throw context.wrong('no call is named, or more than one', 'name one by its id: cordon calls list has them')
  const call = await context.store.ask('findInvocation', { id: await callIdOf(context, word) })
  context.print(call, (paint) => renderCall(call, paint, context.again(`why ${call.id}`)))
  return 0
}

const MOST_LETTERS = 20_000

const renderCall = (call: AnswerOf<'findInvocation'>, paint: Paint, why: string): string =>
  [
    ...renderFacts(
      [
        ['call', call.id],
        ['tool', `${call.tool}, version ${String(call.toolVersion)}, of the class ${call.egressClass}`],
        ['state', stateOf(call)],
        ['agent', whoOf(call)],
        ['asked', `${call.createdAt}, ${renderSpan(Date.now() - Date.parse(call.createdAt))} ago`],
        ...(call.startedAt === null
          ? []
          : [['began', `${call.startedAt}${call.runner === null ? '' : ` by ${call.runner}`}`] as const]),
        ...(call.completedAt === null
          ? []
          : [['ended', `${call.completedAt}${tookOf(call) === '' ? '' : `, after ${tookOf(call)}`}`] as const]),
        ...(call.error === null ? [] : [['error', call.error] as const]),
        ...renderUsage(call.usage),
      ],
      paint,
    ),
    `  ${paint('dim', 'arguments')}`,
    ...renderQuoted(shortened(JSON.stringify(call.input, null, 2))),
    ...renderHash(call.inputHash, paint),
    ...(call.output === null
      ? []
      : [
          `  ${paint('dim', 'output')}`,
          ...renderQuoted(
            shortened(typeof call.output === 'string' ? call.output : JSON.stringify(call.output, null, 2)),
          ),
        ]),
    ...renderFacts([['why', why]], paint),
    '',
  ].join('\n')

const shortened = (text: string): string =>
  text.length <= MOST_LETTERS
    ? text
    : `${text.slice(0, MOST_LETTERS)}\n(and ${String(text.length - MOST_LETTERS)} letters more; --json has all)`

const WAIT_MS = 30_000

const cancel = async (context: CommandContext): Promise<number> => {
  const { store, words, option, wrong, print } = context
  if (words.length === 0) throw wrong('no call is named', 'name calls by their ids: cordon calls list has them')
  const wait = option('wait')
  const waitMs = wait === undefined ? WAIT_MS : parseSpan(wait)
  if (waitMs === undefined) throw wrong(`--wait needs a time such as 10s or 2m: ${wait ?? ''}`)
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

/** The id that a word means, among the last calls of the team. */
export const callIdOf = async (
  { store, team, wrong }: Pick<CommandContext, 'store' | 'team' | 'wrong'>,
  word: string,
): Promise<string> =>
  isFullId(word)
    ? word
    : idAmong(
        word,
        (await store.ask('listInvocations', { team: await team(), most: MOST })).map(({ id }) => [id]),
        { what: 'call', listedBy: 'cordon calls list', wrong },
      )
