// What the audit log says about one `cordon run`. What is emitted together is written in one go.
import { CordonError } from '../errors/index.js'
import type { Evaluation, JsonObject, PermissionDecision } from '../gate/index.js'
import type { EgressTally, EventStream } from '../runtime/events/index.js'
import { processEnded, processEndingOf, recordArguments } from '../runtime/events/index.js'
import type { NetworkCall } from '../runtime/network/index.js'
import { describeViolation } from '../sandbox/index.js'
import type { CallResult } from '../sandbox/index.js'

import { argvOf } from './run-tool.js'

const MOST_VIOLATIONS = 100

type Emitted = Promise<unknown>

/** Who typed a command may read it in the log; what looks like a secret is left out. `CORDON_RECORD=hash` keeps nothing but hashes. */
export type RecordSettings = NonNullable<Parameters<typeof recordArguments>[1]>

export const recordSettingsOf = ({ CORDON_RECORD: wanted }: Readonly<Record<string, string | undefined>>): RecordSettings => ({ arguments: wanted === 'hash' ? 'hash' : 'redacted' })

const evaluated = (events: EventStream, { decision, inputs }: Evaluation, settings: RecordSettings = {}): Emitted =>
  events.emit({ type: 'permission.evaluated', call_id: decision.call_id, permission_decision: decision, arguments: recordArguments(inputs.call, settings) })

const common = ({ call_id, tool, decision_id }: PermissionDecision) => ({ call_id, tool, decision_id })

export const recordRefused = async (events: EventStream, evaluation: Evaluation, settings: RecordSettings): Promise<void> => {
  const { decision } = evaluation
  const { decision_reason: reason, error_code, risk, used_declared_capability } = decision
  await Promise.all([evaluated(events, evaluation, settings), events.emit({ type: 'tool.denied', ...common(decision), reason, error_code, risk, used_declared_capability })])
}

/** Before it begins: what is not in the log does not run. */
export const recordPermitted = async (events: EventStream, evaluation: Evaluation, cwd: string, settings: RecordSettings): Promise<void> => {
  const { decision, inputs } = evaluation
  const argv = argvOf(inputs.call)
  const { program } = inputs.call as JsonObject
  await Promise.all([
    evaluated(events, evaluation),
    events.emit({ type: 'tool.called', ...common(decision), arguments: recordArguments(inputs.call), risk: decision.risk, policy_hash: decision.policy_hash }),
    events.emit({ type: 'process.started', ...common(decision), program: typeof program === 'string' ? program : (argv[0] ?? ''), arguments: recordArguments(argv, settings), cwd }),
  ])
}

/** Before anything is sent: a connection that is not in the log is closed. */
export const recordEgress = (events: EventStream, decision: PermissionDecision, tally: EgressTally): NetworkCall['record'] => async (event) => {
  await events.emit({ ...event, ...common(decision) })
  tally.take(event)
}

export const recordEnded = async (events: EventStream, decision: PermissionDecision, result: CallResult, intrusion: CordonError | undefined): Promise<void> => {
  const { status, reason } = completionOf(result, intrusion)
  await Promise.all([
    events.emit({ type: 'sandbox.applied', ...common(decision), sandbox_profile: result.profile }),
    ...result.violations.slice(0, MOST_VIOLATIONS).map((violation, at) =>
      events.emit({ type: 'sandbox.violation', ...common(decision), violation_ref: `violations/${String(at)}`, violation, description: describeViolation(violation) })),
    events.emit(processEnded(common(decision), processEndingOf(result, result.violations), result.usage)),
    // Output goes past this process, so there is nothing to take a hash of.
    events.emit({ type: 'tool.completed', ...common(decision), status, reason, error_code: intrusion?.code ?? null, result_hash: null, result_bytes: null, duration_ms: result.usage.wallMs }),
  ])
}

const completionOf = (result: CallResult, intrusion: CordonError | undefined) => {
  if (result.status === 'limit' && result.limit === 'wall') return { status: 'timeout', reason: 'the wall-clock limit' } as const
  if (result.status === 'exited' && result.exitCode === 0 && intrusion === undefined) return { status: 'ok', reason: null } as const
  const reason = intrusion?.message ?? (result.status === 'exited' ? `exit status ${String(result.exitCode)}` : `killed by signal ${String(result.signal)}`)
  return { status: result.violations.length > 0 ? 'violated' : 'failed', reason } as const
}

/** It was permitted, and did not begin: the boundary could not be built, or there was no such program. */
export const recordFailed = async (events: EventStream, decision: PermissionDecision, error: unknown, revised: PermissionDecision | undefined, evaluation: Evaluation): Promise<void> => {
  const reason = error instanceof Error ? error.message : String(error)
  await Promise.all([
    ...(revised === undefined ? [] : [evaluated(events, { ...evaluation, decision: revised })]),
    events.emit({ type: 'process.terminated', ...common(decision), because: 'setup', limit: null, signal: null, usage: null }),
    events.emit({ type: 'tool.completed', ...common(revised ?? decision), status: 'failed', reason, error_code: error instanceof CordonError ? error.code : null, result_hash: null, result_bytes: null, duration_ms: 0 }),
  ])
}
