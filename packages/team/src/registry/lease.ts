// The lease of a process that runs calls. If its heartbeats do not arrive for a while, the database may give its calls
// to others, so it must end them before. Measured by a monotonic clock from before each heartbeat is sent, so that
// this lease ends before the database's.
import { setTimeout as elapsed } from 'node:timers/promises'
import { monotonicMs } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import type { Invocation } from '../store/index.js'

export const HEARTBEAT_MS = 10_000
/** After this long without a heartbeat a process loses its calls. */
export const SILENT_MS = 60_000

/** The rest of the time is for ending calls. */
const SHARE = 0.75
/** How long to wait for the answer to a heartbeat. */
const PATIENCE = 0.5

export const createLease = (
  send: () => Promise<void>,
  silentMs: number,
  now = monotonicMs,
): { readonly renew: () => Promise<boolean>; readonly isHeld: () => boolean } => {
  let heardAt = now()
  let sending: Promise<boolean> | undefined
  const attempt = async (): Promise<boolean> => {
    const sentAt = now()
    const isHeard = await inTime(send, silentMs * PATIENCE)
    if (isHeard) heardAt = sentAt
    return isHeard
  }
  return {
    /** Sends a heartbeat. Resolves to whether it arrived. */
    renew: () =>
      (sending ??= attempt().finally(() => {
        sending = undefined
      })),
    isHeld: () => now() - heardAt < silentMs * SHARE,
  }
}

/** Calls `lost` at each heartbeat while the lease is over. */
export const keepLease = (lease: ReturnType<typeof createLease>, everyMs: number, lost: () => void): NodeJS.Timeout =>
  setInterval(() => {
    void lease.renew()
    if (!lease.isHeld()) lost()
  }, everyMs)

/** Whether it succeeds in that time. */
export const inTime = (send: () => Promise<unknown>, milliseconds: number): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (isHeard: boolean) => () => {
      clearTimeout(timer)
      resolve(isHeard)
    }
    const timer = setTimeout(settle(false), milliseconds)
    send().then(settle(true), settle(false))
  })

type Watched = Pick<Invocation, 'fence' | 'status' | 'isCancelRequested'>

/** Most calls end before. They need not ask whether somebody cancelled them. */
const FIRST_LOOK_MS = 250

/** Ends a claimed call when somebody cancels it, or when the registry gives it to another runner. Stops at `over`. */
export const watchClaim = (
  { fence }: Pick<Invocation, 'fence'>,
  wait: (until: (now: Watched) => boolean, signal: AbortSignal) => Promise<unknown>,
  ended: AbortController,
  over: AbortSignal,
): void => {
  const isNotOurs = (now: Watched) => now.isCancelRequested || now.fence !== fence || now.status !== 'running'
  // If the watch fails, the lease ends the call: the heartbeats do not arrive either.
  const watched = async (): Promise<void> => {
    await elapsed(FIRST_LOOK_MS, undefined, { signal: over, ref: false })
    await wait(isNotOurs, over)
  }
  void watched().then(
    () => {
      ended.abort(fail('cancelled', {}))
    },
    () => undefined,
  )
}
