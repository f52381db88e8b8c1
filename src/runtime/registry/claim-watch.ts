import { fail } from '../../errors/index.js'
import type { Invocation } from '../../store/index.js'

type Watched = Pick<Invocation, 'fence' | 'status' | 'isCancelRequested'>

/** Ends a call that was claimed as soon as somebody cancelled it, or it is another's; until `over`. */
export const watchClaim = (
  { fence }: Pick<Watched, 'fence'>,
  wait: (until: (now: Watched) => boolean, signal: AbortSignal) => Promise<unknown>,
  ended: AbortController,
  over: AbortSignal,
): void => {
  const isNotOurs = (now: Watched) => now.isCancelRequested || now.fence !== fence || now.status !== 'running'
  // A watch that fails leaves it to the lease: who cannot ask is not heard either.
  void wait(isNotOurs, over).then(
    () => {
      ended.abort(fail('cancelled', {}))
    },
    () => undefined,
  )
}
