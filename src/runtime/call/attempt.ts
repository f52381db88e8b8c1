// resolve tool → parse input → constraints → argument gate → hooks → rules and mode → [approval] → permit →
// cell → hooks → record → result. The gate does the first half; what follows is here, and each step is
// recorded before the next one is taken: a call that cannot be recorded does not run.
import { CordonError, fail } from '../../errors/index.js'
import type { ApprovalGrant, Evaluation, GateCall, JsonValue } from '../../gate/index.js'
import { resultOfInterrupted } from '../../sandbox/index.js'

import { settleQuestions } from '../approvals.js'
import { factsOf } from './call-services.js'
import type { CallHandlers, Outcome } from '../call-outcome.js'
import type { CallServices } from './call-services.js'
import { completeCall } from './complete-call.js'
import { called, decided, denied, idsOf, processStarted, recordTogether } from '../events/call-record.js'
import { recordArguments } from '../events/recorded-arguments.js'
import { endedBy } from '../events/process-ending.js'
import type { NetworkCall } from '../network/call-networks.js'
import { createBareRequests } from '../events/bare-requests.js'
import { createEgressLog } from '../events/egress-log.js'
import type { RegisteredCalls } from '../registry/index.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolResult } from '../result/tool-result.js'

type Permitted = Extract<Evaluation, { kind: 'permitted' }>

/** One decision and, where it permits, one run. `wider`: with this policy, which `call.widening` asks for. */
export const attemptCall = async (services: CallServices, call: GateCall, handlers: CallHandlers, wider?: BoundTool): Promise<ToolResult> => {
  try {
    return await decideAndRun(services, call, handlers, wider)
  } catch (error) {
    // What cannot be recorded does not run: no row is left behind that somebody else could start.
    await services.registeredCalls?.drop(call.callId)
    throw error
  }
}

const decideAndRun = async (services: CallServices, call: GateCall, handlers: CallHandlers, wider?: BoundTool): Promise<ToolResult> => {
  const { gate, events } = services
  const asked = await gate.decide(call, wider?.gate)
  if (asked.kind === 'asking') await recordDecision(services, asked)
  const evaluation = await settleQuestions(asked, { gate, events, settings: services.approval, signal: handlers.signal })
  const tool = wider ?? services.tools.get(call.tool)
  switch (evaluation.kind) {
    case 'refused':
    case 'asking': {
      const refusal = services.registeredCalls?.refusalOf(call.callId)
      await services.registeredCalls?.drop(call.callId)
      return deny(services, evaluation, refusal)
    }
    case 'substituted':
      await services.registeredCalls?.drop(call.callId)
      await recordDecision(services, evaluation)
      return completeCall(services, call, evaluation, substitute(evaluation.result))
    case 'permitted': {
      if (tool === undefined) return deny(services, evaluation)
      const { grant } = evaluation
      const isNewGrant = grant !== undefined && handlers.onGrant(grant) && grant.scope === 'session'
      await Promise.all([recordBegin(services, evaluation), ...(isNewGrant ? [recordGrant(services, grant)] : [])])
      const outcome = await runRegistered(services, tool, evaluation, handlers)
      if (outcome.status === 'ok') call.session.complete(call.tool)
      return completeCall(services, call, evaluation, outcome)
    }
  }
}

const recordBegin = async ({ events, record }: CallServices, evaluation: Permitted): Promise<void> => {
  const recorded = recordArguments(evaluation.inputs.call, record)
  await recordTogether(events, [decided(evaluation, recorded), called(evaluation, recorded)])
}

/** When its boundary stands, and before its program begins: what never gets so far has not started. */
const recordStart = async ({ events, executor, record }: CallServices, tool: BoundTool, evaluation: Permitted): Promise<void> => {
  const process = executor.processOf(tool, evaluation.inputs.command)
  if (process === undefined) return
  await events.emit(processStarted(evaluation, { program: process.program, words: recordArguments(process.words, record), cwd: tool.cwd }))
}

/** From now on such a call is not asked about in this session. */
const recordGrant = async ({ events, gate }: CallServices, { tool, approved_by: by, policy_hash: hash, approval_action_id: id }: ApprovalGrant): Promise<void> => {
  await events.emit({ type: 'policy.changed', call_id: null, change: 'approval', because: `${by} approved calls with these arguments for the session (${id})`, tool, policy_hash: hash, permission_state: gate.state() })
}

