// What something writes, as the server counts it: so that what is compared is seen to be comparable.
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @typedef {object} Writes
 * @property {number} commits
 * @property {number} rows inserted, updated or deleted
 * @property {number} bytes of the log (WAL)
 */

const COUNT = `select (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits,
  (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables)::float8 as rows, (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`

/**
 * Sessions tell of their transactions when they have had nothing to do for ten seconds, or end, which they do in the
 * background.
 */
const TOLD_BY_MS = 1_500

/**
 * Of `count` times; the sessions that write have to end meanwhile.
 * @param {import('@cordon/team/store').Engine} engine of nobody else
 * @param {number} count
 * @param {() => Promise<unknown> | unknown} write
 * @returns {Promise<Writes>} for each
 */
export async function writesOf(engine, count, write) {
  const look = async () => {
    await sleep(TOLD_BY_MS)
    const [row] = await engine.query(COUNT)
    return /** @type {Writes} */ (row)
  }
  const before = await look()
  await write()
  const after = await look()
  return {
    commits: (after.commits - before.commits) / count,
    rows: (after.rows - before.rows) / count,
    bytes: (after.bytes - before.bytes) / count,
  }
}
