// Checks two tables of docs/store.md: which roles may call a function, and which file of sql/ defines it.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openEngine } from './engines.js'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGE = readFileSync(join(ROOT, 'docs', 'store.md'), 'utf8')
const MIGRATIONS = readdirSync(join(ROOT, 'sql')).sort()

const ROLES = {
  admin: 'cordon_admin',
  operator: 'cordon_operator',
  agent: 'cordon_agent',
  runner: 'cordon_runner',
  service: 'service_role',
  gateway: 'cordon_gateway',
} as const
const ALL = Object.values(ROLES).sort()

const rolesIn = (cell: string): readonly string[] =>
  cell === 'all'
    ? ALL
    : cell
        .split(', ')
        .map((word) =>
          Object.hasOwn(ROLES, word) ? ROLES[word as keyof typeof ROLES] : expect.fail(`"${word}" is no role`),
        )
        .sort()

/** One line for each function, as `name: roles`, so that a difference reads as a list of what to change. */
const listed = (): readonly string[] => {
  const table = PAGE.split('| function | who |')[1]?.split('\n\n')[0] ?? ''
  return Array.from(table.matchAll(/^\| (`fn_[^|]+) \| ([^|]+) \|/gm))
    .flatMap(([, names = '', who = '']) =>
      Array.from(names.matchAll(/`(fn_\w+)`/g), ([, name = '']) => `${name}: ${rolesIn(who).join(', ')}`),
    )
    .sort()
}

test('docs/store.md lists every function that a role may call, with exactly those roles', async () => {
  const { engine, close } = await openEngine('PGlite')
  try {
    const granted = await engine.query<{ line: string }>(
      `select distinct p.proname || ': ' || string_agg(r.rolname::text, ', ' order by r.rolname::text collate "C") as line
         from pg_proc p, pg_roles r
        where p.pronamespace = 'agents'::regnamespace and r.rolname = any ($1) and has_function_privilege(r.oid, p.oid, 'execute')
        group by p.oid, p.proname`,
      [ALL],
    )
    expect(granted.length).toBeGreaterThan(40)
    expect(listed()).toEqual(granted.map(({ line }) => line).sort())
    // ROLES above has all roles. The query would overlook the grants of another one.
    expect(
      await engine.query(
        `select rolname::text from pg_roles r where rolname !~ '^pg_' and not rolsuper and rolname <> ` +
          `'cordon_owner' order by rolname::text collate "C"`,
      ),
    ).toEqual(ALL.map((rolname) => ({ rolname })))
  } finally {
    await close()
  }
})

/** The files that define each function, in order. */
const definitions = (): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  for (const file of MIGRATIONS)
    for (const [, name = ''] of readFileSync(join(ROOT, 'sql', file), 'utf8').matchAll(
      /\bcreate (?:or replace )?function agents\.(fn_\w+)/gi,
    ))
      found.set(name, [...(found.get(name) ?? []), file])
  return found
}

test('until the first release, sql/ defines every function once', () => {
  const defined = [...definitions()]
  expect(defined.length).toBeGreaterThan(100)
  expect(defined.filter(([, files]) => files.length > 1)).toEqual([])
})

test('docs/store.md names the file of the functions of a call', () => {
  const defined = definitions()
  const table = PAGE.split('| step | function |')[1]?.split('\n\n')[0] ?? ''
  const rows = Array.from(table.matchAll(/^\| \w* ?\| (`fn_[^|]+) \| `([\w.]+)`/gm)).flatMap(
    ([, names = '', file = '']) => Array.from(names.matchAll(/`(fn_\w+)`/g), ([, name = '']) => [name, file] as const),
  )
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.filter(([name, file]) => defined.get(name)?.at(-1) !== file)).toEqual([])
})
