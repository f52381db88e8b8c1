// Stopping a team or a part of it, and what of it runs still.
import { setTimeout as sleep } from 'node:timers/promises'

import type { StoreAccess } from '../store/index.js'

import { describeCancelled, renderCalls } from './calls.js'
import { cancelCalls } from './cancel-calls.js'
import type { CancelledCall, Cancelling } from './cancel-calls.js'
import type { Paint } from './console-text.js'
import type { CommandDesk } from './store-command.js'
import { parseSpan } from './time-words.js'
import { visible } from './visible-text.js'

/** Which part of a team; all of it unless one is named. */
export const scopeOf = ({ option, wrong }: CommandDesk): { readonly scope: 'all' | 'agent' | 'tool' | 'profile'; readonly subject: string } => {
  const named = (['agent', 'tool', 'profile'] as const).flatMap((scope) => {
    const subject = option(scope)
    return subject === undefined ? [] : [{ scope, subject }]
  })
  if (named.length > 1) throw wrong('name one of --agent, --tool and --profile')
  return named[0] ?? { scope: 'all', subject: '' }
}

export const stop = (desk: CommandDesk): Promise<number> => stopAs(desk, 'kill')
export const pause = (desk: CommandDesk): Promise<number> => stopAs(desk, 'pause')

const stopAs = async (desk: CommandDesk, state: 'kill' | 'pause'): Promise<number> => {
  const { store, option, switches, print, wrong } = desk
  const [reason, wait] = [option('reason'), option('wait')]
  if (reason === undefined) throw wrong('say why with --reason')
  if (state === 'pause' && switches.has('cancel')) throw wrong('pause lets what runs go on; stop --cancel ends it')
  const waitMs = wait === undefined ? CANCEL_MS : parseSpan(wait)
  if (waitMs === undefined) throw wrong(`--wait needs a time such as 10s or 2m: ${wait ?? ''}`)
  const what = scopeOf(desk)
  const of = await desk.team()
  await store.ask('stop', { team: of, ...what, state, reason })
  const said = (paint: Paint): string => `${paint('red', state === 'kill' ? 'stopped' : 'paused')}: ${visible(`${what.scope} ${what.subject}`.trim())}\n`
  const running = () => store.ask('listInvocations', { team: of, status: 'running', most: MOST_RUNNING, ...(what.scope === 'all' ? {} : { [what.scope]: what.subject }) })
  if (switches.has('cancel')) {
    const ended = await cancelAll(store, running, { reason, waitMs })
    const left = ended.filter(({ status }) => status === 'running')
    print({ ...what, state, reason, cancelled: ended }, (paint) => `${said(paint)}${ended.map((call) => `${describeCancelled(call, paint)}\n`).join('')}`)
    return left.length === 0 ? 0 : EXIT_STILL_RUNS
  }
  const left = await running()
  print({ ...what, state, reason, running: left.map(({ id }) => id) }, (paint) => (left.length === 0 ? said(paint) : [
    said(paint),
    `${left.length === 1 ? 'one call still runs' : `${String(left.length)}${left.length === MOST_RUNNING ? ' or more' : ''} calls still run`}, which this does not end:\n`,
    renderCalls(left, paint, ''),
    `to end ${left.length === 1 ? 'it' : 'them'}: ${desk.again(`calls cancel ${left.map(({ id }) => id).join(' ')}`)}\n`,
  ].join('')))
  return 0
}

const MOST_RUNNING = 1000
const CANCEL_MS = 30_000
const LOOK_AGAIN_MS = 300
const EXIT_STILL_RUNS = 1

/** Until none is left or the time is over: one that was being claimed while everything was stopped is seen at the second look. */
const cancelAll = async (store: StoreAccess, running: () => Promise<readonly { readonly id: string }[]>, { reason, waitMs }: Cancelling): Promise<readonly CancelledCall[]> => {
  const until = Date.now() + waitMs
  const ended = new Map<string, CancelledCall>()
  for (let look = 0; look < 2; look += 1) {
    if (look > 0) await sleep(LOOK_AGAIN_MS)
    const ids = (await running()).map(({ id }) => id).filter((id) => !ended.has(id))
    for (const call of await cancelCalls(store, ids, { reason, waitMs: Math.max(0, until - Date.now()) })) ended.set(call.id, call)
  }
  return [...ended.values()]
}

export const resume = async (desk: CommandDesk): Promise<number> => {
  const what = scopeOf(desk)
  await desk.store.ask('resume', { team: await desk.team(), ...what })
  desk.print({ ...what, state: 'resumed' }, (paint) => `${paint('green', 'resumed')}: ${visible(`${what.scope} ${what.subject}`.trim())}\n`)
  return 0
}
