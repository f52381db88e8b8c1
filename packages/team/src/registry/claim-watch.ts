import { setTimeout } from 'node:timers/promises'

import { fail } from '../errors/errors.js'
import type { Invocation } from '../store/index.js'

type Watched = Pick<Invocation, 'fence' | 'status' | 'isCancelRequested'>

/** Most calls end before. They need not ask whether somebody cancelled them. */
const FIRST_LOOK_MS = 250

/** Ends a claimed call when somebody cancels it, or when the registry gives it to another runner. Stops at `over`. */
export const watchClaim = (
  { fence }: Pick<Watched, 'fence'>,
  wait: (until: (now: Watched) => boolean, signal: AbortSignal) => Promise<unknown>,
  ended: AbortController,
  over: AbortSignal,
): void => {
  const isNotOurs = (now: Watched) => now.isCancelRequested || now.fence !== fence || now.status !== 'running'
  // If the watch fails, the lease ends the call: the heartbeats do not arrive either.
  const watched = async (): Promise<void> => {
    await setTimeout(FIRST_LOOK_MS, undefined, { signal: over, ref: false })
    await wait(isNotOurs, over)
  }
  void watched().then(
    () => {
      ended.abort(fail('cancelled', {}))
    },
    () => undefined,
  )
}
