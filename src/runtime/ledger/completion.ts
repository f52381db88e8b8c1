import { describeViolation } from '../../sandbox/index.js'
import type { Completion } from '../../store/index.js'

import type { Outcome } from '../call-outcome.js'

const MOST_VIOLATIONS = 20

/** What the books get to know of a run: what came of it, what it used, and what held it. */
export const completionOf = ({ status, output, error, usage, profile, violations, durationMs }: Pick<Outcome, 'status' | 'output' | 'error' | 'usage' | 'profile' | 'violations' | 'durationMs'>): Completion => ({
  status: status === 'ok' ? 'completed' : 'failed',
  ...(output === undefined ? {} : { output }),
  ...(error === undefined ? {} : { error: `${error.code}: ${error.message}` }),
  usage: {
    status,
    duration_ms: durationMs,
    ...(usage === null ? {} : { wall_ms: usage.wallMs, cpu_ms: usage.cpuMs, max_rss_bytes: usage.maxResidentBytes }),
    // What a model may read of it; the rest is for operators.
    ...(error === undefined ? {} : { reason: error.agentMessage }),
    ...(profile === null ? {} : { boundary: boundaryOf(profile, violations) }),
  },
})

/** Without its paths, which every record of the runner's own log has. */
const boundaryOf = (profile: NonNullable<Outcome['profile']>, violations: Outcome['violations']): object =>
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
