// Whether the database still hears a process that runs calls. After a while of silence its calls may be given to
// others, so it must not go on with them. Measured by a clock that nobody sets, and from before a message is sent, so
// that the database's reckoning ends later than this one.
export interface Lease {
  /** Tries to be heard; says whether it was. */
  readonly renew: () => Promise<boolean>
  readonly isHeld: () => boolean
}

/** Some of the time is for ending what runs. */
const SHARE = 0.75
/** Of a message without an answer; the next one may go another way. */
const PATIENCE = 0.5

export const createLease = (send: () => Promise<void>, silentMs: number, now = () => performance.now()): Lease => {
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

/** Says each time that it looks, and finds the lease over, that it is. */
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
