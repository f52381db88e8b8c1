import type { CordonError } from '../errors/index.js'

import type { ApprovalGrant } from './approval/approval.js'
import type { PermissionDecision } from './record/permission-decision.js'
import type { SessionCount } from './constraints/session-count.js'
import type { JsonValue } from './input/json-value.js'
import type { Permit } from './permit/permit.js'

/** A call that somebody wants to make. */
export interface GateCall {
  readonly callId: string
  readonly tool: string
  readonly input: unknown
  readonly session: SessionCount
  /** Who makes it; the same cannot approve it. */
  readonly requestedBy: string
  /** `command`: a person typed exactly this, and thereby approves what only the mode or the policy would ask about. */
  readonly origin?: 'model' | 'command'
  /** Of such a call: what was typed, for the reason of the decision. */
  readonly typed?: string
  /** A rule that would allow it, ready to copy, if the caller knows it better than the gate. */
  readonly waysToAllow?: readonly string[]
  /** The same for what a person has to approve whatever rules say. */
  readonly waysToApprove?: readonly string[]
  readonly approvals?: readonly ApprovalGrant[]
  /** The policy of the tool is one that was widened for this call, after a violation or on request. */
  readonly widening?: Widening
  /** Nothing runs on it: an approval for one call stays unused, and the permit is none. */
  readonly isTrial?: boolean
}

export interface Widening {
  readonly after: 'request' | 'violation'
  readonly reason: string
  /** The call that met its boundary. */
  readonly retryOf?: string
  /** What is granted beyond the policy, in words. */
  readonly added?: readonly string[]
}

/** What came in, what was judged, and what runs. The first is never changed. */
export interface CallInputs {
  readonly model: JsonValue
  readonly permission: JsonValue
  readonly call: JsonValue
  /** Of a process tool: the words that were judged, and so the words to execute. */
  readonly command: readonly string[] | undefined
}

interface Evaluated {
  readonly decision: PermissionDecision
  readonly inputs: CallInputs
  /** What hooks want the model to read. */
  readonly context: readonly string[]
}

export type Evaluation =
  | (Evaluated & { readonly kind: 'permitted'; readonly permit: Permit; readonly grant: ApprovalGrant | undefined })
  /** A hook stands in for the tool. */
  | (Evaluated & { readonly kind: 'substituted'; readonly result: JsonValue })
  | (Evaluated & { readonly kind: 'asking'; readonly why: string })
  | (Evaluated & { readonly kind: 'refused'; readonly denial: CordonError })
