// What happens to a call, as typed facts. The field names are those of schemas/event.schema.json.
import type { ConnectionClosed, ConnectionOpened, RequestDone } from '../../egress/index.js'
import type { DecisionKind, HookPoint, PermissionDecision, PermissionState } from '../../gate/index.js'
import type { Risk } from '../../policy/index.js'
import type { LimitKind, SandboxProfile, Violation } from '../../sandbox/index.js'

import type { EgressSummary } from './egress-tally.js'
import type { RecordedArguments } from './recorded-arguments.js'

interface EventBase<Type extends string> {
  readonly type: Type
  readonly event_id: string
  /** ISO 8601, in UTC. */
  readonly timestamp: string
  /** Of the session: 1, 2, 3, … without gaps. Of what the log says about itself: its own line. */
  readonly sequence: number
  /** Of what the log says about itself: the id of the log. */
  readonly session_id: string
  readonly call_id: string | null
  /** On whose behalf, as far as the host has said so. */
  readonly context?: EventContext
}

export interface EventContext {
  readonly request_id?: string
  readonly agent?: string
  readonly skill?: string
  readonly provider?: string
  readonly model?: string
  readonly manifest_hash?: string
}

/** A tool that stands at the centre of an event, and the decision that let it. */
interface OfCall {
  readonly tool: string
  readonly decision_id: string | null
}

export interface SessionStarted extends EventBase<'session.started'> {
  /** The session whose counts and approvals it goes on with. */
  readonly resumed_from?: string
  readonly permission_state: PermissionState
}

export interface SessionEnded extends EventBase<'session.ended'> {
  readonly reason: string
  readonly calls: number
}

/** Mode, rules or the policy of a tool are different from now on. */
export interface PolicyChanged extends EventBase<'policy.changed'> {
  readonly change: 'mode' | 'rules' | 'tools' | 'policy' | 'approval'
  readonly because: string
  readonly tool: string | null
  readonly policy_hash: string | null
  readonly permission_state: PermissionState
}

export interface PermissionEvaluated extends EventBase<'permission.evaluated'> {
  readonly permission_decision: PermissionDecision
  readonly arguments: RecordedArguments
}

/** Somebody, or something, is asked. */
export interface PermissionRequested extends EventBase<'permission.requested'>, OfCall {
  readonly approval_action_id: string
  readonly reason: string
  readonly arguments_hash: string | null
  readonly expires_at: string | null
}

export const RESOLUTIONS = ['allowed', 'denied', 'modified', 'escalated', 'timed_out', 'cancelled', 'unavailable'] as const

export interface PermissionResolved extends EventBase<'permission.resolved'>, OfCall {
  readonly approval_action_id: string
  readonly resolution: (typeof RESOLUTIONS)[number]
  /** Who answered; null where nobody did. */
  readonly by: string | null
  readonly reason: string | null
  readonly scope: 'call' | 'session'
  readonly decision: DecisionKind
}

export interface SandboxApplied extends EventBase<'sandbox.applied'>, OfCall {
  readonly sandbox_profile: SandboxProfile
}

export interface SandboxViolation extends EventBase<'sandbox.violation'>, OfCall {
  /** The entry of `violation_refs` in the profile. */
  readonly violation_ref: string
  readonly violation: Violation
  readonly description: string
}

export interface ToolCalled extends EventBase<'tool.called'>, OfCall {
  readonly arguments: RecordedArguments
  readonly risk: Risk
  readonly policy_hash: string | null
}

export interface ToolDenied extends EventBase<'tool.denied'>, OfCall {
  readonly reason: string
  /** An entry of docs/errors.md. */
  readonly error_code: string | null
  readonly risk: Risk | null
  readonly used_declared_capability: boolean
}

export const COMPLETIONS = ['ok', 'failed', 'violated', 'timeout', 'cancelled', 'not_started'] as const

export interface ToolCompleted extends EventBase<'tool.completed'>, OfCall {
  readonly status: (typeof COMPLETIONS)[number]
  readonly reason: string | null
  readonly error_code: string | null
  /** What the call gave back, by its hash. */
  readonly result_hash: string | null
  readonly result_bytes: number | null
  readonly duration_ms: number
}

interface OfHook {
  readonly hook: string
  readonly point: HookPoint
  readonly tool: string | null
}

export interface HookStarted extends EventBase<'hook.started'>, OfHook {}

export interface HookCompleted extends EventBase<'hook.completed'>, OfHook {
  /** `continue`, `allow`, `ask`, `deny`, `block`; what else it did stands in `effects`. */
  readonly decision: string
  readonly effects: readonly ('input' | 'output' | 'result' | 'context' | 'suppressed')[]
  readonly reason: string | null
  readonly audit_refs: readonly string[]
  readonly duration_ms: number
}

