import type { CordonError } from '../errors/index.js'

import type { ApprovalGrant } from './approval/approval.js'
import type { CallInputs, GateCall, Widening } from './call.js'
import { explainRules, refsOf } from './record/explain-rules.js'
import type { DecisionKind, DecisionSource } from './record/decision-kinds.js'
import type { ExplainedStep, PermissionDecision } from './record/permission-decision.js'
import type { JsonValue } from './input/json-value.js'
import type { Mode } from './rules/modes.js'
import type { RuleVerdict } from './rules/rule-index.js'
import type { DestructiveFacts, GateTool } from './tool.js'

/** A decision in the making: what was found out so far, whatever it will come to. */
export interface Draft {
  readonly call: GateCall
  readonly tool: GateTool | undefined
  readonly model: JsonValue
  /** What is being judged; what the model sent, until it has been parsed. */
  readonly input: JsonValue
  readonly command: readonly string[] | undefined
  readonly argumentsHash: string | null
  readonly argumentBytes: number
  readonly isEdited: boolean
  readonly usedDeclaredCapability: boolean
  readonly rules: RuleVerdict
  readonly destructive: DestructiveFacts | undefined
  readonly context: readonly string[]
  readonly steps: readonly ExplainedStep[]
  readonly round: number
}

const NO_VERDICT: RuleVerdict = { effect: 'unmatched', deciding: [], overruled: [], locked: [], untrusted: [] }

export const startDraft = (call: GateCall, tool: GateTool | undefined, model: JsonValue): Draft => ({
  call,
  tool,
  model,
  input: model,
  command: undefined,
  argumentsHash: null,
  argumentBytes: 0,
  isEdited: false,
  usedDeclaredCapability: false,
  rules: NO_VERDICT,
  destructive: undefined,
  context: [],
  steps: [],
  round: 1,
})

/**
 * A step further: what it was, what came of it, and what was found out by it. Field by field, because
 * spreading an object that large takes longer than the step itself.
 */
export const withStep = (
  draft: Draft,
  step: ExplainedStep['step'],
  outcome: string,
  found: Partial<Draft> = {},
): Draft => ({
  call: draft.call,
  tool: draft.tool,
  model: draft.model,
  input: draft.input,
  command: draft.command,
  argumentsHash: draft.argumentsHash,
  argumentBytes: draft.argumentBytes,
  isEdited: draft.isEdited,
  usedDeclaredCapability: draft.usedDeclaredCapability,
  rules: draft.rules,
  destructive: draft.destructive,
  context: draft.context,
  steps: [...draft.steps, { step, round: draft.round, outcome }],
  round: draft.round,
  ...found,
})

export interface Conclusion {
  readonly decision: DecisionKind
  readonly source: DecisionSource
  readonly reason: string
  readonly denial?: CordonError
  readonly approvalActionId?: string
  readonly expiresAt?: number
  readonly scope?: 'call' | 'session'
  readonly changes: readonly string[]
  readonly askedAgain?: readonly string[]
}

export interface Stamp {
  readonly decisionId: string
  readonly now: number
  readonly mode: Mode
}

export const recordOf = (
  draft: Draft,
  conclusion: Conclusion,
  { decisionId, now, mode }: Stamp,
): PermissionDecision => {
  const { call, tool, rules, destructive } = draft
  return {
    decision_id: decisionId,
    call_id: call.callId,
    tool: call.tool,
    decision: conclusion.decision,
    decision_source: conclusion.source,
    decision_reason: conclusion.reason,
    agent_reason:
      conclusion.denial?.agentMessage ?? (conclusion.decision === 'ask' ? 'This call waits for an approval.' : null),
    error_code: conclusion.denial?.code ?? null,
    rule_refs: refsOf(rules.deciding),
    updated_input_ref: draft.isEdited ? draft.argumentsHash : null,
    approval_action_id: conclusion.approvalActionId ?? null,
    expires_at: conclusion.expiresAt === undefined ? null : new Date(conclusion.expiresAt).toISOString(),
    scope: conclusion.scope ?? 'call',
    mode,
    risk: tool?.boundary.risk.level ?? 'unknown',
    risk_is_derived: tool?.boundary.risk.derived ?? true,
    used_declared_capability: draft.usedDeclaredCapability,
    arguments_hash: draft.argumentsHash,
    policy_hash: tool?.policyHash ?? null,
    argument_gate: tool?.argumentGate ?? 'enforced',
    decided_at: new Date(now).toISOString(),
    destructive: destructive !== undefined,
    ...(destructive === undefined
      ? {}
      : { impact_scope: destructive.impactScope, rollback_advice: destructive.rollbackAdvice }),
    ...(call.widening === undefined ? {} : { widening: widenedBy(call.widening) }),
    explain: {
      steps: draft.steps,
      rules: explainRules(rules),
      what_would_change_it: conclusion.changes,
      asked_again_because: conclusion.askedAgain ?? [],
    },
  }
}

const widenedBy = ({ after, reason, retryOf, added = [] }: Widening): NonNullable<PermissionDecision['widening']> => ({
  after,
  reason,
  retry_of: retryOf ?? null,
  added,
})

export const inputsOf = ({ model, input, command }: Draft): CallInputs => ({
  model,
  permission: input,
  call: input,
  command,
})

/** A grant that answers the same question again for as long as the session approval lives. */
export const grantOf = (
  draft: Draft,
  approvalActionId: string,
  by: string,
  scope: 'call' | 'session',
  expiresAt: number,
): ApprovalGrant => ({
  approval_action_id: approvalActionId,
  tool: draft.call.tool,
  arguments_hash: draft.argumentsHash ?? '',
  policy_hash: draft.tool?.policyHash ?? '',
  scope,
  expires_at: expiresAt,
  status: scope === 'call' ? 'used' : 'active',
  approved_by: by,
})
