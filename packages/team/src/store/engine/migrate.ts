// Migrations: brings a database to the newest schema.
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolderOf } from 'cordon/runtime'

import { fail } from '../../errors/errors.js'
import type { Engine, Queryable, Session } from '../engine.js'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly hash: string
}

const FOLDER = join(packageFolderOf(import.meta.url), 'sql')

export const readMigrations = (): readonly Migration[] =>
  readdirSync(FOLDER)
    .filter((name) => /^\d{4}_[a-z_]+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(FOLDER, name), 'utf8')
      return { number: Number(name.slice(0, 4)), name, text, hash: createHash('sha256').update(text).digest('hex') }
    })

/** How long one attempt waits for a lock. */
export const LOCK_MS = 2_000
/** How long to wait for another process that migrates. */
const TURN_MS = 120_000
const ATTEMPTS = 5

/**
 * Brings the database to the newest schema. Only one process does it at a time. A newer or different database is left
 * alone. If others hold locks for too long, the error names them.
 */
export const migrate = async (engine: Engine, migrations = readMigrations()): Promise<readonly string[]> => {
  // Most logins may not change the schema, and need not if nothing is missing.
  const lacking = await missingOf(engine, migrations)
  if (lacking.length === 0) return []
  if (!(await mayCreate(engine)))
    throw fail('store-not-prepared', {
      where: engine.where,
      problem: `${lackOf(lacking, migrations)}, and this login may not create schemas`,
    })
  return untilNotHeld(engine, () => engine.transaction((inside) => applyMissing(inside, migrations)))
}

/** Tries again if somebody holds a lock. `work` must give up after a while. The last error names the holder. */
export const untilNotHeld = async <Result>(engine: Engine, work: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isHeldUp(error)) throw error
      if (attempt >= ATTEMPTS)
        throw fail(
          'store-busy',
          {
            problem: `the schema cannot be changed while others use it: ${(await blockersOf(engine)) || error.message}`,
          },
          error,
        )
    }
  }
}

/**
 * One process at a time, by a lock on a table that only the owner of the schema can take. Any login could hold an
 * advisory lock for ever. An open transaction that reads the table blocks it too. Then it gives up, and names it.
 */
const applyMissing = async (
  { query, execute }: Session,
  migrations: readonly Migration[],
): Promise<readonly string[]> => {
  // The statement timeout of requests is too short for migrations.
  await execute(
    `set local statement_timeout = 0; set local lock_timeout = ${String(TURN_MS)}; set local search_path = ` +
      'pg_catalog, pg_temp',
  )
  await execute(`
    create schema if not exists cordon_migrations;
    create table if not exists cordon_migrations.applied (number int primary key, name text not null, hash text not null, at timestamptz not null default now());
    grant usage on schema cordon_migrations to public;
    grant select on cordon_migrations.applied to public;
    lock table cordon_migrations.applied in share row exclusive mode;
    set local lock_timeout = ${String(LOCK_MS)}`)
  const missing = await missingOf({ query }, migrations)
  for (const { number, name, text, hash } of missing) {
    await execute(text)
    await query('insert into cordon_migrations.applied (number, name, hash) values ($1, $2, $3)', [number, name, hash])
  }
  return missing.map(({ name }) => name)
}

/** No lock, a deadlock, or another process that created the same schema or table at the same time. */
const HELD: ReadonlySet<unknown> = new Set(['55P03', '40P01', '23505', '42P06', '42P07', 'XX000'])

const isHeldUp = (error: unknown): error is Error =>
  error instanceof Error &&
  [error, error.cause].some((each) => HELD.has((each as { readonly code?: unknown } | undefined)?.code))

/** Sessions with a lock on tables of Cordon, as far as this login may see them. */
const blockersOf = async ({ query }: Engine): Promise<string> => {
  const held = await query<{ line: string }>(
    `select distinct format('process %s of %s (%s) is %s since %s, in a transaction on %s.%s', a.pid, a.usename, coalesce(nullif(a.application_name, ''), 'no name'), coalesce(a.state, 'busy'), to_char(a.xact_start at time zone 'UTC', 'HH24:MI:SS"Z"'), n.nspname, c.relname) as line
       from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace join pg_stat_activity a on a.pid = l.pid
      where l.granted and l.database = (select oid from pg_database where datname = current_database()) and n.nspname in ('agents', 'cordon_migrations', 'cordon_queue') and l.pid <> pg_backend_pid() limit 3`,
  )
  return held.length === 0
    ? ''
    : `${held.map(({ line }) => line).join('; ')}; let it end, or end it: select pg_terminate_backend(PROCESS)`
}

/** Refuses a database of another version, and changes nothing. */
export const requirePrepared = async (engine: Engine, migrations = readMigrations()): Promise<void> => {
  const missing = await missingOf(engine, migrations)
  if (missing.length > 0)
    throw fail('store-not-prepared', { where: engine.where, problem: lackOf(missing, migrations) })
}

const lackOf = (missing: readonly Migration[], migrations: readonly Migration[]): string =>
  missing.length === migrations.length
    ? 'it has no store of Cordon'
    : `it has an older version, without ${missing.map(({ name }) => name).join(', ')}`

/** The migrations to apply. Throws if the database has unknown or different ones. */
const missingOf = async ({ query }: Queryable, migrations: readonly Migration[]): Promise<readonly Migration[]> => {
  const [there] = await query<{ isThere: boolean }>(
    `select to_regclass('cordon_migrations.applied') is not null as "isThere"`,
  )
  if (there?.isThere !== true) return migrations
  const applied = await query<Pick<Migration, 'number' | 'hash'>>(
    'select number, hash from cordon_migrations.applied order by number',
  )
  const known = new Map(migrations.map((migration) => [migration.number, migration]))
  for (const { number, hash } of applied) {
    const migration = known.get(number)
    if (migration === undefined)
      throw fail('store-newer', { found: String(number), known: String(migrations.at(-1)?.number ?? 0) })
    if (migration.hash !== hash) throw fail('store-differs', { number: String(number) })
  }
  const done = new Set(applied.map(({ number }) => number))
  return migrations.filter(({ number }) => !done.has(number))
}

const mayCreate = async ({ query }: Engine): Promise<boolean> =>
  (await query<{ may: boolean }>(`select has_database_privilege(current_database(), 'create') as may`))[0]?.may === true
