// Claims that need a real server: logins, many connections at once, and a server that goes away.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { listTools, migrate, requirePrepared } from '../../src/store/index.js'
import { readMigrations } from '../../src/store/engine/migrate.js'
import type { Engine } from '../../src/store/index.js'

import { createLogins } from './logins.js'
import { newRegistry } from './registry.js'
import type { Registry } from './registry.js'
import { startServer } from './server.js'
import type { Server } from './server.js'

let server: Server
let engine: Engine
let registry: Registry
const { open, close } = createLogins(() => server)

beforeAll(async () => {
  server = startServer()
  engine = open()
  await migrate(engine)
  registry = await newRegistry(engine, 'team')
  await engine.execute(`
    create role "agent-1" login in role cordon_agent, cordon_operator;
    create role "anna" login in role cordon_operator;
    create role "otto" login in role cordon_operator;
    create role "host-1" login in role cordon_runner;
    create role "serve" login in role cordon_gateway, cordon_agent, cordon_operator;`)
})
afterAll(async () => {
  await close()
  server.remove()
})

const invokeAs = (one: Engine, tool: string, agent: string) =>
  one.query<{ id: string }>('select agents.fn_invoke_tool(null, $1, $2, $3) as id', [tool, agent, '{}'])
const approveAs = (one: Engine, id: string) => one.query('select agents.fn_approve_tool_invocation($1)', [id])

describe('logins', () => {
  test('a login cannot block preparation by an advisory lock, and one that holds a table is named', async () => {
    const agent = open('agent-1')
    const next = [
      ...readMigrations(),
      { number: 9999, name: '9999_next.sql', text: 'alter table agents.budgets add column next int', hash: 'next' },
    ]
    const undo = () =>
      engine.execute(
        'alter table agents.budgets drop column next; delete from cordon_migrations.applied where number = 9999',
      )
    const during = (held: string, work: () => Promise<void>) =>
      agent.transaction(async ({ execute }) => {
        await execute(held)
        await work()
      })
    await during('select pg_advisory_lock(7220155190)', async () => {
      expect(await migrate(engine, next)).toEqual(['9999_next.sql'])
    })
    await undo()
    await during('select from agents.budgets', () =>
      expect(migrate(engine, next)).rejects.toMatchObject({
        code: 'store-busy',
        message: expect.stringMatching(/process \d+ of agent-1 .* on agents\.budgets/) as string,
      }),
    )
    expect(await migrate(engine, next)).toEqual(['9999_next.sql'])
    await undo()
  })

  test('a login is itself, whatever it claims', async () => {
    const tool = await registry.register('send')
    const agent = open('agent-1')
    const [call] = await invokeAs(agent, tool, 'agent-1')
    const id = call?.id ?? ''
    await expect(approveAs(agent, id)).rejects.toMatchObject({ code: 'store-refused' })
    await expect(
      agent.transaction(async ({ query }) => {
        await query(`select set_config('cordon.actor', 'anna', true)`)
        await query('select agents.fn_approve_tool_invocation($1)', [id])
      }),
    ).rejects.toMatchObject({ code: 'store-refused' })
    await expect(agent.execute('set role service_role')).rejects.toMatchObject({ code: 'store-refused' })
    // No gateway: what it says of a token is not heard, whether it would help or harm.
    await open('anna').transaction(async ({ query }) => {
      await query(`select set_config('cordon.token', '00000000-0000-0000-0000-000000000000', true)`)
      await query('select agents.fn_approve_tool_invocation($1)', [id])
    })
    expect(await registry.statusOf(id)).toBe('approved')
  })

  test('a gateway speaks for the members that it names', async () => {
    const tool = await registry.register('send')
    const serve = open('serve')
    const speak = (actor: string, sql: string, values: readonly unknown[]) =>
      serve.transaction(async ({ query }) => {
        await query(`select set_config('cordon.actor', $1, true)`, [actor])
        return query<{ id: string }>(sql, values)
      })
    const [call] = await speak('agent-1', 'select agents.fn_invoke_tool(null, $1, $2, $3) as id', [
      tool,
      'agent-1',
      '{}',
    ])
    await expect(speak('agent-1', 'select agents.fn_approve_tool_invocation($1)', [call?.id])).rejects.toMatchObject({
      code: 'store-refused',
    })
    await speak('anna', 'select agents.fn_approve_tool_invocation($1)', [call?.id])
  })
})

