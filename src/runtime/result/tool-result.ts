import type { JsonValue, PermissionDecision, PermissionState } from '../../gate/index.js'
import type { CordonError } from '../../errors/index.js'
import type { InProcessProfile, SandboxProfile, Usage, Violation } from '../../sandbox/index.js'

import type { ProcessEnding } from '../events/process-ending.js'
import type { EgressSummary } from '../events/event.js'

/**
 * - `ok`: it ran and succeeded
 * - `failed`: it ran and failed by itself
 * - `denied`: it did not run
 * - `violated`: it touched its boundary and was stopped, or failed for that
 * - `timeout`, `cancelled`: it was ended; a call that was cancelled before it ran did not run
 * - `not_started`: it was allowed, but the boundary could not be built or the program is not there
 */
export type ToolStatus = 'ok' | 'failed' | 'denied' | 'violated' | 'timeout' | 'cancelled' | 'not_started'

/** What a call came to: for the model `output` and `reason`, for the operator `facts`. */
export interface ToolResult {
  readonly status: ToolStatus
  readonly output?: JsonValue
  /** Short, something to act on, and nothing about the host that the model did not say itself. */
  readonly reason?: string
  /** What hooks want the model to read beside the result. */
  readonly context?: readonly string[]
  readonly facts: CallFacts
}

export interface CallFacts {
  readonly call_id: string
  readonly session_id: string
  readonly tool: string
  readonly permission_state: PermissionState
  readonly permission_decision: PermissionDecision
  /** Null when nothing ran. */
  readonly sandbox_profile: SandboxProfile | InProcessProfile | null
  readonly violations: readonly Violation[]
  /** What it reached of the hosts that are granted; null where it connected to none. */
  readonly egress: EgressSummary | null
  /** Requests that went without the credential of their host, and why, in words; left out where there was none. */
  readonly bare_requests?: readonly string[]
  /** In the words of `cordon run --facts`; null when nothing ran. */
  readonly usage: CallUsage | null
  readonly error: { readonly code: string; readonly message: string; readonly fix: string | null } | null
  /** What a function tool printed. */
  readonly printed: string
  /** For calls of a registry: the id of the call there, and the runner that ran it. */
  readonly registered?: RegisteredFacts
  /** In the mode on_failure: the attempt before this one, which met its boundary. */
  readonly first_attempt?: CallFacts
  /** In the mode on_failure: that it should run again with more was not approved. */
  readonly retry?: { readonly call_id: string; readonly permission_decision: PermissionDecision }
}

export interface RegisteredFacts {
  readonly invocation: string
  /** The runner on another host that ran it; null where this process did, or nobody. */
  readonly runner: string | null
  /** What held it there, as that runner says. */
  readonly boundary: JsonValue
}

export interface CallUsage {
  readonly wall_ms: number
  readonly cpu_ms: number
  readonly max_rss_bytes: number
  /** Where a cgroup counted, otherwise null. */
  readonly peak_memory_bytes: number | null
}

/** Something that a tool wrote while it ran. */
export interface ToolOutput {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** How a tool's run ended, whatever kind of tool it is. */
export interface Execution {
  readonly status: Exclude<ToolStatus, 'denied'>
  readonly output: JsonValue | undefined
  readonly error: CordonError | undefined
  /** For the record, of an ending that is no error of Cordon. */
  readonly reason?: string
  readonly profile: SandboxProfile | InProcessProfile
  readonly violations: readonly Violation[]
  readonly usage: Usage | null
  /** What its process wrote to its output and its error output; null where it had none of its own. */
  readonly writtenBytes: number | null
  readonly printed: string
  /** Null where there was no process of its own. */
  readonly ending: ProcessEnding | null
}
