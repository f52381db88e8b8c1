// Several teams on one server with their own logins: no team is affected by what another does or leaves open.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { installQueue, maintainRegistry, migrate, speakingAs } from '../../src/store/index.js'
import type { Engine } from '../../src/store/index.js'

import { cordonProcess, temporaryFolder } from '../../../core/test/cli/cordon.js'

import { createLogins } from './logins.js'
import { newRegistry } from './registry.js'
import type { Registry } from './registry.js'
import { startServer } from './server.js'
import type { Server } from './server.js'

let server: Server
let engine: Engine
let ours: Registry
let theirs: Registry
const { open, close } = createLogins(() => server)

beforeAll(async () => {
  server = startServer()
  engine = open()
  await migrate(engine)
  await installQueue(engine, server.url())
  ours = await newRegistry(engine, 'ours')
  theirs = await newRegistry(engine, 'theirs')
  await ours.admin.query(`select agents.fn_add_member('theirs', 'neighbour', 'agent')`)
  await ours.admin.query(`select agents.fn_add_member('theirs', 'their-host', 'runner')`)
  await ours.admin.query(`select agents.fn_remove_member('theirs', 'host-1', 'runner')`)
  await engine.execute(`
    create role "neighbour" login in role cordon_agent;
    create role "host-1" login in role cordon_runner;
    create role "their-host" login in role cordon_runner`)
})
afterAll(async () => {
  await close()
  server.remove()
})

test('preparing a store runs nothing of the working folder, which tools may write to', () => {
  const cwd = temporaryFolder()
  const made = join(cwd, 'made')
  for (const name of ['.graphile-workerrc.js', 'graphile-worker.config.cjs'])
    writeFileSync(join(cwd, name), `require('fs').writeFileSync(${JSON.stringify(made)}, ''); module.exports = {}`)
  const prepared = cordonProcess(['runner', '--prepare'], { cwd, environment: { CORDON_DATABASE: server.url() } })
  expect({ ...prepared, isMade: existsSync(made) }).toMatchObject({ status: 0, isMade: false })
})

