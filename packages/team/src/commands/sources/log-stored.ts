// `cordon log` for the audit log of a team, which is in a store.
import {
  FAILURES,
  reportBrokenPipe,
  exportSettings,
  keepCursor,
  readCursor,
  sinceOf,
  writeExported,
  jsonLine,
  paintFor,
  parseDays,
  STDOUT,
  usage,
  visible,
  writeText,
} from 'cordon/commands'
import type { CommandLine, ExportedEntry, ExportSettings, Paint } from 'cordon/commands'
import { withoutUndefined } from 'cordon/shapes'

import { STORE_PLACES, namesStore } from '../../options/store-help.js'
import { withStore } from '../../options/store-options.js'
import type { AnswerOf, StoreAccess } from '../../store/index.js'

const COMMAND = 'cordon log'
const EXIT_TAMPERED = 1

const ACTIONS = ['export', 'verify', 'prune'] as const
const OF_A_FILE: ReadonlySet<string | undefined> = new Set(['show', 'follow'])

/** Undefined: the words are about a file. */
export const logStored = async (line: CommandLine): Promise<number | undefined> => {
  const { values, rest, switches } = line.given
  const [word, ...files] = rest
  const file = [...files, ...(values.get('log') ?? [])][0]
  if (word === 'prune' && !STORE_PLACES.some((name) => values.has(name)))
    throw usage('prune needs a store', COMMAND, 'name the store to prune: --store DIR, --server URL or --database URL')
  if (!namesStore(values)) return undefined
  if (file !== undefined)
    throw usage(
      `${file} is a file, and another option names a store`,
      COMMAND,
      'name one of them: the file, or --store, --server or --database',
    )
  if (OF_A_FILE.has(word))
    throw usage(
      `${word ?? ''} is for a file, not for a store`,
      COMMAND,
      'use cordon log export, verify or prune; for one call: cordon why ID',
    )
  const action = ACTIONS.find((each) => each === word)
  if (action === undefined) return undefined
  const settings = exportSettings(values)
  const since = sinceOf(values)
  const print = (value: unknown, text: string) => {
    writeText(STDOUT, switches.has('json') ? jsonLine(value) : `${text}\n`)
  }
  return withStore(line, COMMAND, async (store, team) => {
    switch (action) {
      case 'export': {
        const types = values.get('type') ?? []
        return exportStored(store, settings, {
          team: await team(),
          since: since === undefined ? undefined : new Date(since).toISOString(),
          isWanted: (type) => types.length === 0 || types.some((text) => type === text || type.startsWith(`${text}.`)),
        })
      }
      case 'verify':
        return verifyStored(store, print, paintFor(STDOUT, line.environment))
      case 'prune':
        return pruneStored(store, print, keptDays(values.get('keep')?.[0]))
    }
  })
}

type Print = (value: unknown, text: string) => void

const verifyStored = async (store: StoreAccess, print: Print, paint: Paint): Promise<number> => {
  const problems = await store.ask('verifyRecord', {})
  const isIntact = problems.length === 0
  const found = problems.map(
    ({ owner, chain, sequence, problem }) =>
      `${paint('red', 'wrong')} entry ${sequence} of chain ${String(chain)} of ${visible(owner)}: ${visible(problem)}`,
  )
  const summary = isIntact ? paint('green', 'intact') : paint('red', 'not intact')
  print({ isIntact, problems }, [...found, `${summary} ${visible(store.where)}`].join('\n'))
  return isIntact ? 0 : EXIT_TAMPERED
}

const pruneStored = async (store: StoreAccess, print: Print, keepDays: number): Promise<number> => {
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

const keptDays = (text: string | undefined): number => {
  // Pruning cannot be undone, and a bare 400 could mean months.
  const days = text?.endsWith('d') === true ? parseDays(text) : undefined
  if (days === undefined)
    throw usage(`--keep needs a number of days, such as 400d${text === undefined ? '' : `: ${text}`}`, COMMAND)
  return days
}

interface StoreFilter {
  readonly team: string
  readonly since: string | undefined
  readonly isWanted: (type: string) => boolean
}

const exportStored = async (
  store: StoreAccess,
  { format, cursor }: ExportSettings,
  { team, since, isWanted }: StoreFilter,
): Promise<number> => {
  const known = readCursor(cursor, isStoreMark)?.after ?? ''
  let after = known
  for (;;) {
    const page = await store.ask('readRecord', { team, after, ...withoutUndefined({ since }) })
    if (page.entries.length === 0) {
      if (after !== known) keepCursor(cursor, { after })
      return 0
    }
    const wanted = page.entries
      .filter(({ type }) => isWanted(type))
      .map(fromStored)
      .sort((left, right) => left.time.localeCompare(right.time))
    if (!wanted.every((exported) => writeExported(exported, format))) return reportBrokenPipe()
    after = page.after
  }
}

const isStoreMark = (value: object): value is { readonly after: string } =>
  'after' in value && typeof value.after === 'string'

const fromStored = (entry: AnswerOf<'readRecord'>['entries'][number]): ExportedEntry => {
  const { chain, sequence, hash, previousHash, line } = entry
  return {
    id: `${String(chain)}-${sequence}-${hash.slice(0, 16)}`,
    time: entry.at,
    type: entry.type,
    source: `cordon:team:${entry.owner}`,
    subject: entry.subject,
    actor: entry.actor,
    hasFailed: FAILURES.test(entry.type),
    data: { ...(JSON.parse(line) as object), record: { chain, sequence, hash } },
    line: JSON.stringify({ line, previous: previousHash, hash }),
  }
}
