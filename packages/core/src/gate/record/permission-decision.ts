// The record `permission_decision`: its type and schemas/permission_decision.schema.json come from one declaration.
import { RISKS } from '../../policy/index.js'
import {
  count,
  described,
  filled,
  hash,
  list,
  oneOf,
  optional,
  orNull,
  record,
  recordFile,
  text,
  time,
  yesOrNo,
} from '../../shapes/index.js'
import type { Schema, Shaped } from '../../shapes/index.js'

import { MODES } from '../rules/modes.js'
import { EFFECTS, RULE_SOURCES } from '../rules/rule.js'

export const DECISIONS = ['allow', 'deny', 'ask', 'unavailable', 'sandboxed'] as const
export type DecisionKind = (typeof DECISIONS)[number]

/** Who decided. */
export const DECISION_SOURCES = [
  'registry',
  'schema',
  'constraint',
  'policy',
  'hook',
  'rule',
  'mode',
  'classifier',
  'approver',
  'command',
] as const
export type DecisionSource = (typeof DECISION_SOURCES)[number]

const STEP = record({
  step: oneOf('tool', 'input', 'constraints', 'arguments', 'hooks', 'rules', 'mode', 'approval'),
  round: described('1, and one more each time the input was changed.', count(1)),
  outcome: text(),
})
export type ExplainedStep = Shaped<typeof STEP>

const RULE = record({
  ref: text(),
  effect: oneOf(...EFFECTS),
  source: oneOf(...RULE_SOURCES),
  place: described('File and line, such as rules.yaml:12.', text()),
  because: text(),
  standing: described(
    'overruled: a stricter one counts. locked: managed rules do not let it count. untrusted: an allow of a ' +
      'project that nobody vouches for.',
    oneOf('decides', 'overruled', 'locked', 'untrusted'),
  ),
})
export type ExplainedRule = Shaped<typeof RULE>

const EXPLANATION = record({
  steps: list(STEP),
  rules: list(RULE),
  what_would_change_it: list(text()),
  asked_again_because: described('Why somebody is asked although it was answered, or allowed, before.', list(text())),
})

const WIDENING = record({
  after: described(
    'unconfined: the host called runUnconfined, which runs the tool without a sandbox.',
    oneOf('request', 'violation', 'unconfined'),
  ),
  reason: text(),
  retry_of: described('The call that met its boundary.', orNull(text())),
  added: list(text()),
})

const PERMISSION_DECISION = record({
  decision_id: filled(),
  call_id: text(),
  tool: text(),
  decision: described(
    'allow: runs. sandboxed: runs because its sandbox holds it. ask: waits for somebody. unavailable: ' +
      'somebody would be asked, and nobody can be.',
    oneOf(...DECISIONS),
  ),
  decision_source: described('Who decided.', oneOf(...DECISION_SOURCES)),
  decision_reason: described('For the operator.', filled()),
  agent_reason: described(
    'For the model: short, and nothing about the host that it did not say itself. Null where the call may go on.',
    orNull(text()),
  ),
  error_code: described('Of a refusal: its entry in docs/errors.md.', orNull(text())),
  rule_refs: described('The rules that decided.', list(filled())),
  updated_input_ref: described(
    'Hash of the arguments that replaced those of the model. Null where nothing was changed.',
    orNull(hash()),
  ),
  approval_action_id: described('Of the question that was asked, or of the approval that answered it.', orNull(text())),
  expires_at: described('Of the permit, or of the question.', orNull(time())),
  scope: oneOf('call', 'session'),
  mode: oneOf(...MODES),
  risk: oneOf(...RISKS),
  risk_is_derived: yesOrNo(),
  used_declared_capability: described(
    'A path or URL was judged by what the tool declares, and lay within it.',
    yesOrNo(),
  ),
  arguments_hash: orNull(hash()),
  policy_hash: orNull(hash()),
  argument_gate: oneOf('enforced', 'off'),
  decided_at: time(),
  destructive: yesOrNo(),
  impact_scope: optional(described('With "destructive": true only.', filled())),
  rollback_advice: optional(filled()),
  widening: optional(
    described('Of a call that asks for more than its policy: after what, and what would be added.', WIDENING),
  ),
  explain: EXPLANATION,
})
export type PermissionDecision = Shaped<typeof PERMISSION_DECISION>

export const permissionDecisionSchema = (): Schema =>
  recordFile('permission_decision', 'The outcome for one call, and why.', PERMISSION_DECISION, {
    required: [
      'decision_id',
      'decision',
      'decision_source',
      'decision_reason',
      'rule_refs',
      'updated_input_ref',
      'approval_action_id',
      'expires_at',
      'scope',
    ],
    if: { properties: { destructive: { const: true } }, required: ['destructive'] },
    then: { required: ['impact_scope', 'rollback_advice'] },
    else: { not: { anyOf: [{ required: ['impact_scope'] }, { required: ['rollback_advice'] }] } },
    allOf: [
      {
        if: { properties: { decision: { const: 'ask' } } },
        then: { properties: { approval_action_id: { type: 'string' }, expires_at: { type: 'string' } } },
      },
      {
        if: { properties: { decision: { enum: ['deny', 'unavailable'] } } },
        then: { properties: { agent_reason: { type: 'string' } } },
      },
    ],
  })