const gate = () => {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** A transaction that goes on while something else happens. */
const whileIdle = async (
  who: Engine,
  begins: (query: Engine['query']) => Promise<unknown>,
  meanwhile: () => Promise<void>,
): Promise<void> => {
  const [begun, over] = [gate(), gate()]
  const idle = who.transaction(async ({ query }) => {
    await begins(query)
    begun.open()
    await over.opened
  })
  try {
    await Promise.race([begun.opened, idle])
    await meanwhile()
  } finally {
    over.open()
    await idle
  }
}

const lookTool = (registry: Registry) =>
  registry.register('look', { p_egress_class: 'none', p_requires_approval: false })

test('an open transaction blocks no other team, and its own team gets an error', async () => {
  const [mine, other] = [await lookTool(ours), await lookTool(theirs)]
  await ours.admin.query('select agents.fn_assign_tool($1, $2)', ['neighbour', other])
  const late = await ours.agent.value<string>(
    `select agents.fn_invoke_tool(null, $1, 'agent-1', '{}', p_valid => interval '20 milliseconds')`,
    [mine],
  )
  const lateToo = await theirs.agent.value<string>(
    `select agents.fn_invoke_tool(null, $1, 'agent-1', '{}', p_valid => interval '20 milliseconds')`,
    [other],
  )
  await new Promise((resolve) => setTimeout(resolve, 50))
  // Not ten seconds, for the sake of the test.
  await engine.execute(`alter function agents.fn_invoke_tool set lock_timeout = '300ms'`)
  const everyChain = async (query: Engine['query']) => {
    // Ids are random, so nobody knows how many calls reach every chain.
    for (let held = 0; held < 64;) {
      for (let call = 0; call < 200; call += 1)
        await query(`select agents.fn_invoke_tool(null, $1, 'neighbour', '{}')`, [other])
      const [row] = await query<{ held: number }>(
        `select count(distinct abs(hashtextextended('invocation:' || id, 0) % 64))::int as held from ` +
          `agents.tool_invocations where agent = 'neighbour'`,
      )
      held = row?.held ?? 0
    }
  }
  await whileIdle(open('neighbour'), everyChain, async () => {
    const id = await ours.invoke(mine)
    const [claimed] = await ours.runner.query<{ fence: string }>(
      'select * from agents.fn_claim_tool_invocations($1, 1, $2)',
      ['ours-runner', id],
    )
    await ours.runner.query('select agents.fn_complete_tool_invocation($1, $2, null, null, null, $3)', [
      id,
      'completed',
      claimed?.fence,
    ])
    expect(await ours.statusOf(id)).toBe('completed')
    await expect(theirs.invoke(other)).rejects.toThrow('lock timeout')
    // What is done for all teams is done for the others.
    expect(
      (await maintainRegistry(speakingAs(engine, { kind: 'gateway', role: 'cordon_runner', actor: 'upkeep' }))).expired,
    ).toBeGreaterThan(0)
    expect(await ours.statusOf(late)).toBe('expired')
    expect(await theirs.statusOf(lateToo)).toBe('approved')
  })
  await engine.execute(`alter function agents.fn_invoke_tool set lock_timeout = '10s'`)
  await maintainRegistry(speakingAs(engine, { kind: 'gateway', role: 'cordon_runner', actor: 'upkeep' }))
  expect(await theirs.statusOf(lateToo)).toBe('expired')
  expect(await theirs.statusOf(await theirs.invoke(other))).toBe('approved')
})

test(
  "what one looks after for all is that of one's own teams: a runner that does not end its upkeep holds up no " +
    'other team',
  async () => {
    const mine = await lookTool(ours)
    const late = await ours.agent.value<string>(
      `select agents.fn_invoke_tool(null, $1, 'agent-1', '{}', p_valid => interval '20 milliseconds')`,
      [mine],
    )
    const lateRun = await ours.agent.value<string>(
      `select agents.fn_start_team_run('ours', 'release', '{}', p_valid => interval '20 milliseconds')`,
    )
    const runStatus = async () =>
      (await engine.query<{ status: string }>('select status from agents.team_runs where id = $1', [lateRun]))[0]
        ?.status
    await new Promise((resolve) => setTimeout(resolve, 50))
    await whileIdle(
      open('their-host'),
      (query) =>
        query(
          'select agents.fn_expire_invocations(), agents.fn_recover_lost_invocations(), agents.fn_expire_team_runs()',
        ),
      async () => {
        expect([await ours.statusOf(late), await runStatus()]).toEqual(['approved', 'pending'])
        await ours.anna.query(`select agents.fn_stop('ours', 'pause', 'maintenance')`)
        await ours.anna.query(`select agents.fn_resume('ours')`)
      },
    )
    await open('host-1').query('select agents.fn_expire_invocations(), agents.fn_expire_team_runs()')
    expect([await ours.statusOf(late), await runStatus()]).toEqual(['expired', 'expired'])
  },
)

test('open upkeep of one runner blocks no other runner, and runner names belong to their login', async () => {
  const [mine, other] = [open('host-1'), open('their-host')]
  for (const who of [mine, other]) await who.query(`select agents.fn_heartbeat('laptop')`)
  await engine.query(`update agents.runners set last_seen = now() - interval '2 days' where name = 'laptop'`)
  const named = async () =>
    (
      await engine.query<{ actor: string }>(`select actor from agents.runners where name = 'laptop' order by actor`)
    ).map(({ actor }) => actor)
  await whileIdle(
    other,
    (query) => query('select agents.fn_tidy()'),
    async () => {
      await mine.query(`select agents.fn_heartbeat('laptop')`)
    },
  )
  expect(await named()).toEqual(['host-1'])
  await engine.query(`update agents.runners set last_seen = now() - interval '2 days' where name = 'laptop'`)
  await mine.query('select agents.fn_tidy()')
  expect(await named()).toEqual([])
})

test('a transaction with an old snapshot cannot decide', async () => {
  const tool = await ours.register('send')
  const id = await ours.invoke(tool)
  await engine.execute(
    `do $$ begin if to_regrole('anna') is null then create role "anna" login in role cordon_operator; end if; end $$`,
  )
  const approve = (begin: string) =>
    open('anna').transaction(async ({ query, execute }) => {
      await execute(begin)
      await query('select agents.fn_approve_tool_invocation($1)', [id])
    })
  await expect(approve('set transaction isolation level repeatable read')).rejects.toMatchObject({
    code: 'store-state',
  })
  await approve('set transaction isolation level read committed')
  expect(await ours.statusOf(id)).toBe('approved')
})

test('a runner sees and moves only the jobs of its teams in the queue', async () => {
  const id = await theirs.invoke(await theirs.register('quick', { p_egress_class: 'none', p_requires_approval: false }))
  const seenBy = async (login: string) =>
    (await open(login).query('select from cordon_queue._private_jobs where key = $1', [id])).length
  const postponedBy = async (login: string) =>
    (
      await open(login).query(`update cordon_queue._private_jobs set run_at = 'infinity' where key = $1 returning 1`, [
        id,
      ])
    ).length
  expect([await seenBy('host-1'), await postponedBy('host-1')]).toEqual([0, 0])
  expect([await seenBy('their-host'), await postponedBy('their-host')]).toEqual([1, 1])
  // What one of their own postponed for ever is told of again.
  await maintainRegistry(speakingAs(engine, { kind: 'gateway', role: 'cordon_runner', actor: 'upkeep' }))
  expect(
    await engine.query(
      "select run_at < now() + interval '1 hour' as soon from cordon_queue._private_jobs where key = $1",
      [id],
    ),
  ).toEqual([{ soon: true }])
  await expect(
    open('host-1').query(`insert into cordon_queue._private_jobs (task_id, payload) values (1, '{"owner":"theirs"}')`),
  ).rejects.toMatchObject({ code: 'store-refused' })
})

test('a locked queue does not stop requests and approvals', async () => {
  const tool = await ours.register('send')
  const id = await ours.invoke(tool)
  await whileIdle(
    open('their-host'),
    (query) => query('lock table cordon_queue._private_jobs'),
    async () => {
      await ours.anna.query('select agents.fn_approve_tool_invocation($1)', [id])
      expect(await ours.statusOf(id)).toBe('approved')
      expect(await ours.statusOf(await ours.invoke(tool))).toBe('pending')
    },
  )
  await maintainRegistry(speakingAs(engine, { kind: 'gateway', role: 'cordon_runner', actor: 'upkeep' }))
  expect((await engine.query('select from cordon_queue._private_jobs where key = $1', [id])).length).toBe(1)
})

test('retention waits for no writer, and nobody waits long for it', async () => {
  const tool = await lookTool(ours)
  let isOver = false
  const writing = Promise.all(
    Array.from({ length: 4 }, async () => {
      let calls = 0
      for (; !isOver; calls += 1) await ours.invoke(tool)
      return calls
    }),
  )
  writing.catch(() => undefined)
  try {
    for (const year of ['2019', '2020', '2021']) {
      await engine.execute(`begin; set local role cordon_owner;
        create table agents.tool_invocations_${year}_01 partition of agents.tool_invocations for values from ('${year}-01-01') to ('${year}-02-01');
        create table agents.audit_events_${year}_01 partition of agents.audit_events for values from ('${year}-01-01') to ('${year}-02-01');
        commit`)
      expect((await ours.service.query(`select agents.fn_drop_old_partitions('30 days')`)).length).toBe(2)
    }
  } finally {
    isOver = true
  }
  expect((await writing).every((calls) => calls > 0)).toBe(true)
})

test('retention that waits for a reader lets others through meanwhile', async () => {
  const tool = await lookTool(ours)
  await engine.execute(
    'begin; set local role cordon_owner; create table agents.tool_invocations_2018_01 partition of ' +
      `agents.tool_invocations for values from ('2018-01-01') to ('2018-02-01'); commit`,
  )
  let dropping: Promise<readonly object[]> | undefined
  await whileIdle(
    open('neighbour'),
    (query) => query('select count(*) from agents.tool_invocations'),
    async () => {
      dropping = ours.service.query(`select agents.fn_drop_old_partitions('30 days')`)
      dropping.catch(() => undefined)
      await expect
        .poll(
          async () =>
            (
              await engine.query(
                `select from pg_locks where not granted and relation = 'agents.tool_invocations'::regclass ` +
                  `and mode = 'AccessExclusiveLock'`,
              )
            ).length,
        )
        .toBe(1)
      expect(await ours.statusOf(await ours.invoke(tool))).toBe('approved')
      expect(
        (
          await engine.query(
            `select from pg_stat_activity where query like '%fn_drop_old_partitions%' and state = 'active' ` +
              'and pid <> pg_backend_pid()',
          )
        ).length,
      ).toBe(1)
    },
  )
  expect((await dropping)?.length).toBe(1)
})

test(
  'a login makes the partitions that come next, and none where somebody made those ahead: what it holds open ' +
    'then holds up nobody',
  async () => {
    const tool = await lookTool(ours)
    const ahead = async (): Promise<readonly string[]> =>
      (
        await engine.query<{ part: string }>(
          'select relname as part from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = ' +
            `'agents.tool_invocations'::regclass and relname > 'tool_invocations_' || to_char(now() at time zone ` +
            `'UTC', 'YYYY_MM') and relname ~ '[0-9]$' order by 1`,
        )
      ).map(({ part }) => part)
    const all = await ahead()
    expect(all.length).toBe(3)
    await engine.execute(
      all
        .slice(1)
        .map((part) => `drop table agents.${part}`)
        .join(';'),
    )
    await whileIdle(
      open('their-host'),
      (query) => query('select agents.fn_make_next_partitions()'),
      async () => {
        expect(await ours.statusOf(await ours.invoke(tool))).toBe('approved')
      },
    )
    expect((await ahead()).length).toBe(1)
    await engine.execute(`drop table agents.${all[0] ?? ''}`)
    await open('their-host').query('select agents.fn_make_next_partitions()')
    expect((await ahead()).length).toBe(1)
    await maintainRegistry(speakingAs(engine, { kind: 'gateway', role: 'cordon_runner', actor: 'upkeep' }))
    expect(await ahead()).toEqual(all)
  },
)

test('a team sees its own runners and the problems of its own record', async () => {
  await open('their-host').query(`select agents.fn_heartbeat('their-machine')`)
  const runnersOf = async (login: string) =>
    (await open(login).query<{ name: string }>('select name from agents.runners order by name')).map(({ name }) => name)
  expect(await runnersOf('host-1')).not.toContain('their-machine')
  expect(await runnersOf('their-host')).toContain('their-machine')
  await ours.admin.query(`select agents.fn_add_member('theirs', 'olga', 'operator')`)
  await ours.admin.query(`select agents.fn_add_member('ours', 'anton', 'operator')`)
  await engine.execute(
    `create role "olga" login in role cordon_operator; create role "anton" login in role cordon_operator`,
  )
  await engine.execute(
    `alter table agents.audit_events disable trigger user; update agents.audit_events set actor = 'x' where ` +
      `owner = 'theirs' and type = 'member.added' and subject = 'member:olga'; alter table agents.audit_events ` +
      'enable trigger user',
  )
  const problemsFor = (login?: string) =>
    open(login).query<{ owner: string; problem: string }>('select owner, problem from agents.fn_verify_audit()')
  expect(await problemsFor('anton')).toEqual([])
  expect(await problemsFor('olga')).toEqual([{ owner: 'theirs', problem: 'its columns are not what its line says' }])
  expect((await problemsFor()).length).toBe(1)
  await expect(open('olga').query(`select agents.fn_heartbeat('nobody')`)).rejects.toMatchObject({
    code: 'store-refused',
  })
})

test('verification notices a team whose whole record was removed', async () => {
  await engine.execute(`
    alter table agents.audit_events disable trigger user;
    delete from agents.audit_events where owner = 'theirs'; delete from agents.audit_chains where owner = 'theirs';
    alter table agents.audit_events enable trigger user`)
  expect(await engine.query('select owner, problem from agents.fn_verify_audit()')).toEqual([
    { owner: 'theirs', problem: 'the whole record of this team is missing' },
  ])
})

test(
  "how much a query read tells nobody what is written in rows of another team; in one's own a filter finds " +
    'what it looks for',
  async () => {
    const neighbour = open('neighbour')
    const told = async (filter: string) => {
      const lines = await neighbour.query<Record<string, string>>(
        `explain (analyze, buffers, costs off, timing off, summary off) select from agents.tools_registry where ${filter}`,
      )
      return lines
        .map((line) => line['QUERY PLAN'] ?? '')
        .join('\n')
        .split('\nPlanning:')[0]
        ?.replace(/starts_with\(name, '.*?'::text\)/, '')
    }
    const [known] = await engine.query<{ name: string }>(
      `select name from agents.tools_registry where owner = 'ours' limit 1`,
    )
    const first = (known?.name ?? '').slice(0, 1)
    expect(first).not.toBe('')
    // Once, so that both find the same things in the caches of the session.
    await told(`owner = 'ours' and starts_with(name, '~')`)
    expect(await told(`owner = 'ours' and starts_with(name, '${first}')`)).toBe(
      await told(`owner = 'ours' and starts_with(name, '~')`),
    )
    expect(await neighbour.query(`select name from agents.tools_registry where owner = 'ours'`)).toEqual([])
    expect(
      await neighbour.query(
        `select name from agents.tools_registry where owner = 'theirs' and starts_with(name, '${first}')`,
      ),
    ).not.toEqual([])
  },
)
