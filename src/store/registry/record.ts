// The record of a team, as it is read, checked and shortened.
import { fail } from '../../errors/index.js'

import type { Session } from '../engine.js'
import { refused } from '../engine/ways-out.js'

type Asking = Pick<Session, 'query'>

/** One entry of `agents.audit_events`. */
export interface StoredEntry {
  readonly chain: number
  readonly sequence: string
  readonly at: Date
  readonly owner: string
  readonly subject: string
  readonly type: string
  readonly actor: string
  /** What the hash is over, as JSON. */
  readonly line: string
  readonly previousHash: string
  readonly hash: string
}

export interface RecordRequest {
  readonly team: string
  /** The mark of the entry after which to go on, of every chain: `3:17,9:4`. */
  readonly after?: string
  readonly since?: string
  readonly until?: string
  readonly most?: number
}

export interface RecordPage {
  readonly entries: readonly StoredEntry[]
  /** To go on after these. The same as before where there are no more. */
  readonly after: string
}

const CHAINS = 64

/**
 * Entries of a team after a mark, chain by chain. Within a chain numbers become visible in their order, so that
 * who goes on from a mark misses nothing, whatever is being written meanwhile.
 */
export const readRecord = async (
  { query }: Asking,
  { team, after = '', since, until, most = 1000 }: RecordRequest,
): Promise<RecordPage> => {
  const marks = readMarks(after)
  const entries = await query<StoredEntry>(
    `select e.chain, e.sequence::text, e.at, e.owner, e.subject, e.type, e.actor, e.line, e.previous_hash as "previousHash", e.hash
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

/** To have found nothing where one may not look would be no good answer. */
const requireReader = async ({ query }: Asking, team: string): Promise<void> => {
  const [row] = await query<{ may: boolean; actor: string }>(
    `select agents.fn_actor() as actor, agents.fn_is_member($1, array['admin', 'operator']) or ` +
      `pg_has_role(current_user, 'service_role', 'member') as may`,
    [team],
  )
  if (row?.may !== true)
    throw refused(
      `${row?.actor ?? 'this login'} is no admin or operator of ${team}`,
      'ask in the name of one who is (--as NAME), or with their token',
    )
}

const readMarks = (after: string): string[] => {
  const marks = Array.from({ length: CHAINS }, () => '0')
  for (const mark of after === '' ? [] : after.split(',')) {
    const { chain, sequence } = /^(?<chain>\d{1,2}):(?<sequence>\d{1,18})$/.exec(mark)?.groups ?? {}
    if (chain === undefined || sequence === undefined || Number(chain) >= CHAINS)
      throw fail('request-invalid', {
        problem: `${JSON.stringify(after)} is no place in the record`,
        fix: 'leave it out to begin at the beginning',
      })
    marks[Number(chain)] = sequence
  }
  return marks
}

export interface RecordProblem {
  readonly owner: string
  readonly chain: number
  readonly sequence: string
  readonly problem: string
}

/** Nothing is a good answer. */
export const verifyRecord = ({ query }: Asking): Promise<readonly RecordProblem[]> =>
  query('select owner, chain, sequence::text, problem from agents.fn_verify_audit()')

/** The partitions that were dropped. */
export const dropOldRecords = async ({ query }: Asking, keepDays: number): Promise<readonly string[]> =>
  (
    await query<{ part: string }>('select agents.fn_drop_old_partitions(make_interval(days => $1)) as part', [keepDays])
  ).map(({ part }) => part)