describe('concurrent requests', () => {
  test('of two simultaneous approvals one decides', async () => {
    const tool = await registry.register('send')
    const people = [open('anna'), open('otto')]
    for (let round = 0; round < 10; round += 1) {
      const id = await registry.invoke(tool, {})
      const outcomes = await Promise.allSettled(people.map((one) => approveAs(one, id)))
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    }
  })

  test('no two claims get the same call', async () => {
    const tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
    const wanted = new Set(await Promise.all(Array.from({ length: 60 }, () => registry.invoke(tool, {}))))
    const runners = Array.from({ length: 6 }, () => open('host-1'))
    await Promise.all(runners.map((one, at) => one.query('select agents.fn_heartbeat($1)', [`runner-${String(at)}`])))
    const claims = await Promise.all(
      runners.map(async (one, at) => {
        const mine: string[] = []
        for (;;) {
          const rows = await one.query<{ id: string }>('select id from agents.fn_claim_tool_invocations($1, 3)', [
            `runner-${String(at)}`,
          ])
          if (rows.length === 0) return mine
          mine.push(...rows.map(({ id }) => id))
        }
      }),
    )
    const got = claims.flat().filter((id) => wanted.has(id))
    expect(got.length).toBe(60)
    expect(new Set(got).size).toBe(60)
  })

  test('processes that start together migrate once', async () => {
    await engine.execute('create database together')
    const starters = Array.from({ length: 4 }, () => open(undefined, 'together'))
    const applied = await Promise.all(starters.map((one) => migrate(one)))
    expect(applied.map((names) => names.length).sort()).toEqual([0, 0, 0, readMigrations().length])
  })
})

describe('migrations', () => {
  test('a newer or changed database stays unchanged', async () => {
    await engine.execute('create database newer')
    const newer = open(undefined, 'newer')
    const known = readMigrations()
    await migrate(newer, [...known, { number: 9000, name: '9000_later.sql', text: 'select 1', hash: 'later' }])
    await expect(migrate(newer)).rejects.toMatchObject({ code: 'store-newer' })
    await engine.execute('create database other')
    const other = open(undefined, 'other')
    await migrate(other)
    await expect(
      migrate(
        other,
        known.map((each, at) => (at === 0 ? { ...each, hash: 'other' } : each)),
      ),
    ).rejects.toMatchObject({ code: 'store-differs' })
    expect(await migrate(other)).toEqual([])
  })

  test('only preparation changes a database: one without a store, an older and a newer one are refused', async () => {
    await engine.execute('create database unprepared')
    const unprepared = open(undefined, 'unprepared')
    await expect(requirePrepared(unprepared)).rejects.toMatchObject({
      code: 'store-not-prepared',
      message: expect.stringContaining('it has no store of Cordon') as string,
      fix: expect.stringContaining('cordon runner --prepare --database URL') as string,
    })
    await expect(listTools(unprepared, 'acme')).rejects.toMatchObject({ code: 'store-not-prepared' })
    expect(
      await unprepared.query(`select nspname from pg_namespace where nspname in ('agents', 'cordon_migrations')`),
    ).toEqual([])
    await migrate(unprepared)
    await requirePrepared(unprepared)
    const later = { number: 9000, name: '9000_later.sql', text: 'select 1', hash: 'later' }
    await expect(requirePrepared(unprepared, [...readMigrations(), later])).rejects.toMatchObject({
      code: 'store-not-prepared',
      message: expect.stringContaining('an older version, without 9000_later.sql') as string,
    })
    await expect(migrate(open('agent-1', 'unprepared'), [...readMigrations(), later])).rejects.toMatchObject({
      code: 'store-not-prepared',
      message: expect.stringContaining('may not create schemas') as string,
    })
    await migrate(unprepared, [...readMigrations(), later])
    await expect(requirePrepared(unprepared)).rejects.toMatchObject({ code: 'store-newer' })
  })

  test('a failed migration leaves nothing behind', async () => {
    await engine.execute('create database broken')
    const broken = open(undefined, 'broken')
    await expect(
      migrate(broken, [
        { number: 1, name: '0001_broken.sql', text: 'create table public.half (a int); select 1 / 0', hash: 'x' },
      ]),
    ).rejects.toThrow('division by zero')
    expect(await broken.query(`select to_regclass('public.half') as half`)).toEqual([{ half: null }])
    expect((await migrate(broken)).length).toBe(readMigrations().length)
  })
})

test('a lost server is reported, and used again when it is back, also by listeners', async () => {
  const one = open()
  const heard: string[] = []
  await one.listen(['back', 'forth'], (text, channel) => heard.push(`${channel} ${text}`))
  server.stop('immediate')
  await expect(one.query('select 1')).rejects.toMatchObject({ code: 'store-unavailable' })
  server.start()
  await expect.poll(() => one.query('select 1 as one')).toEqual([{ one: 1 }])
  await expect
    .poll(
      async () => {
        await one.query(`select pg_notify('back', 'hello'), pg_notify('forth', 'hello')`)
        return [...new Set(heard)].sort()
      },
      { interval: 200 },
    )
    .toEqual(['back hello', 'forth hello'])
  expect(await engine.query(`select from pg_stat_activity where application_name = 'cordon listener'`)).toHaveLength(1)
  expect(await engine.query('select * from agents.fn_verify_audit()')).toEqual([])
})
