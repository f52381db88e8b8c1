// The audit log of one typed command, and the record of a decision that nothing ran after.
import { CordonError, fail } from '../errors/index.js'
import { shellWord } from '../platform/index.js'
import { openRecord } from '../runtime/assemble/index.js'
import { auditOwnFiles, openAuditLog } from '../runtime/audit/index.js'
import type { AuditLog } from '../runtime/audit/index.js'
import { evaluatedEvent, deniedEvent, recordArguments } from '../runtime/events/index.js'
import type { RecordSettings } from '../runtime/events/index.js'
import { shieldOwnFiles } from '../runtime/own-files/index.js'

import type { Environment } from '../line/arguments.js'
import type { CommandLine } from '../line/caller.js'
import { auditPathOf, homeOf } from '../settings/own-folders.js'
import type { DecidedRun } from './facts.js'
import type { PreparedRun } from './run-gate.js'

type EventStream = ReturnType<typeof openRecord>
type Recorded = ReturnType<typeof recordArguments>

/** Closes the log when the work is done. */
export const withLog = async <Value>(
  opening: Promise<AuditLog>,
  work: (audit: AuditLog) => Value | Promise<Value>,
): Promise<Value> => {
  const audit = await opening
  try {
    return await work(audit)
  } finally {
    await audit.close()
  }
}

export type OpenRunLog = (environment: Environment, home: string) => Promise<AuditLog>

export const openRunLog: OpenRunLog = (environment, home) =>
  openAuditLog({ path: auditPathOf(environment, home) }).catch((error: unknown) => {
    throw withOtherPlace(error)
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

/** The log is a file of Cordon itself, so the command gets no access to it. */
export const shieldedFrom = (audit: AuditLog, given: PreparedRun): PreparedRun => {
  const ofAudit = auditOwnFiles(audit.places)
  const boundary = shieldOwnFiles(given.tool.boundary, ofAudit, given.order.cwd)
  return { ...given, ownFiles: [...given.ownFiles, ...ofAudit], tool: { ...given.tool, boundary } }
}

/** The log has the typed words, without apparent secrets. `CORDON_RECORD=hash` records only hashes. */
export const recordSettingsOf = ({ CORDON_RECORD: wanted }: Environment): RecordSettings => ({
  arguments: wanted === 'hash' ? 'hash' : 'redacted',
})

/** A session that consists of one decision. `because`: why it ended. */
export const recordDecision = async (
  events: EventStream,
  { decision, state }: DecidedRun,
  recorded: Recorded,
  { isDenied, because }: { readonly isDenied: boolean; readonly because: string },
): Promise<void> => {
  await Promise.all([
    events.emit({ type: 'session.started', call_id: null, permission_state: state }),
    events.emit(evaluatedEvent({ decision }, recorded)),
    ...(isDenied ? [events.emit(deniedEvent({ decision }))] : []),
    events.emit({ type: 'session.ended', call_id: null, reason: because, calls: 0 }),
  ])
}

/**
 * Records a run that was refused before it could be judged, because its words, policies, rules or credentials are
 * invalid. `cordon why last` explains it. Ignores problems of the log: nothing ran, and the refusal is printed anyway.
 */
export const recordRefusal = async (
  refused: DecidedRun,
  error: unknown,
  { given: { rest: argv }, environment }: CommandLine,
  openLog: OpenRunLog = openRunLog,
): Promise<void> => {
  if (argv.length === 0 || !(error instanceof CordonError) || error.code.startsWith('audit-')) return
  try {
    await withLog(openLog(environment, homeOf(environment)), (audit) => {
      const words = recordArguments({ argv, line: argv.map(shellWord).join(' ') }, recordSettingsOf(environment))
      const how = { isDenied: true, because: 'the command was refused' }
      return recordDecision(openRecord({ record: audit.append }), refused, words, how)
    })
  } catch (problem) {
    if (!(problem instanceof CordonError)) throw problem
  }
}
