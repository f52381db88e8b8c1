// Old data is dropped with its partition, and the log stays verifiable across the gap.
import { afterAll, beforeAll, expect, test } from 'vitest'

import type { Engine } from '../../src/store/index.js'

import { describeEngines, openEngine } from './engines.js'
import { newRegistry } from './registry.js'
import type { Registry } from './registry.js'

/** Entries of the last hour as if they had been written at another time: everything in them fits. */
const REWRITE = (moment: string): string => `do $$
  declare
    entry agents.audit_events;
    before text;
  begin
    for entry in select * from agents.audit_events where at > now() - interval '1 hour' order by owner, chain, sequence loop
      select coalesce((select hash from agents.audit_events where owner = entry.owner and chain = entry.chain and sequence = entry.sequence - 1), b.hash) into before
        from agents.audit_beginnings b where b.owner = entry.owner and b.chain = entry.chain;
      entry.line := jsonb_set(entry.line::jsonb, '{at}', to_jsonb(to_char((${moment}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))::text;
      update agents.audit_events set at = ${moment}, line = entry.line, previous_hash = before, hash = agents.fn_entry_hash(before, entry.line)
        where owner = entry.owner and chain = entry.chain and sequence = entry.sequence;
      update agents.audit_chains set hash = agents.fn_entry_hash(before, entry.line) where owner = entry.owner and chain = entry.chain and sequence = entry.sequence;
    end loop;
  end $$`

