// Records a run that was refused before it could be judged, because its words, policies, rules or credentials are
// invalid. `cordon why last` explains it.
import { randomUUID } from 'node:crypto'

import { CordonError } from '../errors/index.js'
import { openAuditLog } from '../runtime/audit/index.js'
import { createEventStream, decided, denied, recordArguments } from '../runtime/events/index.js'

import type { CommandLine } from '../line/command-line.js'
import type { Decided } from './facts.js'
import { auditPathOf } from '../settings/own-folders.js'
import { recordSettingsOf } from './perform-run.js'
import { homeOf } from '../settings/own-folders.js'
import { asWord } from '../line/text/shell-word.js'

/** Ignores problems of the log: nothing ran, and the refusal is printed anyway. */
export const recordRefusal = async (
  { decision, state }: Decided,
  error: unknown,
  { given: { rest: argv }, environment }: CommandLine,
): Promise<void> => {
  if (argv.length === 0 || !(error instanceof CordonError) || error.code.startsWith('audit-')) return
  try {
    const audit = await openAuditLog({ path: auditPathOf(environment, homeOf(environment)) })
    try {
      const events = createEventStream({
        sessionId: randomUUID(),
        now: Date.now,
        newId: randomUUID,
        record: audit.append,
      })
      const words = recordArguments({ argv, line: argv.map(asWord).join(' ') }, recordSettingsOf(environment))
      await Promise.all([
        events.emit({ type: 'session.started', call_id: null, permission_state: state }),
        events.emit(decided({ decision }, words)),
        events.emit(denied({ decision })),
        events.emit({ type: 'session.ended', call_id: null, reason: 'the command was refused', calls: 0 }),
      ])
    } finally {
      await audit.close()
    }
  } catch (problem) {
    if (!(problem instanceof CordonError)) throw problem
  }
}
