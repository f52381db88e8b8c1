// What the audit log says about one `cordon run`.
import { CordonError } from '../../errors/index.js'
import type { Evaluation, JsonObject, PermissionDecision } from '../../gate/index.js'
import type { EventStream } from '../../runtime/events/index.js'
import { called, decided, denied, ended, endedBy, idsOf, processEnded, processEndingOf, processStarted, recordArguments, recordTogether } from '../../runtime/events/index.js'
import type { CallResult } from '../../sandbox/index.js'

import { argvOf } from './run-tool.js'

/** Who typed a command may read it in the log; what looks like a secret is left out. `CORDON_RECORD=hash` keeps nothing but hashes. */
export type RecordSettings = NonNullable<Parameters<typeof recordArguments>[1]>

export const recordSettingsOf = ({ CORDON_RECORD: wanted }: Readonly<Record<string, string | undefined>>): RecordSettings => ({ arguments: wanted === 'hash' ? 'hash' : 'redacted' })

export const recordRefused = (events: EventStream, evaluation: Evaluation, settings: RecordSettings): Promise<void> =>
  recordTogether(events, [decided(evaluation, recordArguments(evaluation.inputs.call, settings)), denied(evaluation)])

/** Before it begins: what is not in the log does not run. */
export const recordPermitted = async (events: EventStream, evaluation: Evaluation, settings: RecordSettings): Promise<void> => {
  const { call } = evaluation.inputs
  await recordTogether(events, [decided(evaluation, recordArguments(call, settings)), called(evaluation, recordArguments(call))])
}

/** When its boundary stands, and before its program begins. */
export const recordStarted = async (events: EventStream, evaluation: Evaluation, cwd: string, settings: RecordSettings): Promise<void> => {
  const { call } = evaluation.inputs
  const argv = argvOf(call)
  const { program } = call as JsonObject
  const process = { program: typeof program === 'string' ? program : (argv[0] ?? ''), words: recordArguments(argv, settings), cwd }
  await events.emit(processStarted(evaluation, process))
}

export const recordEnded = (events: EventStream, decision: PermissionDecision, result: CallResult, intrusion: CordonError | undefined): Promise<void> => {
  const { profile, violations, usage } = result
  // Output goes past this process, so there is nothing to take a hash of.
  const completion = { ...completionOf(result, intrusion), error_code: intrusion?.code ?? null, result_hash: null, result_bytes: null, duration_ms: usage.wallMs }
  return recordTogether(events, ended({ decision }, { profile, violations, ending: processEndingOf(result, violations), usage, completion }))
}

const completionOf = (result: CallResult, intrusion: CordonError | undefined) => {
  if (result.status === 'limit' && result.limit === 'wall') return { status: 'timeout', reason: 'the wall-clock limit' } as const
  if (result.status === 'exited' && result.exitCode === 0 && intrusion === undefined) return { status: 'ok', reason: null } as const
  const reason = intrusion?.message ?? (result.status === 'exited' ? `exit status ${String(result.exitCode)}` : `killed by signal ${String(result.signal)}`)
  return { status: result.violations.length > 0 ? 'violated' : 'failed', reason } as const
}

export interface FailedStart {
  readonly error: unknown
  readonly revised: PermissionDecision | undefined
  /** Whether it was to begin at once, boundary and all. */
  readonly hasStarted: boolean
}

/** It was permitted, and did not begin: the boundary could not be built, or there was no such program. */
export const recordFailed = (events: EventStream, evaluation: Evaluation, { error, revised, hasStarted }: FailedStart): Promise<void> => {
  const { decision } = evaluation
  const reason = error instanceof Error ? error.message : String(error)
  const code = error instanceof CordonError ? error.code : null
  // A launcher that died may have run the command before.
  const status = hasStarted && code === 'launcher-died' ? 'failed' : 'not_started'
  const completion = { status, reason, error_code: code, result_hash: null, result_bytes: null, duration_ms: 0 } as const
  return recordTogether(events, [
    ...(revised === undefined ? [] : [decided({ decision: revised }, recordArguments(evaluation.inputs.call))]),
    ...(hasStarted ? [processEnded(idsOf(decision), endedBy('setup'), null)] : []),
    ...ended({ decision: revised ?? decision }, { profile: null, violations: [], ending: null, usage: null, completion }),
  ])
}
