import { isIntrusion } from '../../sandbox/index.js'
import type { Ending, LimitKind, Usage, Violation } from '../../sandbox/index.js'

import type { EventDraft, ProcessUsage } from './event.js'

/** How the process of a call ended, as its record tells it. */
export type ProcessEnding =
  | { readonly kind: 'completed'; readonly exitCode: number }
  | {
      readonly kind: 'terminated'
      readonly because: 'limit' | 'signal' | 'cancelled' | 'violation' | 'setup'
      readonly limit: LimitKind | null
      readonly signal: number | null
    }

const SIGKILL = 9

export const processEndingOf = (ending: Ending, violations: readonly Violation[]): ProcessEnding => {
  if (ending.status === 'exited') return { kind: 'completed', exitCode: ending.exitCode }
  if (ending.status === 'limit')
    return { kind: 'terminated', because: 'limit', limit: ending.limit, signal: ending.signal }
  // Cordon kills for an intrusion with this signal. A tool that plants a hook and then crashes ended by itself.
  const because = ending.signal === SIGKILL && violations.some(isIntrusion) ? 'violation' : 'signal'
  return { kind: 'terminated', because, limit: null, signal: ending.signal }
}

export const endedBy = (because: 'cancelled' | 'setup'): ProcessEnding => ({
  kind: 'terminated',
  because,
  limit: null,
  signal: null,
})

/** What every entry of a call names. */
export interface CallIds {
  readonly call_id: string
  readonly tool: string
  readonly decision_id: string
}

export const processEnded = (ids: CallIds, ending: ProcessEnding, usage: Usage | null): EventDraft => {
  const used: ProcessUsage | null =
    usage === null ? null : { wall_ms: usage.wallMs, cpu_ms: usage.cpuMs, max_rss_bytes: usage.maxResidentBytes }
  return ending.kind === 'completed'
    ? { type: 'process.completed', ...ids, exit_code: ending.exitCode, usage: used ?? NOT_MEASURED }
    : {
        type: 'process.terminated',
        ...ids,
        because: ending.because,
        limit: ending.limit,
        signal: ending.signal,
        usage: used,
      }
}

const NOT_MEASURED: ProcessUsage = { wall_ms: 0, cpu_ms: 0, max_rss_bytes: 0 }
