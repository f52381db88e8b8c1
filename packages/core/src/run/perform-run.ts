// Runs one typed command through the same life of a call as every tool of an agent.
import { randomUUID } from 'node:crypto'

import { CordonError, fail } from '../errors/index.js'
import type { Boundary } from '../policy/index.js'
import { auditOwnFiles, openAuditLog } from '../runtime/audit/index.js'
import type { AuditLog } from '../runtime/audit/index.js'
import { performCall } from '../runtime/call/index.js'
import type { CallServices, CallTool, EndedCall } from '../runtime/call/index.js'
import { createEventStream } from '../runtime/events/index.js'
import type { EgressSummary, RecordSettings } from '../runtime/events/index.js'
import { shieldOwnFiles } from '../runtime/own-files/index.js'
import type { OwnFile } from '../runtime/own-files/index.js'

import type { Environment } from '../line/command-line.js'
import { auditPathOf } from '../settings/own-folders.js'
import { personAtTerminal } from './ask-person.js'
import { attachedRunner } from './attached-runner.js'
import type { AttachedRun, Launch } from './attached-runner.js'
import { revise } from './facts.js'
import type { Decided } from './facts.js'
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
export const performRun = async (
  given: PreparedRun,
  launch: Launch,
  onDecided: (decided: Decided) => void,
): Promise<PerformedRun> => {
  const audit = await openRunLog(given.environment, given.order.home)
  try {
    return await performRunIn(audit, given, launch, onDecided)
  } finally {
    await audit.close()
  }
}

/** With an open log, which stays open. */
export const performRunIn = (
  audit: AuditLog,
  given: PreparedRun,
  launch: Launch,
  onDecided: (decided: Decided) => void,
): Promise<PerformedRun> => performRecorded(shieldedFromAudit(given, audit), audit, launch, onDecided)

export const openRunLog = (environment: Environment, home: string): Promise<AuditLog> =>
  openAuditLog({ path: auditPathOf(environment, home) }).catch((error: unknown) => {
    throw withOtherPlace(error)
  })

const shieldedFromAudit = (given: PreparedRun, audit: AuditLog): PreparedRun => {
  const ofAudit = auditOwnFiles(audit.places)
  const boundary = shieldOwnFiles(given.tool.boundary, ofAudit, given.order.cwd)
  return { ...given, ownFiles: [...given.ownFiles, ...ofAudit], tool: { ...given.tool, boundary } }
}

const performRecorded = async (
  prepared: PreparedRun,
  audit: AuditLog,
  launch: Launch,
  onDecided: (decided: Decided) => void,
): Promise<PerformedRun> => {
  const { tool, ownFiles, environment, order, manifest } = prepared
  const runGate = openRunGate(prepared)
  const { gate, call, sessionId } = runGate
  const events = createEventStream({
    sessionId,
    now: Date.now,
    newId: randomUUID,
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
    ended = await performCall(services, call, { ...NOBODY_LISTENS, onApproved: person.onApproved })
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

const ignore = (): void => undefined

/** The command itself has the terminal and its signals. */
const NOBODY_LISTENS = {
  session: 'main',
  isSuspending: false,
  resumed: undefined,
  signal: undefined,
  onOutput: undefined,
  onProgress: ignore,
  onLog: ignore,
  onInvocation: ignore,
  resume: undefined,
  askedWith: undefined,
  attachment: undefined,
}

/** The error of the log has the fix. */
const causeOf = (error: CordonError): CordonError =>
  error.code === 'end-not-recorded' && error.cause instanceof CordonError ? error.cause : error

/** The log has the typed words, without apparent secrets. `CORDON_RECORD=hash` records only hashes. */
export const recordSettingsOf = ({ CORDON_RECORD: wanted }: Environment): RecordSettings => ({
  arguments: wanted === 'hash' ? 'hash' : 'redacted',
})

/** Suggests another place, because the home may be read-only. */
const withOtherPlace = (error: unknown): unknown => {
  if (!(error instanceof CordonError) || error.code !== 'audit-unwritable') return error
  const { path = '', problem = '' } = error.params
  const fix = (
    `${error.fix ?? ''}; or name another file: CORDON_AUDIT=FILE, or another folder for all that Cordon ` +
    'keeps: XDG_STATE_HOME=FOLDER'
  ).replace(/^; /, '')
  return fail('audit-unwritable', { path, problem, fix }, error)
}
