// resolve tool → parse input → constraints → argument gate → hooks → rules and mode → [approval] → permit →
// cell → hooks → record → result. The gate does the first half; what follows is here, and each step is
// recorded before the next one is taken: a call that cannot be recorded does not run.
import { CordonError } from '../errors/index.js'
import type { ApprovalGrant, Evaluation, Gate, GateCall, JsonValue } from '../gate/index.js'
import { describeViolation } from '../sandbox/index.js'
import type { SandboxProfile } from '../sandbox/index.js'

import { settleQuestions } from './approvals.js'
import type { ApprovalSettings } from './approvals.js'
import type { EventStream } from './events/event-stream.js'
import { recordArguments } from './events/recorded-arguments.js'
import type { ArgumentSettings, RecordedArguments } from './events/recorded-arguments.js'
import type { Executor } from './execute.js'
import type { RegisteredTool } from './registered-tool.js'
import type { CallFacts, Execution, ToolResult } from './tool-result.js'

export interface CallServices {
  readonly gate: Gate
  readonly events: EventStream
  readonly tools: ReadonlyMap<string, RegisteredTool>
  readonly executor: Executor
  readonly approval: ApprovalSettings | undefined
  readonly record: ArgumentSettings
  readonly sessionId: string
}

export interface CallHandlers {
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: unknown) => void
  readonly onGrant: (grant: ApprovalGrant) => void
}

export const liveCall = async (services: CallServices, call: GateCall, { signal, onProgress, onGrant }: CallHandlers): Promise<ToolResult> => {
  const { gate, events } = services
  const asked = await gate.decide(call)
  if (asked.kind === 'asking') await recordDecision(services, asked)
  const evaluation = await settleQuestions(asked, { gate, events, settings: services.approval, signal })
  const tool = services.tools.get(call.tool)
  switch (evaluation.kind) {
    case 'refused':
    case 'asking':
      return deny(services, evaluation)
    case 'substituted':
      await recordDecision(services, evaluation)
      return complete(services, call, evaluation, substitute(evaluation.result))
    case 'permitted': {
      if (tool === undefined) return deny(services, evaluation)
      if (evaluation.grant?.scope === 'session') onGrant(evaluation.grant)
      const { decision, inputs } = evaluation
      const recorded = recordArguments(inputs.call, services.record)
      // What is emitted together is recorded in one go.
      await Promise.all([
        recordDecision(services, evaluation, recorded),
        events.emit({
          ...{ type: 'tool.called', call_id: decision.call_id, tool: decision.tool, decision_id: decision.decision_id },
          ...{ arguments: recorded, risk: decision.risk, policy_hash: decision.policy_hash },
        } as const),
      ])
      const execution = await run(services, { tool, evaluation, signal, onProgress })
      if (execution.status === 'ok') call.invocation.complete(call.tool)
      return complete(services, call, evaluation, execution)
    }
  }
}

interface PermittedRun {
  readonly tool: RegisteredTool
  readonly evaluation: Extract<Evaluation, { kind: 'permitted' }>
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: unknown) => void
}

/** Whatever goes wrong after the permit is an outcome of the call, and is recorded as one. */
const run = async ({ executor }: CallServices, { tool, evaluation, signal, onProgress }: PermittedRun): Promise<Outcome> => {
  const began = performance.now()
  try {
    const execution = await executor.execute({ tool, permit: evaluation.permit, input: evaluation.inputs.call, signal, onProgress })
    return { ...execution, durationMs: performance.now() - began }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    const status = error.code === 'cancelled' || error.code === 'sandbox-closed' ? 'cancelled' : 'failed'
    return { status, output: undefined, error, profile: null, violations: [], usage: null, printed: '', durationMs: performance.now() - began }
  }
}

type Outcome = Omit<Execution, 'profile'> & { readonly profile: Execution['profile'] | null; readonly durationMs: number }

const substitute = (result: JsonValue): Outcome => ({ status: 'ok', output: result, error: undefined, profile: null, violations: [], usage: null, printed: '', durationMs: 0 })

const recordDecision = async ({ events, record }: CallServices, { decision, inputs }: Evaluation, recorded: RecordedArguments = recordArguments(inputs.call, record)): Promise<void> => {
  await events.emit({ type: 'permission.evaluated', call_id: decision.call_id, permission_decision: decision, arguments: recorded })
}

