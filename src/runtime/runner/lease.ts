// Whether the database still hears this runner. After a while of silence its calls may be given to others, so it must not
// go on with them. Measured by a clock that nobody sets, and from before a message is sent, so that the database's
// reckoning ends later than this one.
export interface Lease {
  /** Tries to be heard; says whether it was. */
  readonly renew: () => Promise<boolean>
  readonly isHeld: () => boolean
}

/** Some of the time is for ending what runs. */
const SHARE = 0.75

export const createLease = (send: () => Promise<void>, silentMs: number, now = () => performance.now()): Lease => {
  let heardAt = now()
  let sending: Promise<boolean> | undefined
  const attempt = async (): Promise<boolean> => {
    const sentAt = now()
    try {
      await send()
      heardAt = sentAt
      return true
    } catch {
      return false
    }
  }
  return {
    renew: () => (sending ??= attempt().finally(() => { sending = undefined })),
    isHeld: () => now() - heardAt < silentMs * SHARE,
  }
}