/** With a registry: claims the call first, so that no other runner runs it, and completes it before anybody hears the result. */
const runRegistered = async (services: CallServices, tool: BoundTool, evaluation: Permitted, handlers: CallHandlers): Promise<Outcome> => {
  const { registeredCalls } = services
  if (registeredCalls === undefined) return run(services, tool, evaluation, handlers)
  const { call_id: callId } = evaluation.decision
  if (!registeredCalls.isAsked(callId)) return { ...NOTHING, status: 'not_started', error: fail('store-state', { problem: 'the registry was not asked about this call', hint: 'let somebody answer in time' }) }
  if (registeredCalls.isElsewhere(callId)) return runElsewhere(registeredCalls, callId, handlers)
  const invocation = registeredCalls.idOf(callId)
  let cancelled: AbortSignal
  try {
    cancelled = await registeredCalls.start(callId)
  } catch (error) {
    await registeredCalls.drop(callId)
    if (!(error instanceof CordonError)) throw error
    return { ...NOTHING, status: 'not_started', error }
  }
  const signal = handlers.signal === undefined ? cancelled : AbortSignal.any([handlers.signal, cancelled])
  const outcome = await run(services, tool, evaluation, { ...handlers, signal }).catch(async (error: unknown) => {
    // It is claimed and will not run: nobody has to wait for it.
    const known = error instanceof CordonError ? error : undefined
    await registeredCalls.complete(callId, { ...NOTHING, status: 'not_started', error: known }).catch(() => undefined)
    throw error
  })
  try {
    await registeredCalls.complete(callId, outcome)
    return { ...outcome, registered: { invocation, runner: null, boundary: null } }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    // It ran, and the registry does not say so. Its reader will ask a person.
    return { ...outcome, status: 'failed', output: undefined, error }
  }
}

/** A runner on another host claims it and writes its result to the registry, or it has ended before and the result is there. */
const runElsewhere = async (registeredCalls: RegisteredCalls, callId: string, handlers: CallHandlers): Promise<Outcome> => {
  try {
    return { ...NOTHING, ...(await registeredCalls.elsewhere(callId, handlers)) }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return { ...NOTHING, status: error.code === 'cancelled' || error.code === 'runtime-closed' ? 'cancelled' : 'failed', error }
  }
}

/** Whatever goes wrong after the permit is an outcome of the call, and is recorded as one. */
const run = async (services: CallServices, tool: BoundTool, evaluation: Permitted, { signal, onProgress, onOutput }: CallHandlers): Promise<Outcome> => {
  const { executor, events, record } = services
  const { permit, inputs, decision, grant } = evaluation
  const began = performance.now()
  let start = 'awaited' as Start
  const beforeStart = async (): Promise<void> => {
    start = 'unrecorded'
    await recordStart(services, tool, evaluation)
    start = 'recorded'
  }
  const reached = createEgressLog(events, idsOf(decision), record.egressEntries)
  const bare = createBareRequests(tool.gate.boundary.credentials)
  const network: NetworkCall = {
    callId: decision.call_id,
    writeApproval: grant === undefined ? 'none' : 'recorded',
    record: async (event) => {
      await reached.record(event)
      bare.take(event)
    },
  }
  try {
    const execution = await executor.execute({ tool, permit, input: inputs.call, command: inputs.command, signal, onProgress, onOutput, beforeStart, network })
    await reached.finish()
    return { ...execution, egress: reached.summary(), bareRequests: bare.lines(), durationMs: performance.now() - began }
  } catch (error) {
    if (!(error instanceof CordonError) || start === 'unrecorded') throw error
    // Where the log cannot be written, how the call ended cannot be either, and that is told.
    await reached.finish().catch(() => undefined)
    const status = statusOf(error, start)
    const ending = start === 'recorded' ? endedBy(status === 'cancelled' ? 'cancelled' : 'setup') : null
    const { profile = null, violations = [], usage = null } = resultOfInterrupted(error) ?? {}
    return { ...NOTHING, status, error, ending, profile, violations, usage, egress: reached.summary(), bareRequests: bare.lines(), durationMs: performance.now() - began }
  }
}

type Start = 'awaited' | 'recorded' | 'unrecorded'

/** A launcher that died behind the start may have run the tool; every other error says that it could not be started. */
const statusOf = ({ code }: CordonError, start: Start): Outcome['status'] => {
  if (code === 'cancelled' || code === 'sandbox-closed') return 'cancelled'
  return start === 'recorded' && code === 'launcher-died' ? 'failed' : 'not_started'
}

const NOTHING = { output: undefined, error: undefined, profile: null, violations: [], usage: null, writtenBytes: null, printed: '', ending: null, egress: null, durationMs: 0 } as const

const substitute = (result: JsonValue): Outcome => ({ ...NOTHING, status: 'ok', output: result })

const recordDecision = async ({ events, record }: CallServices, evaluation: Evaluation): Promise<void> => {
  await events.emit(decided(evaluation, recordArguments(evaluation.inputs.call, record)))
}

/** `refusal`: of the registry, where somebody here had approved the call before. */
const deny = async (services: CallServices, evaluation: Evaluation, refusal?: CordonError): Promise<ToolResult> => {
  const { decision, inputs } = evaluation
  await recordTogether(services.events, [decided(evaluation, recordArguments(inputs.call, services.record)), denied(evaluation)])
  const denial = evaluation.kind === 'refused' ? evaluation.denial : undefined
  return {
    // Nobody said no where the caller itself went away.
    status: denial?.code === 'cancelled' ? 'cancelled' : 'denied',
    reason: decision.agent_reason ?? 'This call was not allowed.',
    ...(evaluation.context.length === 0 ? {} : { context: evaluation.context }),
    facts: factsOf(services, evaluation, undefined, refusal ?? denial),
  }
}
