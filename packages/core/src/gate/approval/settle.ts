// Turns the answer to a question into an evaluation. An answer is for one question of this gate, is given once and in
// time, and does not come from the caller.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import { ANSWER_FIX, parseAnswer } from './approval.js'
import type { ApprovalAnswer, ApprovalGrant } from './approval.js'
import type { Evaluation } from '../call.js'
import { withStep } from '../draft.js'
import type { Evaluator, Progress } from '../evaluator.js'
import { gateParsed, notJson } from '../gate-input.js'
import { lifetimeOf } from '../gate-settings.js'
import type { GateSettings } from '../gate-settings.js'
import { takeSnapshot } from '../input/json-value.js'
import { thrownMessage } from '../thrown-message.js'

export type Settle = (question: Evaluation, answer: unknown) => Promise<Evaluation>

export const createSettle = (settings: GateSettings, { questionOf, permit, refuse, evaluate }: Evaluator): Settle => {
  const settled = new WeakSet<Evaluation>()

  const approve = (progress: Progress, approvalActionId: string, by: string, scope: 'call' | 'session'): Evaluation => {
    const { tool, gate } = progress
    const time = settings.now()
    const gated = gateParsed(progress.draft, tool, gate, time)
    if (gated.kind === 'refused') return refuse(gated.draft, gated.source, gated.denial)
    const draft = withStep({ ...gated.draft, rules: progress.draft.rules }, 'approval', `approved by ${by}`)
    // With the scope `session`, the grant answers the same question again until it expires.
    const grant: ApprovalGrant = {
      approval_action_id: approvalActionId,
      tool: tool.name,
      arguments_hash: draft.argumentsHash ?? '',
      policy_hash: tool.policyHash,
      scope,
      expires_at: time + lifetimeOf(settings, 'approval'),
      status: scope === 'call' ? 'used' : 'active',
      approved_by: by,
    }
    return permit(
      { ...progress, draft },
      { as: 'allow', source: 'approver', reason: `approved by ${by}`, approvalActionId, grant },
    )
  }

  return async (question, given) => {
    const progress = questionOf(question)
    if (progress === undefined || question.kind !== 'asking')
      throw fail('approval-refused', {
        problem: 'it answers no question of this gate',
        fix: 'answer the evaluation that decide() returned',
      })
    const { draft, tool, gate } = progress
    const { call } = draft
    const refuseWith = (outcome: string, denial: CordonError) =>
      refuse(withStep(draft, 'approval', outcome), 'approver', denial)
    const refuseAnswer = (problem: string, fix = 'make the call again') =>
      refuseWith(problem, fail('approval-refused', { problem, fix }))
    const reject = (outcome: string, by: string, reason: string) =>
      refuseWith(outcome, fail('approval-rejected', { by, reason }))

    let answer: ApprovalAnswer
    try {
      answer = parseAnswer(given)
    } catch (error) {
      // The question stays open, because this was not an answer.
      return refuseAnswer(thrownMessage(error), ANSWER_FIX)
    }
    if (settled.has(question)) return refuseAnswer('the question was answered before')
    if ('by' in answer && answer.by === call.requestedBy)
      return refuseAnswer('callers cannot approve their own calls', 'let somebody else answer')
    if (answer.kind === 'escalate' || answer.kind === 'request_more_info') return question
    settled.add(question)
    const approvalActionId = question.decision.approval_action_id ?? ''
    if (!(settings.now() < Date.parse(question.decision.expires_at ?? '')) && 'by' in answer && answer.kind !== 'deny')
      return refuseAnswer('the question has expired')

    switch (answer.kind) {
      case 'approve_once':
        return approve(progress, approvalActionId, answer.by, 'call')
      case 'approve_for_scope':
        return approve(progress, approvalActionId, answer.by, 'session')
      case 'modify': {
        const snapshot = takeSnapshot(answer.input)
        if (snapshot.kind === 'problem') return refuse(draft, 'schema', notJson(tool.name, snapshot))
        return evaluate(call, { tool, gate }, draft.model, snapshot.value, {
          by: answer.by,
          approvalActionId,
          seen: draft.input,
        })
      }
      case 'deny':
        return reject(`rejected by ${answer.by}`, answer.by, answer.reason)
      case 'cancelled':
        return refuseWith('the call was cancelled', fail('cancelled', {}))
      case 'failed':
        return refuseWith('the approver failed', fail('approver-failed', { problem: answer.reason }))
      case 'timed_out':
        // A destructive call never runs without an answer of a person.
        if (answer.then === 'approve' && draft.destructive === undefined)
          return approve(progress, approvalActionId, 'approval.otherwise, because nobody answered', 'call')
        return refuseWith('nobody answered in time', fail('approval-unanswered', {}))
    }
  }
}
