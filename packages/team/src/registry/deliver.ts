// Delivers the completion of a call to the database. It may have arrived although its answer was lost, so it can be
// sent twice.
import { CordonError } from 'cordon/errors'
import { processUsage } from 'cordon/runtime'
import type { EndedRun } from 'cordon/runtime'
import { describeViolation } from 'cordon/sandbox'
import { monotonicMs, withoutUndefined } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { isFinal } from '../store/index.js'
import type { Completion } from '../store/index.js'
import { whileUnavailable } from './away.js'
import type { RegistryAccess, SeenCall } from './registry-access.js'

/** The database refuses the completion. A retry would not help. */
const NOT_TAKEN: ReadonlySet<string> = new Set(['store-state', 'request-too-large', 'request-invalid'])

/** No proxy refuses a smaller request for its size. */
const LARGE_BYTES = 64 * 1024
/**
 * A large result counts as refused after this many tries without an answer, over at least this time, while the server
 * answers everything else. A server that restarts looks the same for a while.
 */
const CUT_OFF = { tries: 5, forMs: 60_000 }

/**
 * Retries until the completion arrived. Throws if another runner has the call by now, or if its result cannot be kept.
 * In the second case the call is completed as failed. A proxy may silently cut off a large result: see `CUT_OFF`.
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
    unanswered = { tries: tries + 1, since: tries === 0 ? monotonicMs() : since }
    return unanswered.tries >= cutOff.tries && monotonicMs() - unanswered.since >= cutOff.forMs
  }
  return whileUnavailable(async () => {
    try {
      await complete(claimed, completion)
    } catch (error) {
      if (!(error instanceof CordonError) || !(NOT_TAKEN.has(error.code) || (await isCutOff(error)))) throw error
      const now = await find(claimed.id)
      if (now.fence !== claimed.fence || now.runner !== claimed.runner) throw error
      // Only the answer of an earlier attempt was lost.
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

const MOST_VIOLATIONS = 20

/** What the registry learns about a call: its result, its usage, and the mechanisms that enforced its boundary. */
export const completionOf = (run: EndedRun): Completion => {
  const { status, output, error, profile, violations, durationMs, bareRequests = [] } = run
  return {
    status: status === 'ok' ? 'completed' : 'failed',
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error: `${error.code}: ${error.message}` }),
    usage: {
      status,
      duration_ms: durationMs,
      ...measuredOf(run),
      // For the model. The rest is for operators.
      ...(error === undefined ? {} : { reason: error.agentMessage }),
      ...(bareRequests.length === 0 ? {} : { bare_requests: bareRequests }),
      ...(profile === null ? {} : { boundary: boundaryOf(profile, violations) }),
    },
  }
}

/** Only measured values: the database computes the cost from them, and a missing value is not zero. */
const measuredOf = ({ usage, writtenBytes, egress, profile }: EndedRun): object => {
  if (usage === null || profile === null) return {}
  // The work of a tool in the agent's own process cannot be measured.
  if (profile.mode === 'none') return { wall_ms: usage.wallMs }
  return {
    ...processUsage(usage),
    ...withoutUndefined({ peak_memory_bytes: usage.peakMemoryBytes, output_bytes: writtenBytes ?? undefined }),
    // With `network: all` no proxy counts.
    ...(profile.network === 'all'
      ? {}
      : { bytes_sent: egress?.bytes_sent ?? 0, bytes_received: egress?.bytes_received ?? 0 }),
  }
}

/** Without its paths, which are in the runner's own log. */
const boundaryOf = (profile: NonNullable<EndedRun['profile']>, violations: EndedRun['violations']): object =>
  profile.mode === 'none'
    ? { mode: profile.mode }
    : {
        mode: profile.mode,
        backend: profile.backend,
        form: profile.form,
        network: profile.network,
        enforced: profile.enforced,
        ...(violations.length === 0 ? {} : { violations: violations.slice(0, MOST_VIOLATIONS).map(describeViolation) }),
      }
