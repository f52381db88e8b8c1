// Runs one typed command through the same life of a call as every tool of an agent.
import { CordonError } from '../errors/index.js'
import type { Boundary } from '../policy/index.js'
import { openRecord } from '../runtime/assemble/index.js'
import type { AuditLog } from '../runtime/audit/index.js'
import { NOBODY_LISTENS, performCall } from '../runtime/call/index.js'
import type { CallServices, CallTool, EndedCall } from '../runtime/call/index.js'
import type { EgressSummary } from '../runtime/events/index.js'
import type { OwnFile } from '../runtime/own-files/index.js'

import { personAtTerminal } from './ask-person.js'
import { attachedRunner } from './attached-runner.js'
import type { AttachedRun, Launch } from './attached-runner.js'
import { revise } from './facts.js'
import type { DecidedRun } from './facts.js'
import { recordSettingsOf, shieldedFrom, withLog } from './record.js'
import type { OpenRunLog } from './record.js'
import { openRunGate } from './run-gate.js'
import type { PreparedRun } from './run-gate.js'

interface PerformedRun extends Pick<AttachedRun, 'argv' | 'result'> {
  readonly boundary: Boundary
  readonly ownFiles: readonly OwnFile[]
  /** Why it counts as a failure. */
  readonly problems: readonly CordonError[]
  /** The granted hosts that it reached. Null if none. */
  readonly reached: EgressSummary | null
  /** Messages about requests without the credential of their host. */
  readonly bare: readonly string[]
}

/** Throws the refusal, or the error of the start. `onDecided` gets every recorded decision. */
export const performRun = (
  given: PreparedRun,
  launch: Launch,
  onDecided: (decided: DecidedRun) => void,
  openLog: OpenRunLog,
): Promise<PerformedRun> =>
  withLog(openLog(given.environment, given.order.home), (audit) => performRunIn(audit, given, launch, onDecided))

/** With an open log, which stays open. */
export const performRunIn = async (
  audit: AuditLog,
  given: PreparedRun,
  launch: Launch,
  onDecided: (decided: DecidedRun) => void,
): Promise<PerformedRun> => {
  const prepared = shieldedFrom(audit, given)
  const { tool, ownFiles, environment, order, manifest } = prepared
  const runGate = openRunGate(prepared)
  const { gate, call, sessionId } = runGate
  const events = openRecord({
    sessionId,
    record: audit.append,
    ...(manifest === undefined ? {} : { context: { manifest_hash: manifest.hash } }),
  })
  events.on('permission.evaluated', ({ permission_decision: decision }) => {
    onDecided({ decision, state: gate.state() })
  })
  const started = events.emit({ type: 'session.started', call_id: null, permission_state: gate.state() })
  // Awaited before anything runs, and at the end. It is written together with the decision.
  started.catch(() => undefined)
  const runner = attachedRunner(async (...given) => {
    await started
    return launch(...given)
  }, ownFiles)
  const person = personAtTerminal(runGate, prepared)
  const services: CallServices<CallTool> = {
    gate,
    events,
    runner,
    registeredCalls: undefined,
    revise,
    now: Date.now,
    begin: () => undefined,
    tools: new Map([[tool.name, { gate: tool, cwd: order.cwd }]]),
    approval: { approve: person.approve, otherwise: 'deny' },
    record: recordSettingsOf(environment),
    stopped: new WeakMap(),
    manifestOf: () => manifest,
  }
  const problems: CordonError[] = []
  let ended: EndedCall | undefined
  try {
    // The command itself has the terminal and its signals.
    ended = await performCall(services, call, { ...NOBODY_LISTENS, session: 'main', onApproved: person.onApproved })
    await started
    const calls = ended.result.status === 'denied' ? 0 : 1
    await events.emit({ type: 'session.ended', call_id: null, reason: 'the command has ended', calls })
  } catch (error) {
    if (runner.ran() === undefined || !(error instanceof CordonError)) throw error
    // It ran, but its end is not recorded, so it counts as a failure.
    problems.push(causeOf(error))
  }
  const failure = person.failure()
  if (failure !== undefined) throw failure
  const ran = runner.ran()
  if (ran === undefined) throw ended?.error ?? new Error('a command that neither ran nor was refused')
  const { egress = null, bare_requests: bare = [] } = ended?.result.facts ?? {}
  return {
    ...ran,
    boundary: tool.boundary,
    ownFiles,
    problems: [...ran.intrusions, ...problems],
    reached: egress,
    bare,
  }
}

/** The error of the log has the fix. */
const causeOf = (error: CordonError): CordonError =>
  error.code === 'end-not-recorded' && error.cause instanceof CordonError ? error.cause : error
