// A call that waits for an approval outside of memory: how it is suspended, and how its answer is taken.
import { isDeepStrictEqual } from 'node:util'

import { fail, messageOf } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { ANSWER_FIX, parseAnswer } from '../../gate/index.js'
import type { ApprovalAnswer, CallInputs, Evaluation, Gate } from '../../gate/index.js'

import { recordAnswer, recordQuestion } from '../approvals.js'
import type { Recording } from '../approvals.js'
import type { CordonOptions, ResumedCallOptions } from '../cordon-options.js'
import type { EventStream } from '../events/event-stream.js'
import type { RegisteredCalls } from '../registry/registered-calls.js'
import type { PendingApproval } from '../result/tool-result.js'
import type { BoundCode } from '../tool-identity/bound-code.js'
import { TICKET_LIFETIME, keysOf, openTicket, questionOf, sealTicket, ticketRefused } from './ticket.js'
import type { Ticket, TicketSettings, UseTicket } from './ticket.js'
import { openUsedTickets } from './ticket.js'

/** What suspending calls takes; a runtime without tickets suspends none. */
export interface Suspension {
  readonly settings: TicketSettings
  readonly hasRegistry: boolean
  /** Undefined where the registry lets each call run once. */
  readonly use: UseTicket | undefined
  /** Who makes the calls of this runtime. Nobody else can resume them. */
  readonly principal: string
  readonly codeOf: (tool: string, inputs: CallInputs) => Promise<BoundCode>
  readonly now: () => number
}

export const openSuspension = (
  { tickets: settings, requestedBy, registry }: CordonOptions,
  now: () => number,
  codeOf: Suspension['codeOf'],
): Suspension | undefined => {
  if (settings === undefined) return undefined
  const keys = keysOf(settings)
  if (keys.length === 0 || keys.some(({ length }) => length < LEAST_KEY_BYTES))
    throw fail('ticket-refused', {
      problem: 'cannot be signed with a short key',
      fix: 'use at least 32 random bytes, and keep them',
    })
  const use = settings.folder === undefined ? undefined : openUsedTickets(settings.folder, now)
  if (use === undefined && registry === undefined)
    throw fail('ticket-refused', {
      problem: 'could be used twice',
      fix: 'name a folder that all hosts share, in which used tickets are marked: tickets: { key, folder }',
    })
  return { settings, use, hasRegistry: registry !== undefined, principal: requestedBy ?? 'agent', codeOf, now }
}

const LEAST_KEY_BYTES = 32

const DECISIVE: readonly ApprovalAnswer['kind'][] = ['approve_once', 'approve_for_scope', 'modify', 'deny', 'cancelled']

/** An answer that leaves the question open does not use up the ticket. */
export const decisiveAnswer = (given: unknown): ApprovalAnswer => {
  let answer: ApprovalAnswer
  try {
    answer = parseAnswer(given)
  } catch (error) {
    throw fail('approval-refused', { problem: `resume: ${messageOf(error)}`, fix: ANSWER_FIX }, error)
  }
  if (DECISIVE.includes(answer.kind)) return answer
  throw ticketRefused(`needs a decision, and ${answer.kind} is none`, `answer one of: ${DECISIVE.join(', ')}`)
}

export type Question = Extract<Evaluation, { kind: 'asking' }>

export const lifetimeOf = ({ settings }: Suspension): number => settings.lifetime ?? TICKET_LIFETIME

/** A ticket that may be used now. It is used by this: whatever becomes of the call, it cannot be shown again. */
export const takeTicket = (
  text: unknown,
  answer: ApprovalAnswer | undefined,
  expected: ResumedCallOptions['expected'],
  { settings, use, hasRegistry, principal, now }: Suspension,
): Ticket => {
  const ticket = openTicket(text, settings)
  const isExpected =
    expected === undefined || (ticket.tool === expected.tool && isDeepStrictEqual(ticket.input, expected.input))
  if (!isExpected) throw ticketRefused('is for another call than the one that was shown')
  if (ticket.principal !== principal)
    throw ticketRefused('belongs to a call of somebody else', 'resume it where the call was made')
  if (!(now() < ticket.expiresAt)) throw ticketRefused(`expired at ${new Date(ticket.expiresAt).toISOString()}`)
  if (ticket.invocation !== null) {
    if (!hasRegistry) throw ticketRefused('is for a call in a registry', 'resume it with that registry')
    if (answer !== undefined)
      throw ticketRefused(
        'is for a call in a registry, and answers are given there',
        `approve it with cordon approvals approve ${ticket.invocation}, then resume without an answer`,
      )
    return ticket
  }
  if (answer === undefined)
    throw ticketRefused('needs an answer', 'write it like resume(ticket, { kind: "approve_once", by: "ann" })')
  // The gate would refuse it too, but only after the ticket is used.
  if ('by' in answer && answer.by === principal)
    throw fail('approval-refused', {
      problem: 'callers cannot approve their own calls',
      fix: 'let somebody else answer; the ticket stays good',
    })
  if (use === undefined) throw ticketRefused('was not given by a registry', 'give createCordon tickets.folder')
  use(ticket)
  return ticket
}

