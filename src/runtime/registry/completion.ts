import { describeViolation } from '../../sandbox/index.js'
import type { Completion } from '../../store/index.js'

import type { Outcome } from '../call-outcome.js'

export type EndedRun = Pick<
  Outcome,
  | 'status'
  | 'output'
  | 'error'
  | 'usage'
  | 'writtenBytes'
  | 'egress'
  | 'bareRequests'
  | 'profile'
  | 'violations'
  | 'durationMs'
>

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
    // What a model may read of it; the rest is for operators.
    ...(error === undefined ? {} : { reason: error.agentMessage }),
    ...(bareRequests.length === 0 ? {} : { bare_requests: bareRequests }),
    ...(profile === null ? {} : { boundary: boundaryOf(profile, violations) }),
  },
})

/** Only what was measured: the database takes the cost from it, and what is missing is not the same as none. */
const measuredOf = ({
  usage,
  writtenBytes,
  egress,
  profile,
}: Pick<EndedRun, 'usage' | 'writtenBytes' | 'egress' | 'profile'>): object => {
  if (usage === null || profile === null) return {}
  // In the agent's own process nobody can tell its work from the agent's.
  if (profile.mode === 'none') return { wall_ms: usage.wallMs }
  return {
    wall_ms: usage.wallMs,
    cpu_ms: usage.cpuMs,
    max_rss_bytes: usage.maxResidentBytes,
    ...(usage.peakMemoryBytes === undefined ? {} : { peak_memory_bytes: usage.peakMemoryBytes }),
    ...(writtenBytes === null ? {} : { output_bytes: writtenBytes }),
    // All of the network is reached past the proxy, which counts.
    ...(profile.network === 'all'
      ? {}
      : { bytes_sent: egress?.bytes_sent ?? 0, bytes_received: egress?.bytes_received ?? 0 }),
  }
}

/** Without its paths, which every record of the runner's own log has. */
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
