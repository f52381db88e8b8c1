// The life of a call, from top to bottom:
//
//   resolve tool → parse input → constraints → argument gate → hooks → rules and mode → [approval] → permit →
//   cell → hooks → record → result
//
// The gate takes the steps up to the permit. Each step is recorded before the next one begins: a call that cannot
// be recorded does not run. `createCordon().call` and `cordon run` both come through `performCall`.
import { CordonError, bug, fail, messageOf } from '../../errors/index.js'
import type { Evaluation, Gate, GateCall, PermissionDecision } from '../../gate/index.js'

import { settleQuestions } from '../approvals.js'
import { NOTHING_RAN } from '../call-outcome.js'
import type { CallHandlers, CallOutcome } from '../call-outcome.js'
import {
  calledEvent,
  evaluatedEvent,
  deniedEvent,
  endEvents,
  policyChanged,
  recordTogether,
} from '../events/call-record.js'
import type { PolicyChange } from '../events/call-record.js'
import { recordArguments } from '../events/recorded-arguments.js'
import type { ToolResult } from '../result/tool-result.js'
import { askRegistry, changeSince, settleResumed, suspend } from '../suspend/suspended-call.js'
import type { Question } from '../suspend/suspended-call.js'
import type { CallServices, CallTool, Permitted } from './call-services.js'
import { claimAndRun } from './claim-and-run.js'
import { factsForOperator } from './operator-facts.js'
import { endNotRecorded } from './run-permitted.js'

/** The caller's result, and the error behind it. */
export interface EndedCall {
  readonly result: ToolResult
  readonly error: CordonError | undefined
}

/** One decision and, where it permits, one run. `wider` is the tool with the policy that `call.widening` asks for. */
export const performCall = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  call: GateCall,
  handlers: CallHandlers,
  wider?: Tool,
): Promise<EndedCall> => {
  services.begin(call.callId)
  services.registeredCalls?.expect(call.callId, handlers)
  try {
    const asked = await services.gate.decide(call, wider?.gate)
    const evaluation = await settle(services, asked, handlers)
    if (evaluation instanceof CordonError) return await refuse(services, asked, evaluation)
    if (evaluation.kind === 'asking' && handlers.isSuspending) return await suspendCall(services, evaluation, handlers)
    const tool = wider ?? services.tools.get(call.tool)
    if (evaluation.kind === 'substituted') return await answerWithoutRunning(services, call, evaluation)
    if (evaluation.kind !== 'permitted' || tool === undefined) return await refuse(services, evaluation)
    if (services.isCurrent?.(evaluation) === false)
      return await refuse(services, evaluation, fail('call-outdated', { tool: call.tool }))
    const stopped = services.stopped.get(services.tools.get(call.tool) ?? tool)
    if (stopped !== undefined)
      return await refuse(services, evaluation, fail('tool-stopped', { tool: call.tool, problem: stopped }))
    const kept = await keepApproval(evaluation, handlers)
    if (kept instanceof CordonError) return await refuse(services, evaluation, kept)
    await recordPermitted(services, evaluation, kept, handlers.session)
    const outcome = await claimAndRun(services, tool, evaluation, handlers).catch(asOutcome)
    if (outcome.status === 'ok') call.count.complete(call.tool)
    const ended = await complete(services, call, evaluation, outcome)
    if (outcome.unexpected !== undefined) throw outcome.unexpected.error
    return ended
  } catch (error) {
    // The registry must not give the call to another runner.
    await services.registeredCalls?.drop(call.callId)
    throw error
  }
}

/** The services that do not depend on the kind of tool. */
type SharedServices = Omit<CallServices, 'tools' | 'runner'>

