// Cancels calls: withdraws pending ones, asks running ones to end, and waits for them.
import { CordonError } from '../../errors/index.js'
import type { AnswerOf, StoreAccess } from '../../store/index.js'

type Status = AnswerOf<'findInvocation'>['status']

export interface CancelledCall {
  readonly id: string
  /** `running`: it was told to end, and has not by now. */
  readonly status: Status
  /** It had ended before anybody cancelled it. */
  readonly wasOver: boolean
}

export interface Cancelling {
  readonly reason: string | undefined
  readonly waitMs: number
  /** Told of a call that could not be cancelled, and the others are; without it the first of them is thrown. */
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
  // One after the other: a server has room for so many requests of one caller that wait.
  for (const call of told)
    ended.push(call.status === 'running' ? { ...call, status: await waitForEnd(store, call.id, reason, until) } : call)
  return ended
}

const cancelOne = async (store: StoreAccess, id: string, reason: string | undefined): Promise<CancelledCall> => {
  try {
    return {
      id,
      ...(await store.ask('cancelInvocation', { id, ...(reason === undefined ? {} : { reason }) })),
      wasOver: false,
    }
  } catch (error) {
    if (!(error instanceof CordonError) || error.code !== 'store-state') throw error
    const { status } = await store.ask('findInvocation', { id })
    if (status === 'pending' || status === 'approved' || status === 'running') throw error
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
    const seen = await store.follow('findInvocation', { id }, { waitMs, ...(known === undefined ? {} : { known }) })
    const status = seen?.answer.status ?? 'running'
    // Its runner was lost meanwhile: it would be asked about, or run, again.
    if (status === 'pending' || status === 'approved') return (await cancelOne(store, id, reason)).status
    if (status !== 'running') return status
    if (waitMs === 0) return 'running'
    known = seen?.mark ?? known
  }
}
