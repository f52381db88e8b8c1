import type { JsonValue, PermissionDecision, PermissionState } from '../../gate/index.js'
import type { ManifestVerdict } from '../../manifest/index.js'
import type { CordonError } from '../../errors/index.js'
import type { UnconfinedProfile, SandboxProfile, Usage, Violation } from '../../sandbox/index.js'

import type { ProcessEnding } from '../events/process-ending.js'
import type { EgressSummary, ProcessUsage } from '../events/event.js'

/**
 * - `ok`: it ran and succeeded
 * - `failed`: it ran and failed by itself
 * - `denied`: it did not run
 * - `violated`: it touched its boundary and was stopped, or failed for that
 * - `timeout`, `cancelled`: it was ended; a call that was cancelled before it ran did not run
 * - `not_started`: it was allowed, but the boundary could not be built or the program is not there
 * - `pending`: it is suspended until somebody approves it; `resume` goes on with its ticket
 */
export type ToolStatus = 'ok' | 'failed' | 'denied' | 'violated' | 'timeout' | 'cancelled' | 'not_started' | 'pending'

interface CommonResult {
  /** Text of hooks for the model. */
  readonly context?: readonly string[]
  /** For the operator. */
  readonly facts: CallFacts
}

/** The end of a call. The model reads `output` and `reason`, the operator reads `facts`. */
export type ToolResult<Output = JsonValue> = SucceededResult<Output> | PendingResult | OtherResult

export interface SucceededResult<Output = JsonValue> extends CommonResult {
  readonly status: 'ok'
  readonly output: Output
  readonly reason?: undefined
}

export interface PendingResult extends CommonResult {
  readonly status: 'pending'
  readonly reason: string
  /** For `resume`, once somebody has answered. Whoever has it can resume the call, and approves nothing by that. */
  readonly ticket: string
  readonly approval: PendingApproval
  readonly output?: undefined
}

export interface PendingApproval {
  readonly id: string
  /** Why somebody is asked. */
  readonly reason: string
  readonly expires_at: string
  /** The call in the registry, where people answer; null without a registry. */
  readonly invocation: string | null
  /** The code that the ticket does not bind: an approval does not notice when it changes. Usually nothing. */
  readonly unbound: readonly string[]
}

export interface OtherResult extends CommonResult {
  readonly status: Exclude<ToolStatus, 'ok' | 'pending'>
  /** Short, with what the model can do. It tells nothing about the host that the model did not name itself. */
  readonly reason: string
  /** Output of a tool that ran and did not succeed. */
  readonly output?: JsonValue
}

export interface CallFacts {
  readonly call_id: string
  readonly session_id: string
  /** The manifest that the tool is held against, and whether it is within. */
  readonly manifest?: ManifestVerdict
  readonly tool: string
  /** With the rules that took part in the decision. `session.started` has all rules. */
  readonly permission_state: PermissionState
  readonly permission_decision: PermissionDecision
  /** Null when nothing ran. */
  readonly sandbox_profile: SandboxProfile | UnconfinedProfile | null
  readonly violations: readonly Violation[]
  /** Connections to granted hosts. Null without any. */
  readonly egress: EgressSummary | null
  /** Requests that went without the credential of their host, and why. */
  readonly bare_requests?: readonly string[]
  /** As in `cordon run --facts`. Null when nothing ran. */
  readonly usage: CallUsage | null
  /** `stack`: of the error that a function tool threw. */
  readonly error: {
    readonly code: string
    readonly message: string
    readonly fix: string | null
    readonly stack?: string
  } | null
  /** The text that a function tool printed. */
  readonly printed: string
  /** For calls of a registry: the id of the call there, and the runner that ran it. */
  readonly registered?: RegisteredFacts
  /** In the mode on_failure: the first attempt, which met its boundary. */
  readonly first_attempt?: CallFacts
  /** In the mode on_failure: a second attempt was not approved. */
  readonly retry?: { readonly call_id: string; readonly permission_decision: PermissionDecision }
}

export interface RegisteredFacts {
  readonly invocation: string
  /** The runner on another host that ran it. Null if this process did. */
  readonly runner: string | null
  /** The boundary that this runner reports. */
  readonly boundary: JsonValue
}

export interface CallUsage extends ProcessUsage {
  /** Null without a cgroup. */
  readonly peak_memory_bytes: number | null
}

/** Output of a running tool. */
export interface ToolOutput {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** A line of a function tool's logger. */
export interface ToolLog {
  readonly level: LogLevel
  readonly message: string
  readonly data?: JsonValue
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Log lines are also kept in `printed`. */
export const renderLog = ({ level, message, data }: ToolLog): string =>
  `[${level}] ${message}${data === undefined ? '' : ` ${JSON.stringify(data)}`}\n`

/** How the run of a tool ended. */
export interface Execution {
  readonly status: Exclude<ToolStatus, 'denied' | 'pending'>
  readonly output: JsonValue | undefined
  readonly error: CordonError | undefined
  /** Recorded as the reason if `error` is undefined. */
  readonly reason?: string
  readonly profile: SandboxProfile | UnconfinedProfile
  readonly violations: readonly Violation[]
  readonly usage: Usage | null
  /** Bytes that its process wrote to stdout and stderr. Null without a process of its own. */
  readonly writtenBytes: number | null
  readonly printed: string
  /** Null without a process of its own. */
  readonly ending: ProcessEnding | null
}
