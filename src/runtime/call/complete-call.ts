import { CordonError, fail } from '../../errors/index.js'
import type { Evaluation, Gate, GateCall } from '../../gate/index.js'

import { factsOf } from './call-services.js'
import type { Outcome } from '../call-outcome.js'
import type { CallServices } from './call-services.js'
import { ended, recordTogether } from '../events/call-record.js'
import { recordArguments } from '../events/recorded-arguments.js'
import type { ToolResult } from '../result/tool-result.js'

/** A run has ended: hooks see what came out, the record is closed, and the caller gets its result. */
export const completeCall = async (services: CallServices, call: GateCall, evaluation: Evaluation, outcome: Outcome): Promise<ToolResult> => {
  const { inputs } = evaluation
  const after = await services.gate.runHooks(outcome.status === 'ok' ? 'post_tool_use' : 'post_tool_failure', {
    ...{ callId: call.callId, tool: call.tool, input: inputs.call, output: outcome.output ?? null },
    ...(outcome.error === undefined ? {} : { reason: outcome.error.message }),
  })
  const shown = shownAfter(outcome, after)
  const context = [...evaluation.context, ...(after.kind === 'passed' ? after.context : [])]
  const result = shown.output === undefined ? null : recordArguments(shown.output)
  const completion = { status: shown.status, reason: shown.error?.message ?? null, error_code: shown.error?.code ?? null, result_hash: result?.hash ?? null, result_bytes: result?.bytes ?? null, duration_ms: outcome.durationMs }
  await recordTogether(services.events, ended(evaluation, { ...outcome, completion })).catch((error: unknown) => {
    throw hasRun(evaluation, outcome) && error instanceof CordonError ? endNotRecorded(call.tool, outcome.status, error) : error
  })
  return {
    status: shown.status,
    ...(shown.output === undefined ? {} : { output: shown.output }),
    ...(shown.error === undefined ? {} : { reason: shown.error.agentMessage }),
    ...(context.length === 0 ? {} : { context }),
    facts: factsOf(services, evaluation, outcome, shown.error),
  }
}

/** Nothing ran where a hook stood in for the tool, or where the call ended before its boundary was there. */
const hasRun = ({ kind }: Evaluation, { status, profile }: Outcome): boolean => kind === 'permitted' && status !== 'not_started' && !(status === 'cancelled' && profile === null)

const endNotRecorded = (tool: string, status: string, error: CordonError): CordonError => fail('end-not-recorded', { tool, status, problem: error.message, fix: error.fix ?? 'see to it that the audit log can be written' }, error)

type Shown = Pick<Outcome, 'status' | 'output' | 'error'>

/** A hook may replace or withhold what came out; one that denies or fails withholds it. */
const shownAfter = (outcome: Outcome, after: Awaited<ReturnType<Gate['runHooks']>>): Shown => {
  if (after.kind === 'denied') return { status: outcome.status === 'ok' ? 'failed' : outcome.status, output: undefined, error: after.denial }
  if (after.suppressOutput) return { ...outcome, output: undefined }
  return after.updatedOutput === undefined ? outcome : { ...outcome, output: after.updatedOutput.value }
}
