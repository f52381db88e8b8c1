// What has to reach the database, whatever happens on the way. A statement whose answer is lost may have been carried
// out, so each of these is one that can be made twice.
import { CordonError, fail } from '../../errors/index.js'
import { isFinal } from '../../store/index.js'
import type { Completion } from '../../store/index.js'

import { whileUnavailable } from './away.js'
import type { RegistryAccess, SeenCall } from './registry-access.js'

/** It was understood, and is not taken: again would be the same. */
const NOT_TAKEN: ReadonlySet<string> = new Set(['store-state', 'request-too-large', 'request-invalid'])

/** Smaller ones are refused by nobody for their size. */
const LARGE_BYTES = 64 * 1024
/**
 * Tries of a large result, one after the other, that are not answered while everything else is; and for how long at
 * least: a server that is started anew looks the same for a while.
 */
const CUT_OFF = { tries: 5, forMs: 60_000 }

/**
 * Once, whatever it takes. Fails when the call is not this one's any more, and when its result cannot be kept: then the
 * call is failed, and says why. Something on the way to a server may cut off what is too large for it, without a word:
 * a large result that is never answered, by a server that answers everything else, is not taken either.
 */
export const deliverCompletion = (
  { complete, find }: Pick<RegistryAccess, 'complete' | 'find'>,
  claimed: SeenCall,
  completion: Completion,
  enough: AbortSignal,
  cutOff = CUT_OFF,
): Promise<void> => {
  let unanswered = { tries: 0, since: 0 }
  const isCutOff = async (error: CordonError): Promise<boolean> => {
    const { tries, since } = unanswered
    unanswered = { tries: 0, since: 0 }
    if (error.code !== 'server-unavailable' || sizeOf(completion) < LARGE_BYTES) return false
    await find(claimed.id)
    unanswered = { tries: tries + 1, since: tries === 0 ? performance.now() : since }
    return unanswered.tries >= cutOff.tries && performance.now() - unanswered.since >= cutOff.forMs
  }
  return whileUnavailable(async () => {
    try {
      await complete(claimed, completion)
    } catch (error) {
      if (!(error instanceof CordonError) || !(NOT_TAKEN.has(error.code) || (await isCutOff(error)))) throw error
      const now = await find(claimed.id)
      if (now.fence !== claimed.fence || now.runner !== claimed.runner) throw error
      // Of an attempt before this one only the answer was lost.
      if (now.status === completion.status) return
      const notKept = fail('result-not-kept', { problem: error.message }, error)
      if (now.status === 'running')
        await complete(claimed, {
          status: 'failed',
          error: `${notKept.code}: ${notKept.message}`,
          usage: { status: 'failed', reason: notKept.agentMessage },
        })
      else if (!isFinal(now.status)) throw error
      throw notKept
    }
  }, enough)
}

const sizeOf = ({ output }: Completion): number => JSON.stringify(output ?? null).length
