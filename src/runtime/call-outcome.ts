import type { ApprovalGrant, JsonValue, PermissionDecision } from '../gate/index.js'

import type { PolicyChange } from './events/call-record.js'
import type { EgressSummary } from './events/event.js'
import type { AskedWith } from './registry/asked-with.js'
import type { Execution, RegisteredFacts, ToolOutput } from './result/tool-result.js'

/** What one call brings along. */
export interface CallHandlers {
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: unknown) => void
  readonly onOutput: ((chunk: ToolOutput) => void) | undefined
  readonly onInvocation: (id: string) => void
  /** The invocation in the store that this call goes on with. */
  readonly resume: string | undefined
  readonly askedWith: AskedWith | undefined
  /** An approval let the call run with this input. Keeps it where it holds for longer, and says what that changes. */
  readonly onApproved: (
    grant: ApprovalGrant,
    input: JsonValue,
  ) => readonly PolicyChange[] | Promise<readonly PolicyChange[]>
}

/** How a run ended, also where there was none because it could not begin. */
export interface Outcome extends Omit<Execution, 'profile'> {
  readonly profile: Execution['profile'] | null
  readonly egress: EgressSummary | null
  readonly bareRequests?: readonly string[]
  readonly durationMs: number
  readonly registered?: RegisteredFacts
  /** Replaces the permit where the call could not start. */
  readonly revised?: PermissionDecision | undefined
}

export const NOTHING_RAN = {
  ...{ output: undefined, error: undefined, profile: null, violations: [], usage: null, writtenBytes: null },
  ...{ printed: '', ending: null, egress: null, durationMs: 0 },
} as const
