import type { CordonError } from '../errors/index.js'

import type { Evaluation, GateCall } from './call.js'
import type {
  DecisionKind,
  DecisionSource,
  ExplainedRule,
  ExplainedStep,
  PermissionDecision,
} from './record/permission-decision.js'
import type { JsonValue } from './input/json-value.js'
import type { Mode } from './rules/modes.js'
import { UNMATCHED } from './rules/rule-index.js'
import type { RuleVerdict } from './rules/rule-index.js'
import type { DestructiveFacts, GateTool } from './tool.js'
import type { Rule } from './rules/rule.js'

/** The facts about a call so far, before the decision. */
export interface Draft {
  readonly call: GateCall
  readonly tool: GateTool | undefined
  readonly model: JsonValue
  /** The input to judge. Until it is parsed, the input of the model. */
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
  rules: UNMATCHED,
  destructive: undefined,
  context: [],
  steps: [],
  round: 1,
})

/** Adds a step, its outcome and the facts that it found. Field by field, because a spread of so many fields is slow. */
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

interface Stamp {
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
  const { widening } = call
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
    ...(widening === undefined
      ? {}
      : {
          widening: {
            after: widening.after,
            reason: widening.reason,
            retry_of: widening.retryOf ?? null,
            added: widening.added ?? [],
          },
        }),
    explain: {
      steps: draft.steps,
      rules: explainRules(rules),
      what_would_change_it: conclusion.changes,
      asked_again_because: conclusion.askedAgain ?? [],
    },
  }
}

export const evaluated = ({ model, input, command, context }: Draft): Pick<Evaluation, 'inputs' | 'context'> => ({
  inputs: { model, call: input, command },
  context,
})

const MAX_RULES_SHOWN = 16

const explainRules = ({ deciding, overruled, locked, untrusted }: RuleVerdict): readonly ExplainedRule[] =>
  [
    ...standing(deciding, 'decides'),
    ...standing(overruled, 'overruled'),
    ...standing(locked, 'locked'),
    ...standing(untrusted, 'untrusted'),
  ].slice(0, MAX_RULES_SHOWN)

const standing = (rules: readonly Rule[], as: ExplainedRule['standing']): readonly ExplainedRule[] =>
  rules.map(({ id, effect, source, place, because }) => ({ ref: id, effect, source, place, because, standing: as }))

const refsOf = (rules: readonly Rule[]): readonly string[] => rules.slice(0, MAX_RULES_SHOWN).map(({ id }) => id)

/** Changes that would let a call run without a question. */
export const waysToAllow = ({ rules, call }: Draft, source: DecisionSource): readonly string[] => {
  switch (source) {
    case 'rule':
      return rules.deciding.slice(0, 3).map(({ id }) => `change or remove the rule ${id}`)
    case 'hook':
      return ['see why the hook asks']
    case 'policy':
      return call.waysToApprove?.() ?? ['approve it, once or for this session']
    default:
      return (
        call.waysToAllow?.() ?? [
          `add a rule that allows the tool ${call.tool}, best with a condition`,
          'choose another mode',
        ]
      )
  }
}

/** Changes that would stop a call that may run. */
export const waysToStop = ({ rules, call }: Draft, source: DecisionSource): readonly string[] => {
  const deny = `add a rule that denies the tool ${call.tool}, or asks about it`
  return source === 'rule' ? [...rules.deciding.slice(0, 3).map(({ id }) => `remove the rule ${id}`), deny] : [deny]
}