export interface HookFailed extends EventBase<'hook.failed'>, OfHook {
  readonly problem: string
  readonly duration_ms: number
}

/** Programs are named; their arguments are recorded by hash, like those of the call. */
export interface ProcessStarted extends EventBase<'process.started'>, OfCall {
  readonly program: string
  readonly arguments: RecordedArguments
  readonly cwd: string
}

export interface ProcessUsage {
  readonly wall_ms: number
  readonly cpu_ms: number
  readonly max_rss_bytes: number
}

/** It ended by itself. */
export interface ProcessCompleted extends EventBase<'process.completed'>, OfCall {
  readonly exit_code: number
  readonly usage: ProcessUsage
}

/** It was ended. */
export interface ProcessTerminated extends EventBase<'process.terminated'>, OfCall {
  readonly because: 'limit' | 'signal' | 'cancelled' | 'violation' | 'setup'
  readonly limit: LimitKind | null
  readonly signal: number | null
  readonly usage: ProcessUsage | null
}

/** Fields of a connection or a request, as the proxy tells them. */
type OfEgress<Told> = Omit<Told, 'type' | 'call_id'>

/** Before anything is sent to anybody: a connection that cannot be recorded is closed. */
export interface EgressOpened extends EventBase<'egress.opened'>, OfCall, OfEgress<ConnectionOpened> {}

/** A request and its answer, when both have passed. The path has no query. Credentials appear as ids. */
export interface EgressRequest extends EventBase<'egress.request'>, OfCall, OfEgress<RequestDone> {}

export interface EgressClosed extends EventBase<'egress.closed'>, OfCall, OfEgress<ConnectionClosed> {}

/**
 * Beyond a number of entries the network of a call is only summed up. Told twice: when that begins, without a sum, and
 * when the call has ended.
 */
export interface EgressSummed extends EventBase<'egress.summed'>, OfCall {
  /** Those that the call has one by one. */
  readonly entries: number
  readonly sum: EgressSummary | null
}

/** The first line of a log, and of every file that goes on with it. */
export interface AuditBegan extends EventBase<'audit.began'> {
  /** 1 for the first file. */
  readonly file: number
}

/** A writer was killed, or the machine stopped, in the middle of writing. */
export interface AuditRepaired extends EventBase<'audit.repaired'> {
  /** Whole lines that the anchor did not know of. */
  readonly adopted_lines: number
  /** What was left of a line that was not finished, and where it was put. */
  readonly torn_bytes: number
  readonly torn_hash: string | null
  readonly torn_file: string | null
  /** Lines that were not on the disk yet when the machine stopped. */
  readonly lost_lines: number
}

export type CordonEvent =
  | SessionStarted
  | SessionEnded
  | PolicyChanged
  | PermissionEvaluated
  | PermissionRequested
  | PermissionResolved
  | SandboxApplied
  | SandboxViolation
  | ToolCalled
  | ToolDenied
  | ToolCompleted
  | HookStarted
  | HookCompleted
  | HookFailed
  | ProcessStarted
  | ProcessCompleted
  | ProcessTerminated
  | EgressOpened
  | EgressRequest
  | EgressClosed
  | EgressSummed
  | AuditBegan
  | AuditRepaired

export type EventType = CordonEvent['type']
export type EventOf<Type extends EventType> = Extract<CordonEvent, { readonly type: Type }>

export const EVENT_TYPES = [
  ...(['session.started', 'session.ended', 'policy.changed'] as const),
  ...(['permission.evaluated', 'permission.requested', 'permission.resolved'] as const),
  ...(['sandbox.applied', 'sandbox.violation', 'tool.called', 'tool.denied', 'tool.completed'] as const),
  ...(['hook.started', 'hook.completed', 'hook.failed'] as const),
  ...(['process.started', 'process.completed', 'process.terminated'] as const),
  ...(['egress.opened', 'egress.request', 'egress.closed', 'egress.summed'] as const),
  ...(['audit.began', 'audit.repaired'] as const),
] as const satisfies readonly EventType[]

/** What the stream adds. */
type Given = 'event_id' | 'timestamp' | 'sequence' | 'session_id'

type DraftOf<Event> = Event extends CordonEvent ? Omit<Event, Given> : never

/** An event before the stream has numbered it. What the log says about itself is not for others to say. */
export type EventDraft = DraftOf<Exclude<CordonEvent, AuditBegan | AuditRepaired>>