const deny = async (services: CallServices, evaluation: Evaluation): Promise<ToolResult> => {
  const { decision } = evaluation
  const denied = services.events.emit({
    ...{ type: 'tool.denied', call_id: decision.call_id, tool: decision.tool, decision_id: decision.decision_id },
    ...{ reason: decision.decision_reason, error_code: decision.error_code, risk: decision.risk, used_declared_capability: decision.used_declared_capability },
  } as const)
  await Promise.all([recordDecision(services, evaluation), denied])
  const denial = evaluation.kind === 'refused' ? evaluation.denial : undefined
  return {
    status: 'denied',
    reason: decision.agent_reason ?? 'This call was not permitted.',
    ...(evaluation.context.length === 0 ? {} : { context: evaluation.context }),
    facts: factsOf(services, evaluation, undefined, denial),
  }
}

const complete = async (services: CallServices, call: GateCall, evaluation: Evaluation, outcome: Outcome): Promise<ToolResult> => {
  const { events } = services
  const { decision, inputs } = evaluation
  const common = { call_id: decision.call_id, tool: decision.tool, decision_id: decision.decision_id }
  const after = await services.gate.runHooks(outcome.status === 'ok' ? 'post_tool_use' : 'post_tool_failure', {
    ...{ callId: call.callId, tool: call.tool, input: inputs.call, output: outcome.output ?? null },
    ...(outcome.error === undefined ? {} : { reason: outcome.error.message }),
  })
  const shown = shownAfter(outcome, after)
  const context = [...evaluation.context, ...(after.kind === 'passed' ? after.context : [])]
  const hash = shown.output === undefined ? null : recordArguments(shown.output)
  await Promise.all([
    ...(outcome.profile === null ? [] : [events.emit({ type: 'sandbox.applied', ...common, sandbox_profile: boundaryOf(outcome.profile) })]),
    ...outcome.violations.slice(0, MOST_EVENTS).map((violation, at) =>
      events.emit({ type: 'sandbox.violation', ...common, violation_ref: `violations/${String(at)}`, violation, description: describeViolation(violation) })),
    events.emit({
      ...{ type: 'tool.completed', ...common, status: shown.status, reason: shown.error?.message ?? null, error_code: shown.error?.code ?? null },
      ...{ result_hash: hash?.hash ?? null, result_bytes: hash?.bytes ?? null, duration_ms: outcome.durationMs },
    } as const),
  ])
  return {
    status: shown.status,
    ...(shown.output === undefined ? {} : { output: shown.output }),
    ...(shown.error === undefined ? {} : { reason: shown.error.agentMessage }),
    ...(context.length === 0 ? {} : { context }),
    facts: factsOf(services, evaluation, outcome, shown.error),
  }
}

const MOST_EVENTS = 100

/** A hook may replace or withhold what came out; one that denies or fails withholds it. */
const shownAfter = (outcome: Outcome, after: Awaited<ReturnType<Gate['runHooks']>>): Pick<Outcome, 'status' | 'output' | 'error'> => {
  if (after.kind === 'denied') return { status: outcome.status === 'ok' ? 'failed' : outcome.status, output: undefined, error: after.denial }
  if (after.suppressOutput) return { ...outcome, output: undefined }
  return after.updatedOutput === undefined ? outcome : { ...outcome, output: after.updatedOutput.value }
}

const boundaryOf = (profile: Execution['profile']): SandboxProfile | null => (profile.mode === 'none' ? null : profile)

const factsOf = ({ gate, sessionId }: CallServices, { decision }: Evaluation, outcome: Outcome | undefined, error: CordonError | undefined): CallFacts => ({
  call_id: decision.call_id,
  session_id: sessionId,
  tool: decision.tool,
  permission_state: gate.state(),
  permission_decision: decision,
  sandbox_profile: outcome?.profile ?? null,
  violations: outcome?.violations ?? [],
  usage: outcome?.usage ?? null,
  error: error === undefined ? null : { code: error.code, message: error.message, fix: error.fix ?? null },
  printed: outcome?.printed ?? '',
})
