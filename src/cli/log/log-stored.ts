// `cordon log` for the audit log of a team, which is in a store.
import type { Arguments } from '../arguments.js'
import { usage } from '../arguments.js'
import type { Environment } from '../command-line.js'
import { STDOUT, jsonLine, paintFor, writeText } from '../text/console-text.js'
import { exportStored } from './log-export.js'
import type { ExportSettings } from './log-export.js'
import { openStore, teamOf } from '../store/store-options.js'
import { parseDays } from '../text/time-words.js'
import { visible } from '../text/visible-text.js'

const COMMAND = 'cordon log'
const EXIT_TAMPERED = 1

interface StoredRequest {
  readonly given: Arguments
  readonly environment: Environment
  readonly settings: ExportSettings
  /** Milliseconds since 1970. */
  readonly since: number | undefined
}

export const logStored = async (
  action: 'export' | 'verify' | 'prune',
  { given, environment, settings, since }: StoredRequest,
): Promise<number> => {
  const store = await openStore(given, environment, COMMAND)
  const paint = paintFor(STDOUT, environment)
  const print = (value: unknown, text: string) => {
    writeText(STDOUT, given.switches.has('json') ? jsonLine(value) : `${text}\n`)
  }
  try {
    switch (action) {
      case 'export': {
        const types = given.values.get('type') ?? []
        const isWanted = (type: string) =>
          types.length === 0 || types.some((text) => type === text || type.startsWith(`${text}.`))
        return await exportStored(store, settings, {
          team: await teamOf(store, given, environment, COMMAND),
          since: since === undefined ? undefined : new Date(since).toISOString(),
          isWanted,
        })
      }
      case 'verify': {
        const problems = await store.ask('verifyRecord', {})
        const found = problems.map(
          ({ owner, chain, sequence, problem }) =>
            `${paint('red', 'wrong')} entry ${sequence} of chain ${String(chain)} of ${visible(owner)}: ` +
            visible(problem),
        )
        print(
          { isIntact: problems.length === 0, problems },
          [
            ...found,
            `${problems.length === 0 ? paint('green', 'intact') : paint('red', 'not intact')} ${visible(store.where)}`,
          ].join('\n'),
        )
        return problems.length === 0 ? 0 : EXIT_TAMPERED
      }
      case 'prune': {
        const keepDays = keptDays(given.values.get('keep')?.[0])
        const answer = await store.ask('dropOldRecords', { keepDays })
        const where = visible(store.where)
        print(
          { ...answer, where: store.where, keepDays },
          answer.dropped.length === 0
            ? `nothing in ${where} is older than ${String(keepDays)} days by a whole partition`
            : answer.dropped.map((part) => `dropped ${visible(part)} of ${where}`).join('\n'),
        )
        return 0
      }
    }
  } finally {
    await store.close()
  }
}

const keptDays = (text: string | undefined): number => {
  // Pruning cannot be undone, and a bare 400 could mean months.
  const days = text?.endsWith('d') === true ? parseDays(text) : undefined
  if (days === undefined)
    throw usage(`--keep needs a number of days, such as 400d${text === undefined ? '' : `: ${text}`}`, COMMAND)
  return days
}