/** Approvers answer now, or the answer comes with a ticket, or the question stays open and the call is suspended. */
const settle = async (
  { gate, events, approval, record, registeredCalls, suspension }: SharedServices,
  asked: Evaluation,
  { signal, isSuspending, resumed, turn }: CallHandlers,
): Promise<Evaluation | CordonError> => {
  if (resumed !== undefined) {
    const { ticket, answer } = resumed
    const change = await changeSince(asked, ticket, suspension)
    if (answer !== undefined) return settleResumed(asked, { ticket, change, answer }, { gate, events })
    if (change !== undefined) return change
  }
  if (!isSuspending) return settleQuestions(asked, { gate, events, settings: approval, record, signal, turn })
  return asked.kind === 'asking' && registeredCalls !== undefined ? askRegistry(asked, registeredCalls, gate) : asked
}

/** The caller gets a ticket instead of waiting. */
const suspendCall = async (
  services: SharedServices,
  question: Question,
  { session }: CallHandlers,
): Promise<EndedCall> => {
  const { suspension, registeredCalls } = services
  if (suspension === undefined) return bug('a call is suspended without tickets')
  const { ticket, approval } = await suspend(question, session, suspension, registeredCalls, services)
  const { decision, context } = question
  const result: ToolResult = {
    status: 'pending',
    reason: decision.agent_reason ?? 'This call waits for an approval.',
    ticket,
    approval,
    ...(context.length === 0 ? {} : { context }),
    facts: factsForOperator(services, decision, undefined, undefined),
  }
  return { result, error: undefined }
}

/** Records the call as denied, and gives the model a short reason. `problem`: why a permit is not used. */
const refuse = async (services: SharedServices, evaluation: Evaluation, problem?: CordonError): Promise<EndedCall> => {
  const decision = problem === undefined ? evaluation.decision : withdrawn(evaluation.decision, problem)
  // The registry may refuse a call that was approved here.
  const refusal = services.registeredCalls?.refusalOf(decision.call_id)
  await services.registeredCalls?.drop(decision.call_id)
  await recordTogether(services.events, [decidedOf(services, { ...evaluation, decision }), deniedEvent({ decision })])
  const denial = evaluation.kind === 'refused' ? evaluation.denial : problem
  const result: ToolResult = {
    // A caller that went away was not denied.
    status: denial?.code === 'cancelled' ? 'cancelled' : 'denied',
    reason: decision.agent_reason ?? 'This call was not allowed.',
    ...(evaluation.context.length === 0 ? {} : { context: evaluation.context }),
    facts: factsForOperator(services, decision, undefined, refusal ?? denial),
  }
  return { result, error: refusal ?? denial }
}

/** A hook gave the result, so the tool does not run. */
const answerWithoutRunning = async (
  services: SharedServices,
  call: GateCall,
  evaluation: Extract<Evaluation, { kind: 'substituted' }>,
): Promise<EndedCall> => {
  await services.registeredCalls?.drop(call.callId)
  await services.events.emit(decidedOf(services, evaluation))
  return complete(services, call, evaluation, { ...NOTHING_RAN, status: 'ok', output: evaluation.result })
}

const withdrawn = (decision: PermissionDecision, { message, agentMessage, code }: CordonError): PermissionDecision => ({
  ...decision,
  decision: 'unavailable',
  decision_reason: message,
  agent_reason: agentMessage,
  error_code: code,
  expires_at: null,
})

/** Keeps an approval that holds for longer than this call. If that fails, the call does not run. */
const keepApproval = async (
  { grant, inputs }: Permitted,
  { onApproved }: CallHandlers,
): Promise<readonly PolicyChange[] | CordonError> => {
  if (grant === undefined) return []
  try {
    return await onApproved(grant, inputs.call)
  } catch (error) {
    if (error instanceof CordonError) return error
    throw error
  }
}

const recordPermitted = async (
  services: SharedServices,
  evaluation: Permitted,
  changes: readonly PolicyChange[],
  session: string,
): Promise<void> => {
  const { decision, inputs } = evaluation
  const recorded = recordArguments(inputs.call, services.record)
  await recordTogether(services.events, [
    evaluatedEvent(evaluation, recorded, services.manifestOf(decision.tool)),
    calledEvent(evaluation, recorded, session),
    ...changes.map((change) => policyChanged(decision, change, services.gate.state())),
  ])
}

