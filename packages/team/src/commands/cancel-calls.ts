// Cancels calls: withdraws pending ones, asks running ones to end, and waits for them.
import { CordonError } from 'cordon/errors'
import { withoutUndefined } from 'cordon/shapes'
import { isFinal } from '../store/index.js'
import type { AnswerOf, StoreAccess } from '../store/index.js'

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
