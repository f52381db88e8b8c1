// The lease of a process that runs calls. If its heartbeats do not arrive for a while, the database may give its calls
// to others, so it must end them before. Measured by a monotonic clock from before each heartbeat is sent, so that
// this lease ends before the database's.
import { monotonicMs } from 'cordon/shapes'

export interface Lease {
  /** Sends a heartbeat. Resolves to whether it arrived. */
  readonly renew: () => Promise<boolean>
  readonly isHeld: () => boolean
}

/** The rest of the time is for ending calls. */
const SHARE = 0.75
/** How long to wait for the answer to a heartbeat. */
const PATIENCE = 0.5

export const createLease = (send: () => Promise<void>, silentMs: number, now = monotonicMs): Lease => {
  let heardAt = now()
  let sending: Promise<boolean> | undefined
  const attempt = async (): Promise<boolean> => {
    const sentAt = now()
    const isHeard = await within(send, silentMs * PATIENCE)
    if (isHeard) heardAt = sentAt
    return isHeard
  }
  return {
    renew: () =>
      (sending ??= attempt().finally(() => {
        sending = undefined
      })),
    isHeld: () => now() - heardAt < silentMs * SHARE,
  }
}

/** Calls `lost` at each heartbeat while the lease is over. */
export const keepLease = (lease: Lease, everyMs: number, lost: () => void): NodeJS.Timeout =>
  setInterval(() => {
    void lease.renew()
    if (!lease.isHeld()) lost()
  }, everyMs)

const within = (send: () => Promise<void>, milliseconds: number): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (isHeard: boolean) => () => {
      clearTimeout(timer)
      resolve(isHeard)
    }
    const timer = setTimeout(settle(false), milliseconds)
    send().then(settle(true), settle(false))
  })
