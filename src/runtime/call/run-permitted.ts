// The one door to a cell. Every call shows its permit here, for exactly this tool, these arguments and this policy.
import { CordonError, fail } from '../../errors/index.js'
import { requirePermit } from '../../gate/index.js'
import { resultOfInterrupted } from '../../sandbox/index.js'

import { NOTHING_RAN } from '../call-outcome.js'
import type { CallHandlers, Outcome } from '../call-outcome.js'
import { createBareRequests } from '../events/bare-requests.js'
import { idsOf, processStarted } from '../events/call-record.js'
import { createEgressLog } from '../events/egress-log.js'
import { endedBy } from '../events/process-ending.js'
import { recordArguments } from '../events/recorded-arguments.js'
import type { NetworkCall } from '../network/call-networks.js'
import type { Execution } from '../result/tool-result.js'
import type { CallServices, CallTool, Permitted } from './call-services.js'

/** Whatever goes wrong after the permit, but for a bug, is an outcome of the call and is recorded as one. */
export const runPermitted = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  tool: Tool,
  evaluation: Permitted,
  { signal, onProgress, onOutput }: CallHandlers,
): Promise<Outcome> => {
  const { runner, events, record } = services
  const { permit, inputs, decision, grant } = evaluation
  const { name, boundary, policyHash } = tool.gate
  const began = performance.now()
  let start = 'awaited' as Start
  const beforeStart = async (): Promise<void> => {
    start = 'unrecorded'
    await recordStart(services, tool, evaluation)
    start = 'recorded'
  }
  const reached = createEgressLog(events, idsOf(decision), record.egressEntries)
  const bare = createBareRequests(boundary.credentials)
  const network: NetworkCall = {
    callId: decision.call_id,
    writeApproval: grant === undefined ? 'none' : 'recorded',
    record: async (event) => {
      await reached.record(event)
      bare.take(event)
    },
  }
  const known = () => ({ egress: reached.summary(), bareRequests: bare.lines(), durationMs: performance.now() - began })
  let execution: Execution | undefined
  try {
    const input = requirePermit(permit, { tool: name, arguments: inputs.call, policyHash, now: services.now() })
    execution = await runner.run(tool, {
      input,
      command: inputs.command,
      signal,
      onProgress,
      onOutput,
      beforeStart,
      network,
    })
    await reached.finish()
    return { ...execution, ...known() }
  } catch (error) {
    if (!(error instanceof CordonError) || start === 'unrecorded') throw error
    if (execution !== undefined) throw endNotRecorded(name, execution.status, error)
    // Where this cannot be recorded, the end of the call cannot be either, and that is reported.
    await reached.finish().catch(() => undefined)
    const status = statusOf(error, start)
    const ending = start === 'recorded' ? endedBy(status === 'cancelled' ? 'cancelled' : 'setup') : null
    const { profile = null, violations = [], usage = null } = resultOfInterrupted(error) ?? {}
    return {
      ...NOTHING_RAN,
      status,
      error,
      ending,
      profile,
      violations,
      usage,
      ...known(),
      revised: services.revise?.(decision, error),
    }
  }
}

/** The tool ran, and the log does not say so. */
export const endNotRecorded = (tool: string, status: string, error: CordonError): CordonError =>
  fail(
    'end-not-recorded',
    { tool, status, problem: error.message, fix: error.fix ?? 'see to it that the audit log can be written' },
    error,
  )

type Start = 'awaited' | 'recorded' | 'unrecorded'

/** Recorded when the cell is ready and before its program begins: a call that never gets so far has not started. */
const recordStart = async <Tool extends CallTool>(
  { events, runner, record }: CallServices<Tool>,
  tool: Tool,
  evaluation: Permitted,
): Promise<void> => {
  const process = runner.processOf(tool, evaluation.inputs)
  if (process === undefined) return
  await events.emit(
    processStarted(evaluation, {
      program: process.program,
      words: recordArguments(process.words, record),
      cwd: tool.cwd,
    }),
  )
}

/** A launcher that died after the start may have run the tool. Every other error says that it could not be started. */
const statusOf = ({ code }: CordonError, start: Start): Outcome['status'] => {
  if (code === 'cancelled' || code === 'sandbox-closed') return 'cancelled'
  return start === 'recorded' && code === 'launcher-died' ? 'failed' : 'not_started'
}
