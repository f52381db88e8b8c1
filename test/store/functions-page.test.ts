// docs/store.md says of every function that a role may call who that is, and of no other.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openEngine } from './engines.js'

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
const listed = (page: string): readonly string[] => {
  const table = page.split('| function | who |')[1]?.split('\n\n')[0] ?? ''
  return Array.from(table.matchAll(/^\| (`fn_[^|]+) \| ([^|]+) \|/gm))
    .flatMap(([, names = '', who = '']) =>
      Array.from(names.matchAll(/`(fn_\w+)`/g), ([, name = '']) => `${name}: ${rolesIn(who).join(', ')}`),
    )
    .sort()
}

test('the table of docs/store.md has every function that a role may call, with exactly those roles', async () => {
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
    expect(listed(readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'store.md'), 'utf8'))).toEqual(
      granted.map(({ line }) => line).sort(),
    )
    // The page of the functions knows all roles: one that is granted something and is not on it would not be seen
    // above.
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
