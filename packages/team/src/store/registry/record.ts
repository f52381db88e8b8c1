// The audit log of a team, after a mark.
import { fail } from '../../errors/errors.js'
import type { Queryable } from '../engine.js'
import { storeRefused } from '../engine/sql-error.js'
import { ENTRY } from './call-answers.js'
import type { RecordPage } from './call-answers.js'
import { columnsOf } from './statements.js'

interface RecordRequest {
  readonly team: string
  /** Where to go on: for each chain the number of its last entry, such as `3:17,9:4`. */
  readonly after?: string
  readonly since?: string
  readonly until?: string
  readonly most?: number
}

const CHAINS = 64

/** Entries after a mark, chain by chain. Numbers of a chain become visible in order, so a mark never skips an entry. */
export const readRecord = async (
  { query }: Queryable,
  { team, after = '', since, until, most = 1000 }: RecordRequest,
): Promise<RecordPage> => {
  const marks = readMarks(after)
  const entries = await query<RecordPage['entries'][number]>(
    `select ${columnsOf(ENTRY, { sequence: 'e.sequence::text' }, 'e.')}
      from unnest($2::bigint[]) with ordinality as mark(sequence, place) join agents.audit_events e on e.owner = $1 and e.chain = mark.place - 1 and e.sequence > mark.sequence
      where e.at >= coalesce($3::timestamptz, '-infinity') and e.at < coalesce($4::timestamptz, 'infinity')
      order by e.chain, e.sequence limit $5`,
    [team, marks, since ?? null, until ?? null, most],
  )
  if (entries.length === 0) await requireReader({ query }, team)
  for (const { chain, sequence } of entries) marks[chain] = sequence
  return {
    entries,
    after: marks.flatMap((sequence, chain) => (sequence === '0' ? [] : [`${String(chain)}:${sequence}`])).join(','),
  }
}

/** Refuses a caller who may not read the log, who would otherwise get an empty answer. */
const requireReader = async ({ query }: Queryable, team: string): Promise<void> => {
  const [row] = await query<{ may: boolean; actor: string }>(
    `select agents.fn_actor() as actor, agents.fn_is_member($1, array['admin', 'operator']) or ` +
      `pg_has_role(current_user, 'service_role', 'member') as may`,
    [team],
  )
  if (row?.may !== true)
    throw storeRefused(
      `${row?.actor ?? 'this login'} is no admin or operator of ${team}`,
      'act as a member who is (--as NAME), or use their token',
    )
}

const readMarks = (after: string): string[] => {
  const marks = Array.from({ length: CHAINS }, () => '0')
  for (const mark of after === '' ? [] : after.split(',')) {
    const { chain, sequence } = /^(?<chain>\d{1,2}):(?<sequence>\d{1,18})$/.exec(mark)?.groups ?? {}
    if (chain === undefined || sequence === undefined || Number(chain) >= CHAINS)
      throw fail('request-invalid', {
        problem: `${JSON.stringify(after)} is not a position in the log`,
        fix: 'leave it out to start at the first entry',
      })
    marks[Number(chain)] = sequence
  }
  return marks
}
