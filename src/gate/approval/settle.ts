// What an answer to a question comes to. An answer is for one question of this gate, given once, in
// time, by somebody else than the one who wants to make the call.
import { fail } from '../../errors/index.js'

import { ANSWER_KINDS, parseAnswer } from './approval.js'
import type { ApprovalAnswer } from './approval.js'
import type { Evaluation } from '../call.js'
import { grantOf, withStep } from '../draft.js'
import type { Evaluator, Progress } from '../evaluator.js'
import { gateParsed } from '../gate-input.js'
import { LIFETIMES } from '../gate-settings.js'
import type { GateSettings } from '../gate-settings.js'
import { takeSnapshot } from '../input/json-value.js'
import { messageOf } from '../message-of.js'

export type Settle = (question: Evaluation, answer: unknown) => Promise<Evaluation>

export const createSettle = (settings: GateSettings, { questionOf, permit, refuse, evaluate }: Evaluator): Settle => {
  const settled = new WeakSet<Evaluation>()

  const approve = (progress: Progress, approvalActionId: string, by: string, scope: 'call' | 'session'): Evaluation => {
    const { tool, gate } = progress
    const time = settings.now()
    const gated = gateParsed(progress.draft, tool, gate, time)
    if (gated.kind === 'refused') return refuse(gated.draft, gated.source, gated.denial)
    const draft = withStep({ ...gated.draft, rules: progress.draft.rules }, 'approval', `approved by ${by}`)
    const grant = grantOf(
      draft,
      approvalActionId,
      by,
      scope,
      time + (settings.lifetimes?.approval ?? LIFETIMES.approval),
    )
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
    const refuseAnswer = (problem: string, fix = 'make the call again') =>
      refuse(withStep(draft, 'approval', problem), 'approver', fail('approval-refused', { problem, fix }))

    let answer: ApprovalAnswer
    try {
      answer = parseAnswer(given)
    } catch (error) {
      // The question stays open: nothing was said.
      return refuseAnswer(
        messageOf(error),
        `answer { kind, by }, and where it belongs to it reason or input; kinds: ${ANSWER_KINDS.join(', ')}`,
      )
    }
    if (settled.has(question)) return refuseAnswer('the question was answered before')
    if (answer.kind !== 'timed_out' && answer.kind !== 'cancelled' && answer.by === call.requestedBy)
      return refuseAnswer('nobody approves a call of his own', 'let somebody else answer')
    if (answer.kind === 'escalate' || answer.kind === 'request_more_info') return question
    settled.add(question)
    const approvalActionId = question.decision.approval_action_id ?? ''
    if (
      !(settings.now() < Date.parse(question.decision.expires_at ?? '')) &&
      answer.kind !== 'deny' &&
      answer.kind !== 'timed_out' &&
      answer.kind !== 'cancelled'
    )
      return refuseAnswer('the question has expired')

    switch (answer.kind) {
      case 'approve_once':
        return approve(progress, approvalActionId, answer.by, 'call')
      case 'approve_for_scope':
        return approve(progress, approvalActionId, answer.by, 'session')
      case 'modify': {
        const snapshot = takeSnapshot(answer.input)
        if (snapshot.kind === 'problem')
          return refuse(
            draft,
            'schema',
            fail('input-not-json', { tool: tool.name, where: snapshot.where, problem: snapshot.problem }),
          )
        return evaluate(call, { tool, gate }, draft.model, snapshot.value, { by: answer.by, approvalActionId })
      }
      case 'deny':
        return refuse(
          withStep(draft, 'approval', `rejected by ${answer.by}`),
          'approver',
          fail('approval-rejected', { by: answer.by, reason: answer.reason }),
        )
      case 'cancelled':
        return refuse(withStep(draft, 'approval', 'the call was cancelled'), 'approver', fail('cancelled', {}))
      case 'timed_out':
        // What cannot be undone is never done because nobody looked.
        if (answer.then === 'approve' && draft.destructive === undefined)
          return approve(progress, approvalActionId, 'the default of the host, because nobody answered', 'call')
        return refuse(
          withStep(draft, 'approval', 'nobody answered in time'),
          'approver',
          fail('approval-rejected', { by: 'the default of the host', reason: 'nobody answered in time' }),
        )
    }
  }
}