describeEngines('retention', (name) => {
  let engine: Engine
  let close: () => Promise<void>
  let registry: Registry
  let tool: string

  beforeAll(async () => {
    ;({ engine, close } = await openEngine(name))
    registry = await newRegistry(engine, 'team')
    tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
    await registry.invoke(tool)
  })
  afterAll(async () => {
    await close()
  })

  /** As who owns the tables, with the guards off. */
  const tamper = (sql: string): Promise<void> =>
    engine.transaction(async (inside) => {
      await inside.execute(
        'set local role cordon_owner; alter table agents.audit_events disable trigger user; alter table ' +
          'agents.audit_chains disable trigger user',
      )
      await inside.execute(sql)
      await inside.execute(
        'alter table agents.audit_events enable trigger user; alter table agents.audit_chains enable trigger user',
      )
    })

  /** What was just written becomes the entries of a day long ago. */
  const makeOld = (day: string): Promise<void> => {
    const date = `timestamptz '${day.replaceAll('_', '-')} 00:00+00'`
    return tamper(`
      create table agents.audit_events_${day} partition of agents.audit_events for values from (${date}) to (${date} + interval '1 day');
      create table agents.tool_invocations_${day} partition of agents.tool_invocations for values from (${date}) to (${date} + interval '1 day');
      ${REWRITE(`${date} + interval '12 hours'`)}`)
  }
  const problems = () => engine.query<{ chain: number; problem: string }>('select * from agents.fn_verify_audit()')
  const drop = (keep: string) =>
    registry.service.query<{ part: string }>('select agents.fn_drop_old_partitions($1::interval) as part', [keep])

  test('drops older data and records it, and the chains continue', async () => {
    await makeOld('2020_01_01')
    await registry.invoke(tool)
    await makeOld('2020_01_02')
    await registry.invoke(tool)
    expect(await problems()).toEqual([])
    expect((await drop('10 years')).length).toBe(0)
    expect((await drop('30 days')).map(({ part }) => part)).toEqual([
      'tool_invocations_2020_01_01',
      'tool_invocations_2020_01_02',
      'audit_events_2020_01_01',
      'audit_events_2020_01_02',
    ])
    expect(await problems()).toEqual([])
    const [entry] = await engine.query<{ line: string }>(
      `select line from agents.audit_events where type = 'retention.dropped'`,
    )
    expect(JSON.parse(entry?.line ?? '')).toMatchObject({
      details: { kept: '30 days', partitions: expect.arrayContaining(['audit_events_2020_01_01']) as unknown },
    })
    // Chains that nothing was written to since end where they were cut.
    await tamper(
      `update agents.audit_chains set hash = 'x' where (owner, chain) = (select owner, chain from ` +
        'agents.audit_checkpoints k where not exists (select from agents.audit_events e where e.owner = ' +
        'k.owner and e.chain = k.chain) limit 1)',
    )
    expect(await problems()).toMatchObject([{ problem: 'the last entries are missing' }])
    await tamper(
      'update agents.audit_chains c set hash = k.hash from (select distinct on (owner, chain) * from ' +
        'agents.audit_checkpoints order by owner, chain, sequence desc) k where k.owner = c.owner and k.chain ' +
        `= c.chain and c.hash = 'x'`,
    )
    expect(await problems()).toEqual([])
  })

  test('keeps a damaged log, and calls that are not over', async () => {
    await registry.invoke(tool)
    await makeOld('2020_02_01')
    const [entry] = await engine.query<{ chain: number; sequence: string; line: string }>(
      `select chain, sequence::text, line from agents.audit_events where at < '2020-02-02' order by sequence limit 1`,
    )
    const forge = (line: string) =>
      tamper(
        `update agents.audit_events set line = '${line.replaceAll("'", "''")}' where chain = ` +
          `${String(entry?.chain)} and sequence = ${String(entry?.sequence)}`,
      )
    await forge(`${entry?.line ?? ''} `)
    await expect(drop('30 days')).rejects.toMatchObject({
      code: 'store-state',
      message: expect.stringContaining('is not what was written') as string,
    })
    await forge('no JSON')
    expect((await problems()).map(({ problem }) => problem)).toEqual([
      'its content does not fit its hash',
      'its columns are not what its line says',
    ])
    await forge(entry?.line ?? '')
    // Also where everything fits but a column, which nobody could hold against its line any more.
    const claim = (actor: string) =>
      tamper(
        `update agents.audit_events set actor = ${actor} where chain = ${String(entry?.chain)} and sequence ` +
          `= ${String(entry?.sequence)}`,
      )
    await claim(`'x'`)
    await expect(drop('30 days')).rejects.toMatchObject({
      code: 'store-state',
      message: expect.stringContaining('its columns are not what its line says') as string,
    })
    await claim(`line::jsonb ->> 'actor'`)
    await tamper(
      'insert into agents.tool_invocations_2020_02_01 select (jsonb_populate_record(i, ' +
        `jsonb_build_object('id', '016fff55-a300-7000-8000-000000000000', 'created_at', ` +
        `agents.fn_time_of('016fff55-a300-7000-8000-000000000000')))).* from agents.tool_invocations i where ` +
        `status = 'approved' limit 1`,
    )
    expect((await drop('30 days')).map(({ part }) => part)).toEqual(['audit_events_2020_02_01'])
    expect(await problems()).toEqual([])
  })

  test('keeps the approvals of an existing call, and a repeated approval needs the shown hash', async () => {
    const id = await registry.invoke(await registry.register('send'))
    const done = await registry.invoke(await registry.register('send'))
    for (const each of [id, done]) await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [each])
    await registry.runner.query(`select * from agents.fn_claim_tool_invocations('team-runner', 1, $1)`, [id])
    await engine.query('select agents.fn_recover_invocation(i) from agents.tool_invocations i where id = $1', [id])
    // As if the first question, and that of a call that is gone, were old; and there is something to drop.
    await engine.query(
      `update agents.approvals set created_at = '2020-04-01', subject_id = case when subject_id = $2 then ` +
        `gen_random_uuid() else subject_id end where subject_id in ($1, $2) and status = 'approved'`,
      [id, done],
    )
    await makeOld('2020_04_01')
    expect((await drop('30 days')).length).toBeGreaterThan(0)
    const questions = await engine.query<{ status: string; arguments_hash: string }>(
      'select status, arguments_hash from agents.approvals where subject_id = $1 or created_at < ' +
        `'2020-05-01' order by status`,
      [id],
    )
    expect(questions.map(({ status }) => status)).toEqual(['approved', 'pending'])
    await expect(registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])).rejects.toMatchObject({
      code: 'store-state',
    })
    expect(
      await registry.anna.value('select agents.fn_approve_tool_invocation($1, null, $2)', [
        id,
        questions[1]?.arguments_hash,
      ]),
    ).toBe('approved')
    expect(await problems()).toEqual([])
  })

  test('moves rows that came before their partition existed into one, and drops them with it', async () => {
    await registry.invoke(tool)
    // As if there had been no partition for it: with the rest.
    await tamper(REWRITE(`timestamptz '2020-03-05 12:00+00'`))
    const rest = async () =>
      (await engine.query<{ count: number }>('select count(*)::int from agents.audit_events_other'))[0]?.count
    expect(await rest()).toBeGreaterThan(0)
    await registry.invoke(tool)
    expect((await drop('30 days')).map(({ part }) => part)).toEqual(['audit_events_2020_03'])
    expect(await rest()).toBe(0)
    expect(await problems()).toEqual([])
  })

  test('is not done by truncating tables', async () => {
    const [{ part } = { part: '' }] = await engine.query<{ part: string }>(
      `select inhrelid::regclass::text as part from pg_inherits where inhparent = 'agents.audit_events'::regclass`,
    )
    for (const table of ['agents.audit_events', 'agents.audit_events_other', 'agents.audit_checkpoints', part])
      await expect(engine.execute(`truncate ${table}`)).rejects.toMatchObject({ code: 'store-refused' })
  })

  test('is only for the service, and never for recent data', async () => {
    await expect(registry.admin.query(`select agents.fn_drop_old_partitions('30 days')`)).rejects.toMatchObject({
      code: 'store-refused',
    })
    await expect(drop('1 hour')).rejects.toMatchObject({ code: 'store-state' })
    await expect(engine.query(`delete from agents.audit_checkpoints`)).rejects.toMatchObject({ code: 'store-refused' })
  })

  test('notices entries cut off at the beginning', async () => {
    await registry.agent.query('select agents.fn_cancel_tool_invocation($1)', [await registry.invoke(tool)])
    const [first] = await engine.query<{ owner: string; chain: number; sequence: string }>(
      'select owner, chain, min(sequence)::text as sequence from agents.audit_events group by owner, chain ' +
        'having count(*) > 1 limit 1',
    )
    await tamper(
      `delete from agents.audit_events where owner = '${first?.owner ?? ''}' and chain = ` +
        `${String(first?.chain)} and sequence = ${String(first?.sequence)}`,
    )
    expect(await problems()).toMatchObject([
      { owner: first?.owner, chain: first?.chain, problem: 'entries before it are missing' },
    ])
  })

  test('makes partitions by day from the next month on, and upkeep continues with days', async () => {
    const ahead = async () =>
      (
        await engine.query<{ part: string }>(
          'select relname as part from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent ' +
            `= 'agents.audit_events'::regclass and relname > 'audit_events_' || to_char(now() at time zone ` +
            `'UTC', 'YYYY_MM') order by 1`,
        )
      )
        .map(({ part }) => part)
        .filter((part) => /\d/.test(part))
    expect((await ahead()).every((part) => /_\d{4}_\d{2}$/.test(part))).toBe(true)
    await engine.query(`select agents.fn_make_partitions(31, 'day')`)
    const days = (await ahead()).filter((part) => /_\d{2}_\d{2}$/.test(part))
    expect(days.length).toBeGreaterThan(27)
    // A month is made of its days, and of nothing else.
    expect((await ahead()).filter((part) => part === days[0]?.slice(0, -3))).toEqual([])
    await engine.query('select agents.fn_make_next_partitions()')
    expect((await ahead()).length).toBeGreaterThanOrEqual(days.length)
    await registry.invoke(tool)
    expect((await engine.query('select from agents.audit_events_other')).length).toBe(0)
    await expect(engine.query(`select agents.fn_make_partitions(3, 'year')`)).rejects.toMatchObject({
      code: 'store-state',
    })
  })
})
