// The one door to a cell. Every call shows its permit here, for exactly this tool, these arguments and this policy.
import { CordonError, fail, messageOf } from '../../errors/index.js'
import { requirePermit } from '../../gate/index.js'
import type { PermissionDecision } from '../../gate/index.js'
import { beyondPermit, resultOfInterrupted } from '../../sandbox/index.js'
import { monotonicMs } from '../../shapes/index.js'

import { NOTHING_RAN } from '../call-outcome.js'
import type { CallHandlers, CallOutcome } from '../call-outcome.js'
import { createEgressLog } from '../events/egress-log.js'
import { idsOf } from '../events/call-record.js'
import { endedBy } from '../events/process-ending.js'
import { recordArguments } from '../events/recorded-arguments.js'
import type { NetworkCall } from '../network/call-networks.js'
import type { Execution } from '../result/tool-result.js'
import type { BeforeStart, CallServices, CallTool, Permitted } from './call-services.js'

/** Every error after the permit is an outcome of the call, and is recorded as one. */
export const runPermitted = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  tool: Tool,
  evaluation: Permitted,
  handlers: CallHandlers,
): Promise<CallOutcome> => {
  const { runner, events, record } = services
  const { permit, inputs, decision, grant } = evaluation
  const { name, boundary, policyHash } = tool.gate
  const began = monotonicMs()
  let start = 'awaited' as Start
  const requireCurrent = (): void => {
    if (services.isCurrent?.(evaluation) === false) throw fail('call-outdated', { tool: name })
  }
  const beforeStart: BeforeStart = async (applied) => {
    const problem = applied === undefined ? undefined : beyondPermit(applied, boundary)
    if (problem !== undefined) throw fail('profile-mismatch', { problem })
    start = 'unrecorded'
    await recordStart(services, tool, evaluation)
    start = 'recorded'
    requireCurrent()
  }
  const reached = createEgressLog(events, idsOf(decision), boundary.credentials, record.egressEntries)
  const network: NetworkCall = {
    callId: decision.call_id,
    writeApproval: grant === undefined ? 'none' : 'recorded',
    record: reached.record,
  }
  const known = () => ({
    egress: reached.summary(),
    bareRequests: reached.bareRequests(),
    durationMs: monotonicMs() - began,
  })
  let execution: Execution | undefined
  try {
    const input = requirePermit(permit, { tool: name, arguments: inputs.call, policyHash, now: services.now() })
    requireCurrent()
    // Cancelled while it waited for its turn: nothing has to be built.
    if (handlers.signal?.aborted === true) throw fail('cancelled', {})
    execution = await runner.run(tool, {
      ...handlers,
      input,
      command: inputs.command,
      callId: decision.call_id,
      beforeStart,
      network,
    })
    await reached.finish()
    return { ...execution, ...known() }
  } catch (error) {
    if (start === 'unrecorded') throw error
    if (execution !== undefined) throw endNotRecorded(name, execution.status, error)
    // If this cannot be recorded, the end of the call cannot be either, and that is reported.
    await reached.finish().catch(() => undefined)
    if (error instanceof CordonError && error.code === 'profile-mismatch')
      await stopTool(services, tool, decision, error)
    const status = statusOf(error, start)
    const ending = start === 'recorded' ? endedBy(status === 'cancelled' ? 'cancelled' : 'setup') : null
    const outcome = { ...NOTHING_RAN, status, ending, ...known() }
    if (!(error instanceof CordonError)) return { ...outcome, reason: messageOf(error), unexpected: { error } }
    const { profile = null, violations = [], usage = null } = resultOfInterrupted(error) ?? {}
    return { ...outcome, error, profile, violations, usage, revised: services.revise?.(decision, error) }
  }
}

/** Something in Cordon is faulty. No other call of the tool should find out what it allows. */
const stopTool = async <Tool extends CallTool>(
  { events, stopped, tools }: CallServices<Tool>,
  tool: Tool,
  decision: PermissionDecision,
  { params: { problem = '' } }: CordonError,
): Promise<void> => {
  stopped.set(tools.get(tool.gate.name) ?? tool, String(problem))
  await events.emit({ type: 'sandbox.mismatch', ...idsOf(decision), problem: String(problem) })
}

/** The tool ran, and its end is not in the log. */
export const endNotRecorded = (tool: string, status: string, error: unknown): CordonError => {
  const fix = (error instanceof CordonError ? error.fix : undefined) ?? 'see to it that the audit log can be written'
  return fail('end-not-recorded', { tool, status, problem: messageOf(error), fix }, error)
}

type Start = 'awaited' | 'recorded' | 'unrecorded'

/** Recorded when the cell is ready, before its program begins. */
const recordStart = async <Tool extends CallTool>(
  { events, runner, record }: CallServices<Tool>,
  tool: Tool,
  evaluation: Permitted,
): Promise<void> => {
  const process = runner.processOf(tool, evaluation.inputs)
  if (process === undefined) return
  await events.emit({
    type: 'process.started',
    ...idsOf(evaluation.decision),
    program: process.program,
    arguments: recordArguments(process.words, record),
    cwd: tool.cwd,
  })
}

/** After an unexpected error or the launcher's death the tool may have run. All other errors mean that it did not. */
const statusOf = (error: unknown, start: Start): CallOutcome['status'] => {
  const code = error instanceof CordonError ? error.code : 'unexpected'
  if (code === 'cancelled' || code === 'sandbox-closed') return 'cancelled'
  return start === 'recorded' && (code === 'launcher-died' || code === 'unexpected') ? 'failed' : 'not_started'
}
