// Runs of a team: a plan, people who approve it, and calls that are made for it.
import { expect, test } from 'vitest'

import { maintainRegistry } from '../../src/store/index.js'
import type { Queryable } from '../../src/store/index.js'

import { BAD_STATE, MISSING, REFUSED, describeRegistry } from './describe-registry.js'
import type { TeamRegistry } from './describe-registry.js'
import { perform } from './perform.js'
import { actorOf } from './registry.js'

const PLAN = { steps: ['build', 'publish'] }
const FREE = { p_egress_class: 'none', p_requires_approval: false }
const DAY = 86_400

describeRegistry('runs of a team', (stage) => {
  const { claim, fresh } = stage
  const start = async ({ agent, owner }: TeamRegistry, more: object = {}) =>
    (await perform(agent, 'startRun', { team: owner, name: 'release', plan: PLAN, ...more })).id
  const showRun = (who: Queryable, id: string) => perform(who, 'showRun', { id })
  const cancelRun = async (who: Queryable, id: string, more: { readonly reason?: string } = {}) =>
    (await perform(who, 'cancelRun', { id, ...more })).status
  const approveRun = async (who: Queryable, id: string, shownHash: string) =>
    (await perform(who, 'approve', { id, shownHash })).status
  const statusOf = async (id: string) =>
    (await stage.engine.query<{ status: string }>('select status from agents.team_runs where id = $1', [id]))[0]?.status
  const questionOf = async (id: string) =>
    (await stage.engine.query<{ status: string }>('select status from agents.approvals where subject_id = $1', [id]))[0]
      ?.status
  const approve = async (registry: TeamRegistry, id: string) =>
    approveRun(registry.anna, id, (await perform(registry.anna, 'showQuestion', { id })).question.argumentsHash)
  const callFor = (registry: TeamRegistry, run: string, tool: string) =>
    registry.agent.value<string>(`select agents.fn_invoke_tool($1, $2, 'agent-1', '{"path":"a"}')`, [run, tool])
  /** Past the guard, as time does it. */
  const late = async (id: string) => {
    await stage.engine.execute('alter table agents.team_runs disable trigger trg_team_runs_guard')
    await stage.engine.query(`update agents.team_runs set expires_at = now() - interval '1 minute' where id = $1`, [id])
    await stage.engine.execute('alter table agents.team_runs enable trigger trg_team_runs_guard')
  }

  test('are listed with pending calls, and approved by the hash of the shown plan', async () => {
    const registry = await fresh()
    const call = await registry.invoke(await registry.register('send'))
    const run = await start(registry)
    expect(
      (await perform(registry.anna, 'listQuestions', { team: registry.owner })).map(({ subjectKind, subjectId }) => [
        subjectKind,
        subjectId,
      ]),
    ).toEqual([
      ['tool_invocation', call],
      ['team_run', run],
    ])
    const shown = await showRun(registry.anna, run)
    expect(shown).toMatchObject({
      run: { name: 'release', status: 'pending', startedBy: 'agent-1' },
      question: { needed: 1, agreed: 0, status: 'pending' },
      votes: [],
      calls: [],
    })
    expect(JSON.parse(shown.planText)).toEqual(PLAN)
    await expect(approveRun(registry.anna, run, `sha256:${'0'.repeat(64)}`)).rejects.toMatchObject(BAD_STATE)
    expect(await statusOf(run)).toBe('pending')
    expect(await approveRun(registry.anna, run, shown.run.planHash)).toBe('approved')
    expect(await showRun(registry.agent, run)).toMatchObject({
      run: { status: 'approved' },
      votes: [{ voter: 'anna', verdict: 'approve' }],
    })
  })

  test('cannot be decided by their starter, or by a stranger, who learns nothing of them', async () => {
    const registry = await fresh()
    const run = await start(registry)
    // `agent-1` is an operator too.
    await expect(
      approveRun(
        actorOf(stage.engine, 'cordon_operator', 'agent-1'),
        run,
        (await showRun(registry.anna, run)).run.planHash,
      ),
    ).rejects.toMatchObject(REFUSED)
    const stranger = actorOf(stage.engine, 'cordon_operator', 'stranger')
    await registry.anna.query('select agents.fn_decide_team_run($1, $2, $3)', [run, 'reject', 'no'])
    await expect(stranger.query('select agents.fn_decide_team_run($1, $2)', [run, 'approve'])).rejects.toMatchObject(
      REFUSED,
    )
    await expect(stranger.query('select agents.fn_cancel_team_run($1)', [run])).rejects.toMatchObject(REFUSED)
    await expect(showRun(stranger, run)).rejects.toMatchObject(MISSING)
    expect(await perform(stranger, 'listRuns', { team: registry.owner })).toEqual([])
  })

  test('that need two people wait for two', async () => {
    const registry = await fresh()
    const run = await start(registry, { needed: 2 })
    const { planHash } = (await showRun(registry.anna, run)).run
    expect(await approveRun(registry.anna, run, planHash)).toBe('pending')
    await expect(callFor(registry, run, await registry.register('look', FREE))).rejects.toMatchObject(BAD_STATE)
    expect(await approveRun(registry.otto, run, planHash)).toBe('approved')
  })

  test(
    'that nobody decides in time expire with their question, and so does one that was approved, after which ' +
      'nothing is called for it',
    async () => {
      const registry = await fresh()
      const tool = await registry.register('look', FREE)
      const [unanswered, used, open] = [await start(registry), await start(registry), await start(registry)]
      await approve(registry, used)
      expect(await callFor(registry, used, tool)).toBeDefined()
      await late(unanswered)
      await late(used)
      expect((await perform(registry.anna, 'listRuns', { team: registry.owner, status: 'expired' })).length).toBe(2)
      await expect(callFor(registry, used, tool)).rejects.toMatchObject(BAD_STATE)
      await maintainRegistry(registry.admin)
      expect([
        await statusOf(unanswered),
        await questionOf(unanswered),
        await statusOf(used),
        await questionOf(used),
        await statusOf(open),
      ]).toEqual(['expired', 'expired', 'expired', 'approved', 'pending'])
      await expect(approve(registry, unanswered)).rejects.toMatchObject(BAD_STATE)
    },
  )

  test(
    'that are cancelled take their open calls with them: what waits does not run, what runs is told, what has ' +
      'ended stays',
    async () => {
      const registry = await fresh()
      const [tool, asking] = [await registry.register('look', FREE), await registry.register('send')]
      const [run, other] = [await start(registry), await start(registry)]
      for (const each of [run, other]) await approve(registry, each)
      const [running, waiting, asked, elsewhere] = [
        await callFor(registry, run, tool),
        await callFor(registry, run, tool),
        await callFor(registry, run, asking),
        await callFor(registry, other, tool),
      ]
      const done = await callFor(registry, run, tool)
      await stage.complete(registry, done, (await claim(registry, done))?.fence)
      await claim(registry, running)
      expect(await cancelRun(registry.agent, run, { reason: 'the plan was wrong' })).toBe('cancelled')
      expect([
        await statusOf(run),
        ...(await Promise.all([running, waiting, asked, elsewhere, done].map((id) => registry.statusOf(id)))),
      ]).toEqual(['cancelled', 'running', 'cancelled', 'cancelled', 'approved', 'completed'])
      expect(
        await stage.engine.query('select cancel_requested as told from agents.tool_invocations where id = $1', [
          running,
        ]),
      ).toEqual([{ told: true }])
      expect(await questionOf(asked)).toBe('cancelled')
      await expect(callFor(registry, run, tool)).rejects.toMatchObject(BAD_STATE)
      await expect(cancelRun(registry.agent, run)).rejects.toMatchObject(BAD_STATE)
      expect((await showRun(registry.anna, run)).calls.length).toBe(4)
      expect(await registry.admin.query('select agents.fn_verify_audit() as problem')).toEqual([])
    },
  )

  test('can be cancelled by their starter, an operator or an admin, and by no other agent', async () => {
    const registry = await fresh()
    const [first, second, third] = [await start(registry), await start(registry), await start(registry)]
    await expect(cancelRun(actorOf(stage.engine, 'cordon_agent', 'agent-2'), first)).rejects.toMatchObject(REFUSED)
    expect(await cancelRun(registry.agent, first)).toBe('cancelled')
    expect(await cancelRun(registry.anna, second)).toBe('cancelled')
    expect(await cancelRun(registry.admin, third)).toBe('cancelled')
    expect(await questionOf(first)).toBe('cancelled')
  })

  test('keep their plan and follow their states, whoever changes the row', async () => {
    const registry = await fresh()
    const [run, rejected] = [await start(registry), await start(registry)]
    await registry.anna.query('select agents.fn_decide_team_run($1, $2, $3)', [rejected, 'reject', 'no'])
    const change = (id: string, what: string) =>
      stage.engine.query(`update agents.team_runs set ${what} where id = $1`, [id])
    for (const what of [
      `plan = '{"steps":["publish"]}'`,
      `name = 'other'`,
      `started_by = 'anna'`,
      `expires_at = now() + interval '1 year'`,
    ])
      await expect(change(run, what), what).rejects.toMatchObject(BAD_STATE)
    for (const state of ['approved', 'pending', 'cancelled'])
      await expect(change(rejected, `status = '${state}'`), state).rejects.toMatchObject(BAD_STATE)
    await expect(stage.engine.query('delete from agents.team_runs where id = $1', [run])).rejects.toMatchObject(
      BAD_STATE,
    )
    await expect(
      stage.engine.query(
        `insert into agents.team_runs (owner, name, status, expires_at) values ($1, 'x', 'approved', now() + ` +
          `interval '1 day')`,
        [registry.owner],
      ),
    ).rejects.toMatchObject(BAD_STATE)
    await expect(
      registry.anna.query(`update agents.team_runs set status = 'approved' where id = $1`, [run]),
    ).rejects.toMatchObject(REFUSED)
    await approve(registry, run)
    await expect(change(run, `status = 'pending'`)).rejects.toMatchObject(BAD_STATE)
  })

  test('have a limited duration and number of people', async () => {
    const registry = await fresh()
    for (const more of [{ validSeconds: 31 * DAY }, { validSeconds: 0 }, { needed: 0 }, { needed: 21 }])
      await expect(start(registry, more), JSON.stringify(more)).rejects.toMatchObject(BAD_STATE)
    expect(await start(registry, { validSeconds: 30 * DAY, needed: 20 })).toBeDefined()
  })

  test('that are cancelled during requests leave no call behind', async () => {
    const registry = await fresh()
    const tool = await registry.register('look', FREE)
    const run = await start(registry)
    await approve(registry, run)
    const asked = Array.from({ length: 12 }, () => callFor(registry, run, tool).catch(() => undefined))
    const [, ...ids] = await Promise.all([cancelRun(registry.agent, run), ...asked])
    for (const id of ids) if (typeof id === 'string') expect(await registry.statusOf(id)).toBe('cancelled')
  })
})
