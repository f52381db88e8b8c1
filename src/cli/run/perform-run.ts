// One command from its decision to its end, with every step in the audit log before the next one is taken.
import { CordonError, fail } from '../../errors/index.js'
import { requirePermit } from '../../gate/index.js'
import type { Evaluation } from '../../gate/index.js'
import type { Boundary } from '../../policy/index.js'
import { auditOwnFiles, openAuditLog } from '../../runtime/audit/index.js'
import { createBareRequests, createEgressLog, createEventStream, idsOf } from '../../runtime/events/index.js'
import type { EgressSummary, EventStream } from '../../runtime/events/index.js'
import { shieldOwnFiles } from '../../runtime/own-files/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'
import type { NetworkCall } from '../../runtime/network/index.js'
import type { CallResult } from '../../sandbox/index.js'
import { randomUUID } from 'node:crypto'

import { openRunGate, settleRun } from './decide-run.js'
import type { RunServices } from './decide-run.js'
import { revise } from './facts.js'
import type { Decided } from './facts.js'
import { intrusionErrors } from '../run-text/intrusions.js'
import { auditPathOf } from '../settings/own-folders.js'
import { recordEnded, recordFailed, recordPermitted, recordRefused, recordSettingsOf, recordStarted } from './record-run.js'
import { argvOf } from './run-tool.js'

export interface PerformedRun {
  /** As they were permitted; somebody may have changed them. */
  readonly argv: readonly string[]
  readonly boundary: Boundary
  readonly ownFiles: readonly OwnFile[]
  readonly result: CallResult
  /** Why it does not count as a success. */
  readonly problems: readonly CordonError[]
  /** Of granted hosts; null where it connected to none. */
  readonly reached: EgressSummary | null
  /** Requests that went without a credential of their host, in words. */
  readonly bare: readonly string[]
}

export type Launch = (argv: readonly string[], boundary: Boundary, call: Pick<NetworkCall, 'callId' | 'record'> & { readonly beforeStart: () => Promise<void> }) => Promise<CallResult>

/** Throws the refusal, or why it could not be started; `onDecided` has heard of the decision by then. */
export const performRun = async (given: RunServices, launch: Launch, onDecided: (decided: Decided) => void): Promise<PerformedRun> => {
  const audit = await openAuditLog({ path: auditPathOf(given.environment, given.order.home) }).catch((error: unknown) => { throw withOtherPlace(error) })
  try {
    const ofAudit = auditOwnFiles(audit.places)
    const services = { ...given, ownFiles: [...given.ownFiles, ...ofAudit], tool: { ...given.tool, boundary: shieldOwnFiles(given.tool.boundary, ofAudit, given.order.cwd) } }
    const runGate = openRunGate(services)
    const { gate, call, sessionId } = runGate
    const events = createEventStream({ sessionId, now: Date.now, newId: randomUUID, record: audit.append })
    const started = events.emit({ type: 'session.started', call_id: null, permission_state: gate.state() })
    const evaluation = await settleRun(await gate.decide(call), runGate, services, events)
    onDecided({ decision: evaluation.decision, state: gate.state() })
    if (evaluation.kind !== 'permitted') {
      await Promise.all([started, recordRefused(events, evaluation, recordSettingsOf(given.environment)), ended(events, 0)])
      throw evaluation.kind === 'refused' ? evaluation.denial : new Error('a question that nobody answered')
    }
    await Promise.all([started, recordPermitted(events, evaluation, recordSettingsOf(given.environment))])
    return await runPermitted(evaluation, services, events, launch, (decision) => {
      onDecided({ decision, state: gate.state() })
    })
  } finally {
    await audit.close()
  }
}

/** A home that cannot be written to is no mistake of whoever runs a command there. */
const withOtherPlace = (error: unknown): unknown => {
  if (!(error instanceof CordonError) || error.code !== 'audit-unwritable') return error
  const { path = '', problem = '' } = error.params
  return fail('audit-unwritable', { path, problem, fix: `${error.fix ?? ''}; or name another file: CORDON_AUDIT=FILE, or another folder for all that Cordon keeps: XDG_STATE_HOME=FOLDER`.replace(/^; /, '') }, error)
}

const ended = (events: EventStream, calls: number) => events.emit({ type: 'session.ended', call_id: null, reason: 'the command has ended', calls })

const runPermitted = async (
  evaluation: Extract<Evaluation, { kind: 'permitted' }>,
  { tool, order, environment, ownFiles }: RunServices,
  events: EventStream,
  launch: Launch,
  onRevised: (decision: Evaluation['decision']) => void,
): Promise<PerformedRun> => {
  const { decision, permit, inputs } = evaluation
  const argv = argvOf(requirePermit(permit, { tool: tool.name, arguments: inputs.call, policyHash: tool.policyHash, now: Date.now() }))
  const { boundary } = tool
  const reached = createEgressLog(events, idsOf(decision))
  const bare = createBareRequests(boundary.credentials)
  let result: CallResult
  let hasStarted = false
  const beforeStart = async (): Promise<void> => {
    await recordStarted(events, evaluation, order.cwd, recordSettingsOf(environment))
    hasStarted = true
  }
  try {
    result = await launch(argv, boundary, { callId: decision.call_id, record: async (event) => { await reached.record(event); bare.take(event) }, beforeStart })
  } catch (error) {
    const revised = revise(decision, error)
    if (revised !== undefined) onRevised(revised)
    await reached.finish()
    await Promise.all([recordFailed(events, evaluation, { error, revised, hasStarted }), ended(events, 1)])
    throw error
  }
  const intrusions = intrusionErrors(result, boundary, ownFiles)
  try {
    await reached.finish()
    await Promise.all([recordEnded(events, decision, result, intrusions[0]), ended(events, 1)])
    return { argv, boundary, ownFiles, result, problems: intrusions, reached: reached.summary(), bare: bare.lines() }
  } catch (error) {
    // It ran, and how it ended is not in the log: that is no success.
    if (!(error instanceof CordonError)) throw error
    return { argv, boundary, ownFiles, result, problems: [...intrusions, error], reached: reached.summary(), bare: bare.lines() }
  }
}