/** What the answer comes to. The call was gated again, and runs only if nothing about it has changed since. */
export const settleResumed = async (
  evaluation: Evaluation,
  { ticket, change, answer }: { ticket: Ticket; change: CordonError | undefined; answer: ApprovalAnswer },
  { gate, events }: { readonly gate: Gate; readonly events: EventStream },
): Promise<Evaluation | CordonError> => {
  const next = change ?? (await answered(evaluation, answer, gate))
  const { decision_id } = evaluation.decision
  const asked = { call_id: ticket.callId, tool: ticket.tool, decision_id, approval_action_id: ticket.id }
  await recordAnswer(asked, answer, next, events)
  return next
}

const answered = async (
  evaluation: Evaluation,
  answer: ApprovalAnswer,
  gate: Gate,
): Promise<Evaluation | CordonError> => {
  if (evaluation.kind === 'refused') return evaluation
  if (evaluation.kind === 'asking') return gate.settle(evaluation, answer)
  // The rules let it run by now. A person's no still counts.
  if (answer.kind === 'deny') return fail('approval-rejected', { by: answer.by, reason: answer.reason })
  return answer.kind === 'approve_once' || answer.kind === 'approve_for_scope' ? evaluation : fail('cancelled', {})
}

/** What the ticket does not cover. A call that is refused anyway needs no reason of the ticket. */
export const changeSince = async (
  { kind, decision, inputs }: Evaluation,
  ticket: Ticket,
  suspension: Suspension | undefined,
): Promise<CordonError | undefined> => {
  if (kind === 'refused' || suspension === undefined) return undefined
  if (decision.policy_hash !== ticket.policyHash) return ticketRefused('is older than the policy of its tool')
  if (decision.arguments_hash !== ticket.argumentsHash) return ticketRefused('is for other arguments')
  if (kind === 'asking' && questionOf(decision) !== ticket.question)
    return ticketRefused('answers another question than the rules ask now')
  const { hash } = await suspension.codeOf(ticket.tool, inputs)
  return hash === ticket.code
    ? undefined
    : ticketRefused('is for other code: its tool, a file that it runs or imports, or its command has changed since')
}

/** The registry is asked, and answers at once or keeps the question. */
export const askRegistry = async (
  question: Question,
  registeredCalls: RegisteredCalls,
  gate: Gate,
): Promise<Evaluation> => {
  const { decision, inputs } = question
  const answer = await registeredCalls.answerNow(decision.call_id, decision.tool, inputs.call)
  return answer === undefined ? question : gate.settle(question, answer)
}

export const suspend = async (
  question: Question,
  session: string,
  { settings, principal, codeOf, now }: Suspension,
  registeredCalls: RegisteredCalls | undefined,
  recording: Recording,
): Promise<{ readonly ticket: string; readonly approval: PendingApproval }> => {
  const { decision, inputs, why } = question
  // First: where the code cannot be read, nobody is asked about it.
  const { hash: code, unbound } = await codeOf(decision.tool, inputs)
  await recordQuestion(question, recording)
  const invocation = registeredCalls?.leave(decision.call_id) ?? null
  const expiresAt = decision.expires_at ?? new Date(now()).toISOString()
  const id = decision.approval_action_id ?? ''
  const ticket: Ticket = {
    id,
    callId: decision.call_id,
    tool: decision.tool,
    input: inputs.model,
    argumentsHash: decision.arguments_hash ?? '',
    policyHash: decision.policy_hash ?? '',
    code,
    principal,
    session,
    question: questionOf(decision),
    expiresAt: Date.parse(expiresAt),
    invocation,
  }
  return {
    ticket: sealTicket(ticket, settings),
    approval: { id, reason: why, expires_at: expiresAt, invocation, unbound },
  }
}
