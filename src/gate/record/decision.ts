// The record `permission_decision`, with the field names of schemas/permission_decision.schema.json.
import type { ErrorCode } from '../../errors/index.js'
import type { Risk } from '../../policy/index.js'

import type { Mode } from '../rules/modes.js'
import type { Effect, Rule, RuleSource } from '../rules/rule.js'
import type { RuleVerdict } from '../rules/rule-index.js'

export const DECISIONS = ['allow', 'deny', 'ask', 'unavailable', 'sandboxed'] as const
export type DecisionKind = (typeof DECISIONS)[number]

/** Who decided. */
export const DECISION_SOURCES = ['registry', 'schema', 'constraint', 'policy', 'hook', 'rule', 'mode', 'classifier', 'approver', 'command'] as const
export type DecisionSource = (typeof DECISION_SOURCES)[number]

export interface PermissionDecision {
  readonly decision_id: string
  readonly call_id: string
  readonly tool: string
  readonly decision: DecisionKind
  readonly decision_source: DecisionSource
  /** For the operator. */
  readonly decision_reason: string
  /** For the model: short, something to act on, nothing about the host that it did not say itself. Null where it may go on. */
  readonly agent_reason: string | null
  /** Of a refusal: its entry in docs/errors.md. */
  readonly error_code: ErrorCode | null
  readonly rule_refs: readonly string[]
  /** `sha256:…` of the arguments that replaced those of the model; null where nothing was changed. */
  readonly updated_input_ref: string | null
  /** Of the question that was asked, or of the approval that answered it. */
  readonly approval_action_id: string | null
  /** Of the permit, or of the question. */
  readonly expires_at: string | null
  readonly scope: 'call' | 'session'
  readonly mode: Mode
  readonly risk: Risk
  readonly risk_is_derived: boolean
  readonly used_declared_capability: boolean
  readonly arguments_hash: string | null
  readonly policy_hash: string | null
  readonly argument_gate: 'enforced' | 'off'
  readonly decided_at: string
  readonly destructive: boolean
  /** With `destructive: true` only. */
  readonly impact_scope?: string
  readonly rollback_advice?: string
  /** Of a call that asks for more than its policy: after what, and what would be added. */
  readonly widening?: { readonly after: 'request' | 'violation'; readonly reason: string; readonly retry_of: string | null; readonly added: readonly string[] }
  readonly explain: Explanation
}

export interface Explanation {
  readonly steps: readonly ExplainedStep[]
  readonly rules: readonly ExplainedRule[]
  readonly what_would_change_it: readonly string[]
  /** Why somebody is asked although it was answered, or allowed, before. */
  readonly asked_again_because: readonly string[]
}

export const STEPS = ['tool', 'input', 'constraints', 'arguments', 'hooks', 'rules', 'mode', 'approval'] as const

export interface ExplainedStep {
  readonly step: (typeof STEPS)[number]
  /** 1, and one more each time the input was changed. */
  readonly round: number
  readonly outcome: string
}

export interface ExplainedRule {
  readonly ref: string
  readonly effect: Effect
  readonly source: RuleSource
  /** `rules.yaml:12` */
  readonly place: string
  readonly because: string
  /** `overruled`: a stricter one counts. `locked`: managed rules do not let it count. `untrusted`: an allow of a project that nobody vouches for. */
  readonly standing: 'decides' | 'overruled' | 'locked' | 'untrusted'
}

const MAX_RULES_SHOWN = 16

export const explainRules = ({ deciding, overruled, locked, untrusted }: Pick<RuleVerdict, 'deciding' | 'overruled' | 'locked' | 'untrusted'>): readonly ExplainedRule[] =>
  // Of most calls no rule speaks.
  deciding.length + overruled.length + locked.length + untrusted.length === 0
    ? []
    : [...standing(deciding, 'decides'), ...standing(overruled, 'overruled'), ...standing(locked, 'locked'), ...standing(untrusted, 'untrusted')].slice(0, MAX_RULES_SHOWN)

const standing = (rules: readonly Rule[], as: ExplainedRule['standing']): readonly ExplainedRule[] =>
  rules.map(({ id, effect, source, place, because }) => ({ ref: id, effect, source, place, because, standing: as }))

export const refsOf = (rules: readonly Rule[]): readonly string[] => rules.slice(0, MAX_RULES_SHOWN).map(({ id }) => id)