const decidedOf = ({ record, manifestOf }: SharedServices, evaluation: Evaluation) =>
  evaluatedEvent(evaluation, recordArguments(evaluation.inputs.call, record), manifestOf(evaluation.decision.tool))

/** An error of Cordon says that the log or the registry failed. After any other error the call still gets an end. */
const asOutcome = (error: unknown): CallOutcome => {
  if (error instanceof CordonError) throw error
  return { ...NOTHING_RAN, status: 'failed', reason: messageOf(error), unexpected: { error } }
}

/** Shows the outcome to hooks, records the end, and makes the caller's result. */
const complete = async (
  services: SharedServices,
  call: GateCall,
  evaluation: Evaluation,
  outcome: CallOutcome,
): Promise<EndedCall> => {
  const shown = await showToHooks(services.gate, call, evaluation, outcome)
  await recordEnd(services, evaluation, outcome, shown)
  const { status, output, error } = shown
  const context = [...evaluation.context, ...shown.context]
  const common = {
    ...(context.length === 0 ? {} : { context }),
    facts: factsForOperator(services, outcome.revised ?? evaluation.decision, outcome, error),
  }
  const result: ToolResult =
    status === 'ok'
      ? // A hook may withhold the output.
        { status, ...(output === undefined ? {} : { output }), ...common }
      : {
          status,
          reason: error?.agentMessage ?? 'The call did not succeed.',
          ...(output === undefined ? {} : { output }),
          ...common,
        }
  return { result, error }
}

type Shown = Pick<CallOutcome, 'status' | 'output' | 'error'> & { readonly context: readonly string[] }

/** A hook may replace or withhold the output. One that denies or fails withholds it. */
const showToHooks = async (
  gate: Gate,
  { callId, tool }: GateCall,
  { inputs }: Evaluation,
  outcome: CallOutcome,
): Promise<Shown> => {
  const { status, output, error } = outcome
  const after = await gate.runHooks(status === 'ok' ? 'post_tool_use' : 'post_tool_failure', {
    callId,
    tool,
    input: inputs.call,
    output: output ?? null,
    ...(error === undefined ? {} : { reason: error.message }),
  })
  if (after.kind === 'denied')
    return { status: status === 'ok' ? 'failed' : status, output: undefined, error: after.denial, context: [] }
  const replaced = after.updatedOutput === undefined ? output : after.updatedOutput.value
  return { status, error, output: after.suppressOutput ? undefined : replaced, context: after.context }
}

const recordEnd = async (
  { events, record }: SharedServices,
  evaluation: Evaluation,
  outcome: CallOutcome,
  { status, output, error }: Shown,
): Promise<void> => {
  const { revised, durationMs } = outcome
  const result = output === undefined ? null : recordArguments(output)
  const completion = {
    status,
    reason: error?.message ?? outcome.reason ?? null,
    error_code: error?.code ?? null,
    result_hash: result?.hash ?? null,
    result_bytes: result?.bytes ?? null,
    duration_ms: durationMs,
  }
  const drafts = [
    ...(revised === undefined
      ? []
      : [evaluatedEvent({ decision: revised }, recordArguments(evaluation.inputs.call, record))]),
    ...endEvents({ decision: revised ?? evaluation.decision }, { ...outcome, completion }),
  ]
  await recordTogether(events, drafts).catch((cause: unknown) => {
    throw hasRun(evaluation, outcome) ? endNotRecorded(evaluation.decision.tool, outcome.status, cause) : cause
  })
}

/** Nothing ran if a hook gave the result, or if the call ended before its cell was ready. */
const hasRun = ({ kind }: Evaluation, { status, profile }: CallOutcome): boolean =>
  kind === 'permitted' && status !== 'not_started' && !(status === 'cancelled' && profile === null)
