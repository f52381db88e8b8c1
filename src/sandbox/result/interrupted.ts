import type { CordonError } from '../../errors/index.js'

import type { CallResult } from '../call-result.js'

// Beside the error, not in it: the violations of a call are not part of the reason why it ended.
const results = new WeakMap<CordonError, CallResult>()

/** A call that somebody ended is refused with an error; what it had touched until then is still known. */
export const interrupted = (error: CordonError, result: CallResult): CordonError => {
  results.set(error, result)
  return error
}

/** What a call had done that was cancelled, or whose sandbox was closed; nothing of one that never ran. */
export const resultOfInterrupted = (error: CordonError): CallResult | undefined => results.get(error)
