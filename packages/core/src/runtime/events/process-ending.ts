import { isIntrusion } from '../../sandbox/index.js'
import type { Ending, LimitKind, Usage, Violation } from '../../sandbox/index.js'

import type { EventDraft, ProcessUsage } from './event.js'

/** How the process of a call ended, for its record. */
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
  // After an intrusion Cordon kills the tool with SIGKILL. With any other signal the tool crashed by itself.
  const because = ending.signal === SIGKILL && violations.some(isIntrusion) ? 'violation' : 'signal'
  return { kind: 'terminated', because, limit: null, signal: ending.signal }
}

export const endedBy = (because: 'cancelled' | 'setup'): ProcessEnding => ({
  kind: 'terminated',
  because,
  limit: null,
  signal: null,
})

/** The ids in every event of a call. */
export interface CallIds {
  readonly call_id: string
  readonly tool: string
  readonly decision_id: string
}

export const processUsage = ({ wallMs, cpuMs, maxResidentBytes }: Usage): ProcessUsage => ({
  wall_ms: wallMs,
  cpu_ms: cpuMs,
  max_rss_bytes: maxResidentBytes,
})

export const processEnded = (ids: CallIds, ending: ProcessEnding, usage: Usage | null): EventDraft => {
  const used = usage === null ? null : processUsage(usage)
  if (ending.kind === 'completed')
    return { type: 'process.completed', ...ids, exit_code: ending.exitCode, usage: used ?? NOT_MEASURED }
  const { because, limit, signal } = ending
  return { type: 'process.terminated', ...ids, because, limit, signal, usage: used }
}

const NOT_MEASURED: ProcessUsage = { wall_ms: 0, cpu_ms: 0, max_rss_bytes: 0 }
