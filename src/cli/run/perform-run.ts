// One typed command, from its decision to its end, by the same life of a call as every tool of an agent.
import { randomUUID } from 'node:crypto'

import { CordonError, fail } from '../../errors/index.js'
import type { Boundary } from '../../policy/index.js'
import { auditOwnFiles, openAuditLog } from '../../runtime/audit/index.js'
import type { AuditLog } from '../../runtime/audit/index.js'
import { performCall } from '../../runtime/call/index.js'
import type { CallServices, CallTool, EndedCall } from '../../runtime/call/index.js'
import { createEventStream } from '../../runtime/events/index.js'
import type { EgressSummary, RecordSettings } from '../../runtime/events/index.js'
import { shieldOwnFiles } from '../../runtime/own-files/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'

import type { CommandLine } from '../command-line.js'
import { auditPathOf } from '../settings/own-folders.js'
import { personAtTerminal } from './ask-person.js'
import { attachedRunner } from './attached-runner.js'
import type { AttachedRun, Launch } from './attached-runner.js'
import { revise } from './facts.js'
import type { Decided } from './facts.js'
import { openRunGate } from './run-gate.js'
import type { RunServices } from './run-gate.js'

export interface PerformedRun extends Pick<AttachedRun, 'argv' | 'result'> {
  readonly boundary: Boundary
  readonly ownFiles: readonly OwnFile[]
  /** Why it does not count as a success. */
  readonly problems: readonly CordonError[]
  /** Of granted hosts; null where it connected to none. */
  readonly reached: EgressSummary | null
  /** Requests that went without a credential of their host, in words. */
  readonly bare: readonly string[]
}

/** Throws the refusal, or why the command could not be started. `onDecided` hears every decision that is recorded. */
export const performRun = async (
  given: RunServices,
  launch: Launch,
  onDecided: (decided: Decided) => void,
): Promise<PerformedRun> => {
  const audit = await openAuditLog({ path: auditPathOf(given.environment, given.order.home) }).catch(
    (error: unknown) => {
      throw withOtherPlace(error)
    },
  )
  try {
    return await performRecorded(shieldedFromAudit(given, audit), audit, launch, onDecided)
  } finally {
    await audit.close()
  }
}

const shieldedFromAudit = (given: RunServices, audit: AuditLog): RunServices => {
  const ofAudit = auditOwnFiles(audit.places)
  const boundary = shieldOwnFiles(given.tool.boundary, ofAudit, given.order.cwd)
  return { ...given, ownFiles: [...given.ownFiles, ...ofAudit], tool: { ...given.tool, boundary } }
}

const performRecorded = async (
  services: RunServices,
  audit: AuditLog,
  launch: Launch,
  onDecided: (decided: Decided) => void,
): Promise<PerformedRun> => {
  const { tool, ownFiles, environment, order } = services
  const runGate = openRunGate(services)
  const { gate, call, sessionId } = runGate
  const events = createEventStream({ sessionId, now: Date.now, newId: randomUUID, record: audit.append })
  events.on('permission.evaluated', ({ permission_decision: decision }) => {
    onDecided({ decision, state: gate.state() })
  })
  const started = events.emit({ type: 'session.started', call_id: null, permission_state: gate.state() })
  // Looked at before anything runs, and at the end: it is written together with the decision.
  started.catch(() => undefined)
  const runner = attachedRunner(async (...given) => {
    await started
    return launch(...given)
  }, ownFiles)
  const person = personAtTerminal(runGate, services)
  const callServices: CallServices<CallTool> = {
    ...{ gate, events, runner, registeredCalls: undefined, revise, now: Date.now, begin: () => undefined },
    tools: new Map([[tool.name, { gate: tool, cwd: order.cwd }]]),
    approval: { approve: person.approve, otherwise: 'deny' },
    record: recordSettingsOf(environment),
  }
  const problems: CordonError[] = []
  let ended: EndedCall | undefined
  try {
    ended = await performCall(callServices, call, { ...NOBODY_LISTENS, onApproved: person.onApproved })
    await started
    const calls = ended.result.status === 'denied' ? 0 : 1
    await events.emit({ type: 'session.ended', call_id: null, reason: 'the command has ended', calls })
  } catch (error) {
    if (runner.ran() === undefined || !(error instanceof CordonError)) throw error
    // It ran, and its end is not in the log: that is no success.
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

/** The command has the terminal, and its signals, to itself. */
const NOBODY_LISTENS = {
  ...{ signal: undefined, onProgress: () => undefined, onOutput: undefined, onInvocation: () => undefined },
  ...{ resume: undefined, askedWith: undefined },
}

/** The error of the log itself says what to do. */
const causeOf = (error: CordonError): CordonError =>
  error.code === 'end-not-recorded' && error.cause instanceof CordonError ? error.cause : error

/**
 * Whoever typed a command may read it in the log, without what looks like a secret. `CORDON_RECORD=hash` keeps hashes
 * alone.
 */
export const recordSettingsOf = ({ CORDON_RECORD: wanted }: CommandLine['environment']): RecordSettings => ({
  arguments: wanted === 'hash' ? 'hash' : 'redacted',
})

/** A home that cannot be written to is no mistake of whoever runs a command there. */
const withOtherPlace = (error: unknown): unknown => {
  if (!(error instanceof CordonError) || error.code !== 'audit-unwritable') return error
  const { path = '', problem = '' } = error.params
  const fix = (
    `${error.fix ?? ''}; or name another file: CORDON_AUDIT=FILE, or another folder for all that Cordon ` +
    'keeps: XDG_STATE_HOME=FOLDER'
  ).replace(/^; /, '')
  return fail('audit-unwritable', { path, problem, fix }, error)
}
