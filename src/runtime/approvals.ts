import type { ApprovalAnswer, Evaluation, Gate, JsonValue, PermissionDecision } from '../gate/index.js'

import { decided, recordTogether } from './events/call-record.js'
import type { EventStream } from './events/event-stream.js'
import { recordArguments } from './events/recorded-arguments.js'
import type { ArgumentSettings } from './events/recorded-arguments.js'

/** What an approver is asked. */
export interface ApprovalRequest {
  readonly callId: string
  readonly tool: string
  readonly input: JsonValue
  readonly reason: string
  readonly decision: PermissionDecision
}

/** Answers for a person. Typed as unknown because it is checked, not trusted: see `ApprovalAnswer`. */
export type Approve = (request: ApprovalRequest, options: { readonly signal: AbortSignal }) => unknown

export interface ApprovalSettings {
  readonly approve: Approve
  /** Milliseconds to wait for an answer; without it, for as long as the approver takes. */
  readonly timeout?: number
  /** What follows when nobody answers in time. */
  readonly otherwise: 'deny' | 'approve'
}

export const APPROVAL_DEFAULTS = { timeout: 15 * 60_000, otherwise: 'deny' } as const

const MOST_ROUNDS = 8

interface Asking {
  readonly gate: Gate
  readonly events: EventStream
  /** Undefined where nobody can be asked. */
  readonly settings: ApprovalSettings | undefined
  readonly record: ArgumentSettings
  readonly signal: AbortSignal | undefined
}

/** Asks until it is settled: an answer that edits the input may lead to a new question. */
export const settleQuestions = async (
  first: Evaluation,
  { gate, events, settings, record, signal }: Asking,
): Promise<Evaluation> => {
  let evaluation = first
  for (let round = 0; evaluation.kind === 'asking' && settings !== undefined; round += 1) {
    const { decision } = evaluation
    const common = {
      call_id: decision.call_id,
      tool: decision.tool,
      decision_id: decision.decision_id,
      approval_action_id: decision.approval_action_id ?? '',
    }
    await recordTogether(events, [
      decided(evaluation, recordArguments(evaluation.inputs.call, record)),
      {
        type: 'permission.requested',
        ...common,
        reason: evaluation.why,
        arguments_hash: decision.arguments_hash,
        expires_at: decision.expires_at,
      },
    ])
    const answer =
      round < MOST_ROUNDS ? await ask(evaluation, settings, signal) : ({ kind: 'timed_out', then: 'deny' } as const)
    const settled = await gate.settle(evaluation, answer)
    // An answer that is none leaves the question open; it is not asked for ever.
    const next =
      settled.kind === 'asking' && settled === evaluation
        ? await gate.settle(evaluation, { kind: 'timed_out', then: 'deny' })
        : settled
    await events.emit({
      type: 'permission.resolved',
      ...common,
      resolution: resolutionOf(answer, next),
      by: byOf(answer),
      reason: next.decision.decision_reason,
      scope: next.decision.scope,
      decision: next.decision.decision,
    })
    evaluation = next
  }
  return evaluation
}

const ask = async (
  question: Extract<Evaluation, { kind: 'asking' }>,
  { approve, timeout, otherwise }: ApprovalSettings,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  const { decision, inputs, why } = question
  const request: ApprovalRequest = {
    callId: decision.call_id,
    tool: decision.tool,
    input: inputs.call,
    reason: why,
    decision,
  }
  const given = new AbortController()
  const timedOut: ApprovalAnswer = { kind: 'timed_out', then: otherwise }
  const cancelled: ApprovalAnswer = { kind: 'cancelled' }
  // An abort that came before is not told again.
  if (signal?.aborted === true) return cancelled
  let timer: NodeJS.Timeout | undefined
  const overTime = new Promise<unknown>((resolve) => {
    const end = (answer: ApprovalAnswer) => () => {
      resolve(answer)
    }
    if (timeout !== undefined) timer = setTimeout(end(timedOut), timeout)
    signal?.addEventListener('abort', end(cancelled), { once: true, signal: given.signal })
  })
  try {
    // An approver that fails has approved nothing.
    const answered = Promise.resolve()
      .then(() => approve(request, { signal: given.signal }))
      .catch((error: unknown) => ({
        kind: 'deny',
        by: 'approver',
        reason: error instanceof Error ? error.message : String(error),
      }))
    return await Promise.race([answered, overTime])
  } finally {
    clearTimeout(timer)
    given.abort()
  }
}

const resolutionOf = (answer: unknown, next: Evaluation) => {
  const kind = typeof answer === 'object' && answer !== null && 'kind' in answer ? answer.kind : undefined
  if (kind === 'timed_out' || kind === 'cancelled') return kind
  if (kind === 'modify') return 'modified'
  return next.kind === 'permitted' || next.kind === 'substituted' ? 'allowed' : 'denied'
}

const byOf = (answer: unknown): string | null =>
  typeof answer === 'object' && answer !== null && 'by' in answer && typeof answer.by === 'string' ? answer.by : null
