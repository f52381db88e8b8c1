import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { fail } from '../errors/index.js'

import type { Engine } from './engine.js'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly hash: string
}

const FOLDER = fileURLToPath(new URL('../../sql/', import.meta.url))

export const readMigrations = (folder = FOLDER): readonly Migration[] =>
  readdirSync(folder)
    .filter((name) => /^\d{4}_[a-z_]+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      return { number: Number(name.slice(0, 4)), name, text, hash: createHash('sha256').update(text).digest('hex') }
    })

/** Any number that nobody else uses for a lock of this kind. */
const TURN = 7_220_155_190

/**
 * Brings the database to the newest schema. Whoever starts at the same time waits; a database that knows more than
 * this version, or something else, is left alone.
 */
export const migrate = async (engine: Engine, migrations = readMigrations()): Promise<readonly string[]> => {
  // Most logins may not change the schema, and need not where nothing is missing.
  const lacking = await missingOf(engine, migrations)
  if (lacking.length === 0) return []
  if (!(await mayCreate(engine))) throw fail('store-not-prepared', { where: engine.where, problem: `${lackOf(lacking, migrations)}, and this login may not create schemas` })
  return engine.transaction(async ({ query, execute }) => {
    // However long others take, and the files themselves: what requests are given is not meant for this.
    await execute('set local statement_timeout = 0; set local lock_timeout = 0; set local search_path = pg_catalog, pg_temp')
    await query('select pg_advisory_xact_lock($1)', [TURN])
    await execute(`
      create schema if not exists cordon_migrations;
      create table if not exists cordon_migrations.applied (number int primary key, name text not null, hash text not null, at timestamptz not null default now());
      grant usage on schema cordon_migrations to public;
      grant select on cordon_migrations.applied to public`)
    const missing = notIn(await query<Applied>('select number, hash from cordon_migrations.applied'), migrations)
    for (const { number, name, text, hash } of missing) {
      await execute(text)
      await query('insert into cordon_migrations.applied (number, name, hash) values ($1, $2, $3)', [number, name, hash])
    }
    return missing.map(({ name }) => name)
  })
}

/** Changes nothing: a database that is not of this version is refused, with what brings it there. */
export const requirePrepared = async (engine: Engine, migrations = readMigrations()): Promise<void> => {
  const missing = await missingOf(engine, migrations)
  if (missing.length > 0) throw fail('store-not-prepared', { where: engine.where, problem: lackOf(missing, migrations) })
}

const lackOf = (missing: readonly Migration[], migrations: readonly Migration[]): string =>
  missing.length === migrations.length ? 'there is no store of Cordon in it' : `it is of an older version, without ${missing.map(({ name }) => name).join(', ')}`

interface Applied {
  readonly number: number
  readonly hash: string
}

const missingOf = async ({ query }: Engine, migrations: readonly Migration[]): Promise<readonly Migration[]> => {
  const [there] = await query<{ isThere: boolean }>(`select to_regclass('cordon_migrations.applied') is not null as "isThere"`)
  return there?.isThere === true ? notIn(await query<Applied>('select number, hash from cordon_migrations.applied'), migrations) : migrations
}

/** What is to be applied still; nothing of it where the database knows more, or something else. */
const notIn = (applied: readonly Applied[], migrations: readonly Migration[]): readonly Migration[] => {
  const known = new Map(migrations.map((migration) => [migration.number, migration]))
  for (const { number, hash } of [...applied].sort((one, other) => one.number - other.number)) {
    const migration = known.get(number)
    if (migration === undefined) throw fail('store-newer', { found: String(number), known: String(migrations.at(-1)?.number ?? 0) })
    if (migration.hash !== hash) throw fail('store-differs', { number: String(number) })
  }
  const done = new Set(applied.map(({ number }) => number))
  return migrations.filter(({ number }) => !done.has(number))
}

const mayCreate = async ({ query }: Engine): Promise<boolean> =>
  (await query<{ may: boolean }>(`select has_database_privilege(current_database(), 'create') as may`))[0]?.may === true
