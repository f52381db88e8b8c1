// The life of a call, from top to bottom:
//
//   resolve tool → parse input → constraints → argument gate → hooks → rules and mode → [approval] → permit →
//   cell → hooks → record → result
//
// The gate takes the steps up to the permit. Each step is recorded before the next one begins: a call that cannot
// be recorded does not run. `createCordon().call` and `cordon run` both come through `performCall`.
import { CordonError } from '../../errors/index.js'
import type { Evaluation, Gate, GateCall, JsonValue, PermissionDecision } from '../../gate/index.js'

import { settleQuestions } from '../approvals.js'
import { NOTHING_RAN } from '../call-outcome.js'
import type { CallHandlers, Outcome } from '../call-outcome.js'
import { called, decided, denied, ended, policyChanged, recordTogether } from '../events/call-record.js'
import type { PolicyChange } from '../events/call-record.js'
import { recordArguments } from '../events/recorded-arguments.js'
import type { ToolResult } from '../result/tool-result.js'
import { factsOf } from './call-facts.js'
import type { CallServices, CallTool, Permitted } from './call-services.js'
import { claimAndRun } from './claim-and-run.js'
import { endNotRecorded } from './run-permitted.js'

/** What the caller gets, and the error behind it. */
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
    const evaluation = await askApprovers(services, asked, handlers)
    const tool = wider ?? services.tools.get(call.tool)
    if (evaluation.kind === 'substituted') return await answerWithoutRunning(services, call, evaluation)
    if (evaluation.kind !== 'permitted' || tool === undefined) return await refuse(services, evaluation)
    const kept = await keepApproval(evaluation, handlers)
    if (kept instanceof CordonError) return await refuse(services, evaluation, kept)
    await recordPermitted(services, evaluation, kept)
    const outcome = await claimAndRun(services, tool, evaluation, handlers)
    if (outcome.status === 'ok') call.session.complete(call.tool)
    return await complete(services, call, evaluation, outcome)
  } catch (error) {
    // Nothing is left in the registry that somebody else could start.
    await services.registeredCalls?.drop(call.callId)
    throw error
  }
}

const askApprovers = <Tool extends CallTool>(
  { gate, events, approval, record }: CallServices<Tool>,
  asked: Evaluation,
  { signal }: CallHandlers,
): Promise<Evaluation> => settleQuestions(asked, { gate, events, settings: approval, record, signal })

/** The call is recorded as denied, and the model reads a short reason. `problem`: why a permit is not used. */
const refuse = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  evaluation: Evaluation,
  problem?: CordonError,
): Promise<EndedCall> => {
  const decision = problem === undefined ? evaluation.decision : withdrawn(evaluation.decision, problem)
  // The registry may refuse what somebody here has approved.
  const refusal = services.registeredCalls?.refusalOf(decision.call_id)
  await services.registeredCalls?.drop(decision.call_id)
  await recordTogether(services.events, [decidedOf(services, { ...evaluation, decision }), denied({ decision })])
  const denial = evaluation.kind === 'refused' ? evaluation.denial : problem
  const result: ToolResult = {
    // Nobody said no where the caller itself went away.
    status: denial?.code === 'cancelled' ? 'cancelled' : 'denied',
    reason: decision.agent_reason ?? 'This call was not allowed.',
    ...(evaluation.context.length === 0 ? {} : { context: evaluation.context }),
    facts: factsOf(services, decision, undefined, refusal ?? denial),
  }
  return { result, error: refusal ?? denial }
}

/** A hook has given the result, so that nothing has to run. */
const answerWithoutRunning = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  call: GateCall,
  evaluation: Extract<Evaluation, { kind: 'substituted' }>,
): Promise<EndedCall> => {
  await services.registeredCalls?.drop(call.callId)
  await services.events.emit(decidedOf(services, evaluation))
  return complete(services, call, evaluation, { ...NOTHING_RAN, status: 'ok', output: evaluation.result })
}

const withdrawn = (decision: PermissionDecision, { message, agentMessage, code }: CordonError): PermissionDecision => ({
  ...decision,
  ...{ decision: 'unavailable', decision_reason: message, agent_reason: agentMessage, error_code: code },
  expires_at: null,
})

/** What was approved for longer than this call is kept. Where that fails, the call does not run. */
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

const recordPermitted = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  evaluation: Permitted,
  changes: readonly PolicyChange[],
): Promise<void> => {
  const { decision, inputs } = evaluation
  const recorded = recordArguments(inputs.call, services.record)
  await recordTogether(services.events, [
    decided(evaluation, recorded),
    called(evaluation, recorded),
    ...changes.map((change) => policyChanged(decision, change, services.gate.state())),
  ])
}

const decidedOf = <Tool extends CallTool>({ record }: CallServices<Tool>, evaluation: Evaluation) =>
  decided(evaluation, recordArguments(evaluation.inputs.call, record))

/** Hooks see what came out, the record is closed, and the caller gets its result. */
const complete = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  call: GateCall,
  evaluation: Evaluation,
  outcome: Outcome,
): Promise<EndedCall> => {
  const shown = await showToHooks(services.gate, call, evaluation, outcome)
  await recordEnd(services, evaluation, outcome, shown)
  const context = [...evaluation.context, ...shown.context]
  const result: ToolResult = {
    status: shown.status,
    ...(shown.output === undefined ? {} : { output: shown.output }),
    ...(shown.error === undefined ? {} : { reason: shown.error.agentMessage }),
    ...(context.length === 0 ? {} : { context }),
    facts: factsOf(services, outcome.revised ?? evaluation.decision, outcome, shown.error),
  }
  return { result, error: shown.error }
}

type Shown = Pick<Outcome, 'status' | 'output' | 'error'> & { readonly context: readonly string[] }

/** A hook may replace or withhold the output. One that denies or fails withholds it. */
const showToHooks = async (
  gate: Gate,
  { callId, tool }: GateCall,
  { inputs }: Evaluation,
  outcome: Outcome,
): Promise<Shown> => {
  const { status, output, error } = outcome
  const after = await gate.runHooks(status === 'ok' ? 'post_tool_use' : 'post_tool_failure', {
    ...{ callId, tool, input: inputs.call, output: output ?? null },
    ...(error === undefined ? {} : { reason: error.message }),
  })
  if (after.kind === 'denied')
    return { status: status === 'ok' ? 'failed' : status, output: undefined, error: after.denial, context: [] }
  const shown = (value: JsonValue | undefined): Shown => ({ status, error, output: value, context: after.context })
  if (after.suppressOutput) return shown(undefined)
  return shown(after.updatedOutput === undefined ? output : after.updatedOutput.value)
}

const recordEnd = async <Tool extends CallTool>(
  { events, record }: CallServices<Tool>,
  evaluation: Evaluation,
  outcome: Outcome,
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
    ...(revised === undefined ? [] : [decided({ decision: revised }, recordArguments(evaluation.inputs.call, record))]),
    ...ended({ decision: revised ?? evaluation.decision }, { ...outcome, completion }),
  ]
  await recordTogether(events, drafts).catch((cause: unknown) => {
    throw hasRun(evaluation, outcome) && cause instanceof CordonError
      ? endNotRecorded(evaluation.decision.tool, outcome.status, cause)
      : cause
  })
}

/** Nothing ran where a hook stood in for the tool, or where the call ended before its cell was ready. */
const hasRun = ({ kind }: Evaluation, { status, profile }: Outcome): boolean =>
  kind === 'permitted' && status !== 'not_started' && !(status === 'cancelled' && profile === null)
