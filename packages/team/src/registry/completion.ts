import { processUsage } from 'cordon/runtime'
import type { EndedRun } from 'cordon/runtime'
import { describeViolation } from 'cordon/sandbox'
import { withoutUndefined } from 'cordon/shapes'

import type { Completion } from '../store/index.js'

const MOST_VIOLATIONS = 20

/** What the registry learns about a call: its result, its usage, and the mechanisms that enforced its boundary. */
export const completionOf = ({
  status,
  output,
  error,
  profile,
  violations,
  durationMs,
  bareRequests = [],
  ...run
}: EndedRun): Completion => ({
  status: status === 'ok' ? 'completed' : 'failed',
  ...(output === undefined ? {} : { output }),
  ...(error === undefined ? {} : { error: `${error.code}: ${error.message}` }),
  usage: {
    status,
    duration_ms: durationMs,
    ...measuredOf({ ...run, profile }),
    // For the model. The rest is for operators.
    ...(error === undefined ? {} : { reason: error.agentMessage }),
    ...(bareRequests.length === 0 ? {} : { bare_requests: bareRequests }),
    ...(profile === null ? {} : { boundary: boundaryOf(profile, violations) }),
  },
})

/** Only measured values: the database computes the cost from them, and a missing value is not zero. */
const measuredOf = ({
  usage,
  writtenBytes,
  egress,
  profile,
}: Pick<EndedRun, 'usage' | 'writtenBytes' | 'egress' | 'profile'>): object => {
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
