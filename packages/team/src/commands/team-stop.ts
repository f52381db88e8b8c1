// Stops a team or a part of it, and cancels or lists its running calls.
import { setTimeout as sleep } from 'node:timers/promises'
import { visible } from 'cordon/commands'
import type { Paint } from 'cordon/commands'
import { CordonError } from 'cordon/errors'

import type { CommandContext } from '../options/store-command.js'
import type { RequestOf, StoreAccess } from '../store/index.js'
import { describeCancelled, renderCalls, waitOf, cancelCalls } from './calls.js'
import type { CancelledCall, Cancelling } from './calls.js'

/** The named part of a team, or all of it. */
export const scopeOf = ({ option, wrong }: CommandContext): Pick<RequestOf<'stop'>, 'scope' | 'subject'> => {
  const named = (['agent', 'tool', 'profile'] as const).flatMap((scope) => {
    const subject = option(scope)
    return subject === undefined ? [] : [{ scope, subject }]
  })
  if (named.length > 1) throw wrong('name one of --agent, --tool and --profile')
  return named[0] ?? { scope: 'all', subject: '' }
}

export const stop = (context: CommandContext): Promise<number> => stopAs(context, 'kill')
export const pause = (context: CommandContext): Promise<number> => stopAs(context, 'pause')

const stopAs = async (context: CommandContext, state: 'kill' | 'pause'): Promise<number> => {
  const { store, option, switches, print, wrong } = context
  const reason = option('reason')
  if (reason === undefined) throw wrong('there is no reason', 'say why: --reason TEXT')
  if (state === 'pause' && switches.has('cancel'))
    throw wrong('pause does not end running calls', 'end them: cordon team stop --cancel')
  const waitMs = waitOf(context)
  const what = scopeOf(context)
  const of = await context.team()
  await store.ask('stop', { team: of, ...what, state, reason })
  const said = (paint: Paint): string =>
    `${paint('red', state === 'kill' ? 'stopped' : 'paused')}: ${visible(`${what.scope} ${what.subject}`.trim())}\n`
  const running = () =>
    store.ask('listInvocations', {
      team: of,
      status: 'running',
      most: MOST_RUNNING,
      ...(what.scope === 'all' ? {} : { [what.scope]: what.subject }),
    })
  if (switches.has('cancel')) {
    const { ended, problems } = await cancelAll(store, running, { reason, waitMs })
    const isDone = problems.length === 0 && ended.every(({ status }) => status !== 'running')
    print(
      { ...what, state, reason, cancelled: ended, problems },
      (paint) =>
        `${said(paint)}${ended.map((call) => `${describeCancelled(call, paint)}\n`).join('')}${problems.map((problem) => `${paint('red', 'not cancelled')} ${visible(problem)}\n`).join('')}`,
    )
    return isDone ? 0 : EXIT_STILL_RUNS
  }
  // It is stopped, even if its running calls cannot be listed.
  const left = await running().catch((error: unknown) => {
    print({ ...what, state, reason, running: null }, (paint) => `${said(paint)}its running calls could not be listed\n`)
    throw error
  })
  return print({ ...what, state, reason, running: left.map(({ id }) => id) }, (paint) =>
    left.length === 0
      ? said(paint)
      : [
          said(paint),
          `${left.length === 1 ? 'one call still runs' : `${String(left.length)}${left.length === MOST_RUNNING ? ' or more' : ''} calls still run`}, ` +
            `which this does not end:\n`,
          renderCalls(left, paint, ''),
          `to end ${left.length === 1 ? 'it' : 'them'}: ` +
            `${context.again(`team calls cancel ${left.map(({ id }) => id).join(' ')}`)}\n`,
        ].join(''),
  )
}

const MOST_RUNNING = 1000
const LOOK_AGAIN_MS = 300
const EXIT_STILL_RUNS = 1

/** Until no new call is found, or the time is over. The second look finds calls that were claimed during the stop. */
const cancelAll = async (
  store: StoreAccess,
  running: () => Promise<readonly { readonly id: string }[]>,
  { reason, waitMs }: Cancelling,
) => {
  const until = Date.now() + waitMs
  const ended = new Map<string, CancelledCall>()
  const problems = new Map<string, string>()
  try {
    for (let look = 0; ; look += 1) {
      const ids = (await running()).map(({ id }) => id).filter((id) => !ended.has(id))
      if (look > 0 && (ids.length === 0 || Date.now() > until)) {
        for (const id of ids) if (!problems.has(id)) problems.set(id, `${id}: still runs`)
        break
      }
      problems.clear()
      for (const call of await cancelCalls(store, ids, {
        reason,
        waitMs: Math.max(0, until - Date.now()),
        onProblem: (id, { message }) => problems.set(id, `${id}: ${message}`),
      }))
        ended.set(call.id, call)
      await sleep(LOOK_AGAIN_MS)
    }
  } catch (error) {
    // What was done is reported anyway.
    if (!(error instanceof CordonError)) throw error
    problems.set('', `the running calls could not be listed: ${error.message}`)
  }
  return { ended: [...ended.values()], problems: [...problems.values()] }
}

export const resume = async (context: CommandContext): Promise<number> => {
  const what = scopeOf(context)
  await context.store.ask('resume', { team: await context.team(), ...what })
  return context.print(
    { ...what, state: 'resumed' },
    (paint) => `${paint('green', 'resumed')}: ${visible(`${what.scope} ${what.subject}`.trim())}\n`,
  )
}
