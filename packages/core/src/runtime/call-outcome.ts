import type { ApprovalAnswer, ApprovalGrant, JsonValue, PermissionDecision } from '../gate/index.js'
import type { CallTurn } from './call/call-turns.js'
import type { PolicyChange } from './events/call-record.js'
import type { EgressSummary } from './events/event.js'
import type { Execution, RegisteredFacts, ToolLog, ToolOutput } from './result/tool-result.js'
import type { Ticket } from './suspend/ticket.js'

/** The caller's options and listeners of one call. */
export interface CallHandlers {
  /** The name of its session. */
  readonly session: string
  /** The caller does not wait for an approval: it gets a ticket. */
  readonly isSuspending: boolean
  /** A suspended call that goes on. */
  readonly resumed: { readonly ticket: Ticket; readonly answer: ApprovalAnswer | undefined } | undefined
  readonly signal: AbortSignal | undefined
  /** Undefined for a call that takes no turn. */
  readonly turn?: CallTurn | undefined
  readonly onProgress: (value: unknown) => void
  readonly onOutput: ((chunk: ToolOutput) => void) | undefined
  readonly onLog: (line: ToolLog) => void
  readonly onInvocation: (id: string) => void
  /** The id of the registry's call that this call continues. */
  readonly resume: string | undefined
  readonly askedWith: AskedWith | undefined
  /** For the server of an MCP tool. */
  readonly attachment: unknown
  /** Keeps an approval that holds for longer than this call, and returns what that changes. */
  readonly onApproved: (
    grant: ApprovalGrant,
    input: JsonValue,
  ) => readonly PolicyChange[] | Promise<readonly PolicyChange[]>
}

const ignore = (): void => undefined

/** Of a call that is not suspended, whose approvals hold for it alone, and that no registry knows. */
export const NOBODY_LISTENS: Omit<CallHandlers, 'session'> = {
  isSuspending: false,
  resumed: undefined,
  signal: undefined,
  onProgress: ignore,
  onOutput: undefined,
  onLog: ignore,
  onInvocation: ignore,
  resume: undefined,
  askedWith: undefined,
  attachment: undefined,
  onApproved: () => [],
}

/** How the run of a call ended, or why it could not begin. */
export interface CallOutcome extends Omit<Execution, 'profile'> {
  readonly profile: Execution['profile'] | null
  readonly egress: EgressSummary | null
  readonly bareRequests?: readonly string[]
  readonly durationMs: number
  readonly registered?: RegisteredFacts
  /** An error that is not Cordon's own. The caller gets it after the end of the call is recorded. */
  readonly unexpected?: { readonly error: unknown }
  /** For a call that could not start: replaces its permit. */
  readonly revised?: PermissionDecision | undefined
}

export const NOTHING_RAN = {
  output: undefined,
  error: undefined,
  profile: null,
  violations: [],
  usage: null,
  writtenBytes: null,
  printed: '',
  ending: null,
  egress: null,
  durationMs: 0,
} as const

/** What a new call tells the registry besides its input. */
export interface AskedWith {
  /** The run of the team that the call belongs to; it must be approved and open. */
  readonly run?: string
  /** Which step of the run it is. */
  readonly step?: string
  /** Expected cost. It is reserved in budgets until the real cost is known. */
  readonly costEstimate?: number
  /** How long it may wait for people and for its start (default: an hour). */
  readonly validMs?: number
}
