import type { Evaluation, Gate, GateCall } from '../gate/index.js'
import { describeViolation } from '../sandbox/index.js'
import type { SandboxProfile } from '../sandbox/index.js'

import { factsOf } from './call-services.js'
import type { CallServices, Outcome } from './call-services.js'
import type { EventDraft } from './events/event.js'
import { recordArguments } from './events/recorded-arguments.js'
import { processEnded } from './events/process-ending.js'
import type { Execution, ToolResult } from './tool-result.js'

const MOST_VIOLATIONS = 100

/** A run has ended: hooks see what came out, the record is closed, and the caller gets its result. */
export const completeCall = async (services: CallServices, call: GateCall, evaluation: Evaluation, outcome: Outcome): Promise<ToolResult> => {
  const { decision, inputs } = evaluation
  const after = await services.gate.runHooks(outcome.status === 'ok' ? 'post_tool_use' : 'post_tool_failure', {
    ...{ callId: call.callId, tool: call.tool, input: inputs.call, output: outcome.output ?? null },
    ...(outcome.error === undefined ? {} : { reason: outcome.error.message }),
  })
  const shown = shownAfter(outcome, after)
  const context = [...evaluation.context, ...(after.kind === 'passed' ? after.context : [])]
  const ids = { call_id: decision.call_id, tool: decision.tool, decision_id: decision.decision_id }
  // What is emitted together is recorded in one go.
  await Promise.all(endOf(ids, outcome, shown).map((event) => services.events.emit(event)))
  return {
    status: shown.status,
    ...(shown.output === undefined ? {} : { output: shown.output }),
    ...(shown.error === undefined ? {} : { reason: shown.error.agentMessage }),
    ...(context.length === 0 ? {} : { context }),
    facts: factsOf(services, evaluation, outcome, shown.error),
  }
}

type Shown = Pick<Outcome, 'status' | 'output' | 'error'>

/** A hook may replace or withhold what came out; one that denies or fails withholds it. */
const shownAfter = (outcome: Outcome, after: Awaited<ReturnType<Gate['runHooks']>>): Shown => {
  if (after.kind === 'denied') return { status: outcome.status === 'ok' ? 'failed' : outcome.status, output: undefined, error: after.denial }
  if (after.suppressOutput) return { ...outcome, output: undefined }
  return after.updatedOutput === undefined ? outcome : { ...outcome, output: after.updatedOutput.value }
}

const endOf = (ids: { readonly call_id: string; readonly tool: string; readonly decision_id: string }, outcome: Outcome, shown: Shown): readonly EventDraft[] => {
  const result = shown.output === undefined ? null : recordArguments(shown.output)
  return [
    ...(outcome.profile === null ? [] : [{ type: 'sandbox.applied', ...ids, sandbox_profile: boundaryOf(outcome.profile) } as const]),
    ...outcome.violations.slice(0, MOST_VIOLATIONS).map(
      (violation, at) => ({ type: 'sandbox.violation', ...ids, violation_ref: `violations/${String(at)}`, violation, description: describeViolation(violation) }) as const,
    ),
    ...(outcome.ending === null ? [] : [processEnded(ids, outcome.ending, outcome.usage)]),
    {
      ...{ type: 'tool.completed', ...ids, status: shown.status, reason: shown.error?.message ?? null, error_code: shown.error?.code ?? null },
      ...{ result_hash: result?.hash ?? null, result_bytes: result?.bytes ?? null, duration_ms: outcome.durationMs },
    },
  ]
}

const boundaryOf = (profile: Execution['profile']): SandboxProfile | null => (profile.mode === 'none' ? null : profile)
