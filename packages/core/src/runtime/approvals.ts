// Asks an approver about a call, and records question and answer.
import { CordonError, messageOf } from '../errors/index.js'
import type { ApprovalAnswer, Evaluation, Gate, JsonValue, PermissionDecision } from '../gate/index.js'
import { isMapping } from '../shapes/index.js'

import type { CallTurn } from './call/call-turns.js'
import { evaluatedEvent, recordTogether } from './events/call-record.js'
import type { EventStream } from './events/event-stream.js'
import { recordArguments } from './events/recorded-arguments.js'
import type { ArgumentSettings } from './events/recorded-arguments.js'

export interface ApprovalRequest {
  readonly callId: string
  readonly tool: string
  readonly input: JsonValue
  readonly reason: string
  readonly decision: PermissionDecision
}

/** Asks a person. The answer is checked again at run time, because an approver may be plain JavaScript. */
export type Approve = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => ApprovalAnswer | Promise<ApprovalAnswer>

export interface ApprovalSettings {
  readonly approve: Approve
  /** Milliseconds to wait for an answer. Default: as long as the approver takes. */
  readonly timeout?: number
  /** The answer after the timeout. */
  readonly otherwise: 'deny' | 'approve'
}

export const APPROVAL_DEFAULTS = { timeout: 15 * 60_000, otherwise: 'deny' } as const

const MOST_ROUNDS = 8

/** Where questions and answers are recorded. */
export interface Recording {
  readonly events: EventStream
  readonly record: ArgumentSettings
}

interface Asking extends Recording {
  readonly gate: Gate
  /** Undefined where nobody can be asked. */
  readonly settings: ApprovalSettings | undefined
  readonly signal: AbortSignal | undefined
  readonly turn: CallTurn | undefined
}

type Question = Extract<Evaluation, { kind: 'asking' }>

/** Asks until the call is decided: an answer that edits the input may lead to a new question. */
export const settleQuestions = async (
  first: Evaluation,
  { gate, events, settings, record, signal, turn }: Asking,
): Promise<Evaluation> => {
  let evaluation = first
  for (let round = 0; evaluation.kind === 'asking' && settings !== undefined; round += 1) {
    await recordQuestion(evaluation, { events, record })
    const question = evaluation
    const waiting = () => ask(question, settings, signal)
    const answer =
      round < MOST_ROUNDS
        ? await (turn?.lentDuring(waiting) ?? waiting())
        : ({ kind: 'timed_out', then: 'deny' } as const)
    const settled = await gate.settle(evaluation, answer)
    // An invalid answer leaves the question open. It counts as no answer.
    const next =
      settled.kind === 'asking' && settled === evaluation
        ? await gate.settle(evaluation, { kind: 'timed_out', then: 'deny' })
        : settled
    await recordAnswer(evaluation.decision, answer, next, events)
    evaluation = next
  }
  return evaluation
}

export const recordQuestion = async (question: Question, { events, record }: Recording): Promise<void> => {
  const { decision, inputs, why } = question
  await recordTogether(events, [
    evaluatedEvent(question, recordArguments(inputs.call, record)),
    {
      type: 'permission.requested',
      ...approvalIdsOf(decision),
      reason: why,
      arguments_hash: decision.arguments_hash,
      expires_at: decision.expires_at,
    },
  ])
}

/** `asked`: the decision that asked. `next`: what the answer comes to, or why it has no effect. */
export const recordAnswer = async (
  asked: AskedIds,
  answer: unknown,
  next: Evaluation | CordonError,
  events: EventStream,
): Promise<void> => {
  const { decision_reason, scope, decision } =
    next instanceof CordonError
      ? ({ decision_reason: next.message, scope: 'call', decision: 'deny' } as const)
      : next.decision
  await events.emit({
    type: 'permission.resolved',
    ...approvalIdsOf(asked),
    resolution: next instanceof CordonError ? 'denied' : resolutionOf(answer, next),
    by: isMapping(answer) && typeof answer['by'] === 'string' ? answer['by'] : null,
    reason: decision_reason,
    scope,
    decision,
  })
}

type AskedIds = Pick<PermissionDecision, 'call_id' | 'tool' | 'decision_id' | 'approval_action_id'>

const approvalIdsOf = ({ call_id, tool, decision_id, approval_action_id }: AskedIds) => ({
  call_id,
  tool,
  decision_id,
  approval_action_id: approval_action_id ?? '',
})

const ask = async (
  question: Question,
  { approve, timeout, otherwise }: ApprovalSettings,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  const { decision, inputs, why } = question
  const { call_id: callId, tool } = decision
  const request: ApprovalRequest = { callId, tool, input: inputs.call, reason: why, decision }
  const answered = new AbortController()
  const cancelled: ApprovalAnswer = { kind: 'cancelled' }
  // A signal that is aborted already sends no event.
  if (signal?.aborted === true) return cancelled
  let timer: NodeJS.Timeout | undefined
  const noAnswer = new Promise<ApprovalAnswer>((resolve) => {
    if (timeout !== undefined) timer = setTimeout(resolve, timeout, { kind: 'timed_out', then: otherwise })
    const onAbort = () => {
      resolve(cancelled)
    }
    signal?.addEventListener('abort', onAbort, { once: true, signal: answered.signal })
  })
  try {
    // An approver that fails has approved nothing.
    const answer = Promise.resolve()
      .then(() => approve(request, { signal: answered.signal }))
      .catch((error: unknown) => ({ kind: 'failed', reason: messageOf(error) }))
    return await Promise.race([answer, noAnswer])
  } finally {
    clearTimeout(timer)
    answered.abort()
  }
}

const resolutionOf = (answer: unknown, next: Evaluation) => {
  const kind = isMapping(answer) ? answer['kind'] : undefined
  if (kind === 'timed_out' || kind === 'cancelled') return kind
  if (kind === 'modify') return 'modified'
  return next.kind === 'permitted' || next.kind === 'substituted' ? 'allowed' : 'denied'
}
