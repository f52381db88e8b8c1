import type { CordonError } from '../errors/index.js'

import type { ApprovalGrant } from './approval/approval.js'
import type { PermissionDecision } from './record/permission-decision.js'
import type { SessionCount } from './constraints/constraints.js'
import type { JsonValue } from './input/json-value.js'
import type { Permit } from './permit/permit.js'

export interface GateCall {
  readonly callId: string
  readonly tool: string
  readonly input: unknown
  /** Why the input could not be read. The call is refused and recorded. */
  readonly inputProblem?: string
  /** Of the session of the call. */
  readonly count: SessionCount
  /** The caller, who cannot approve the call. */
  readonly requestedBy: string
  /** `command`: a person typed exactly this. That answers questions of the mode and the policy. */
  readonly origin?: 'model' | 'command'
  /** The reason of the decision for a typed command. */
  readonly typed?: string
  /** Rules that would allow it, ready to copy, if the caller knows better ones than the gate. Unused if it may run. */
  readonly waysToAllow?: () => readonly string[]
  /** The same for a call that always needs approval. */
  readonly waysToApprove?: () => readonly string[]
  readonly approvals?: readonly ApprovalGrant[]
  /** More than the policy of the tool, for this call: after a violation, on request, or no sandbox at all. */
  readonly widening?: Widening
  /** Whether somebody can be asked about this call, if that differs from other calls. */
  readonly mayAsk?: boolean
  /** Milliseconds until a question about this call expires. */
  readonly questionLifetime?: number
  /** The call does not run: an approval of one call stays unused, and the permit has expired. */
  readonly isTrial?: boolean
}

export interface Widening {
  readonly after: 'request' | 'violation' | 'unconfined'
  readonly reason: string
  /** The call that violated its boundary. */
  readonly retryOf?: string
  /** The added grants, in words. */
  readonly added?: readonly string[]
}

/** The input that the model sent, and the one that was judged and runs. */
export interface CallInputs {
  readonly model: JsonValue
  readonly call: JsonValue
  /** Of a process tool: the words that were judged and that run. */
  readonly command: readonly string[] | undefined
}

interface Evaluated {
  readonly decision: PermissionDecision
  readonly inputs: CallInputs
  /** Texts of hooks for the model. */
  readonly context: readonly string[]
}

export type Evaluation =
  | (Evaluated & { readonly kind: 'permitted'; readonly permit: Permit; readonly grant: ApprovalGrant | undefined })
  /** A hook stands in for the tool. */
  | (Evaluated & { readonly kind: 'substituted'; readonly result: JsonValue })
  | (Evaluated & { readonly kind: 'asking'; readonly why: string })
  | (Evaluated & { readonly kind: 'refused'; readonly denial: CordonError })
