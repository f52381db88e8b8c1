// Usage and cost of a call, measured in a real cell, compared with the expected cost.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { createCordon, processTool, tool } from 'cordon'
import { teamRegistry } from '@cordon/team'
import {
  addMember,
  assignTool,
  registerTool,
  requireInvocation,
  requireTool,
  speakingAs,
} from '../../src/store/index.js'
import type { Engine, Invocation, Role, ToolRegistration } from '../../src/store/index.js'
import { echo, serverAuthority, startHttps } from '../../../core/test/egress/servers.js'

import { describeRegistry } from './describe-registry.js'
import { describeEngines, openEngine } from './engines.js'

const HOST = 'api.test'
const FREE = { egressClass: 'none', requiresApproval: false } as const

describeEngines('usage and cost of a call in a cell', (name) => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-costs-')))
  let engine: Engine
  let close: () => Promise<void>
  let web: Awaited<ReturnType<typeof startHttps>>
  const as = (role: Role, actor: string) => speakingAs(engine, { kind: 'gateway', role, actor })
  const admin = () => as('cordon_admin', 'ada')
  const register = async (tool: Omit<ToolRegistration, 'owner'>): Promise<void> => {
    await assignTool(admin(), 'agent-1', await registerTool(admin(), { owner: 'team', ...tool }))
  }

  beforeAll(async () => {
    ;({ engine, close } = await openEngine(name))
    web = await startHttps(echo, { host: HOST })
    await addMember(as('service_role', 'founder'), 'team', 'ada', 'admin')
    for (const kind of ['agent', 'runner'] as const) await addMember(admin(), 'team', 'agent-1', kind)
  })
  afterAll(async () => {
    await close()
    await web.close()
    rmSync(workspace, { recursive: true, force: true })
  })

  const call = async (key: string, input: object = {}): Promise<Invocation> => {
    const network = [`${HOST}:${String(web.port)}`]
    const cordon = await createCordon({
      workspace,
      mode: 'default',
      registry: teamRegistry({ engine, owner: 'team', agent: 'agent-1', runner: 'runtime', speaks: 'gateway' }),
      rules: [
        { rules: [{ effect: 'allow', tool: ['say', 'add', 'inside', 'fetch'], because: 'the registry decides' }] },
      ],
      egress: { authorities: [serverAuthority.certificate], pins: { [HOST]: ['127.0.0.1'] } },
      tools: [
        processTool({
          name: 'say',
          description: 'says',
          input: { type: 'object' },
          policy: {},
          command: ({ text }: { text: string }) => [
            'sh',
            '-c',
            'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; printf %s "$0"; printf oh >&2',
            text,
          ],
        }),
        tool({
          name: 'add',
          description: 'adds',
          input: { type: 'object' },
          policy: {},
          run: ({ a, b }: { a: number; b: number }) => a + b,
        }),
        tool({
          name: 'inside',
          inProcess: true,
          description: 'runs in the process of the agent',
          input: { type: 'object' },
          policy: {},
          run: () => 1,
        }),
        processTool({
          name: 'fetch',
          description: 'fetches',
          input: { type: 'object' },
          policy: { network, egress_class: 'read_only' },
          command: () => [
            'curl',
            '-sS',
            '--noproxy',
            '*',
            '-X',
            'OPTIONS',
            '--data',
            'a question of some length',
            `https://${HOST}:${String(web.port)}/`,
          ],
        }),
      ],
    })
    try {
      let id = ''
      expect(
        await cordon.call(key, input, {
          onInvocation: (given) => {
            id = given
          },
        }),
      ).toMatchObject({ status: 'ok' })
      return await requireInvocation(admin(), id)
    } finally {
      await cordon.close()
    }
  }
  const used = ({ usage }: Invocation, what: string): number => Number(usage?.[what])

  test('usage has wall time, CPU, memory and written bytes, and no network bytes without a network', async () => {
    await register({ key: 'say', ...FREE })
    const done = await call('say', { text: 'hello' })
    expect(done.usage).toMatchObject({ status: 'ok', output_bytes: 7, bytes_sent: 0, bytes_received: 0 })
    for (const what of ['wall_ms', 'cpu_ms', 'max_rss_bytes']) expect(used(done, what), what).toBeGreaterThan(0)
    expect(done).toMatchObject({ costMeasured: null, costReported: null, costDeviates: null })
    await register({ key: 'add', ...FREE })
    expect(used(await call('add', { a: 1, b: 2 }), 'output_bytes')).toBeGreaterThan(0)
  })

  test('the database computes the cost from the usage and the prices of the tool', async () => {
    await register({ key: 'say', ...FREE, prices: { call: 2, cpu_second: 100, wall_second: 10 } })
    const done = await call('say', { text: 'x' })
    expect(done.costMeasured).toBeCloseTo(2 + used(done, 'cpu_ms') / 10 + used(done, 'wall_ms') / 100, 6)
    expect(done).toMatchObject({ costReported: null, costEstimate: null, costDeviates: null })
  })

  test('bytes through the proxy are counted, at the price of a megabyte', async () => {
    await register({ key: 'fetch', egressClass: 'read_only', requiresApproval: false, prices: { megabyte: 1_000_000 } })
    const done = await call('fetch')
    for (const what of ['bytes_sent', 'bytes_received']) expect(used(done, what), what).toBeGreaterThan(10)
    expect(done.costMeasured).toBeCloseTo(used(done, 'bytes_sent') + used(done, 'bytes_received'), 6)
  })

  test('a cost far above the expected one is flagged, and one near it is not', async () => {
    await register({ key: 'add', ...FREE, prices: { call: 5 }, expectedCost: 1 })
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ costEstimate: 1, costMeasured: 5, costDeviates: true })
    await register({ key: 'add', ...FREE, prices: { call: 5 }, expectedCost: 4 })
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ costEstimate: 4, costMeasured: 5, costDeviates: false })
    expect(await requireTool(admin(), 'team', 'add')).toMatchObject({ expectedCost: 4, prices: { call: 5 } })
  })

  test("an unmeasurable cost is unknown, not zero: a function in the agent's own process", async () => {
    await register({ key: 'inside', ...FREE, prices: { cpu_second: 1 }, expectedCost: 3 })
    const done = await call('inside')
    expect(done).toMatchObject({
      costMeasured: null,
      costDeviates: null,
      usage: { wall_ms: expect.any(Number) as number },
    })
    expect(done.usage).not.toHaveProperty('cpu_ms')
    await register({ key: 'inside', ...FREE, prices: { call: 3, wall_second: 0 } })
    expect(await call('inside')).toMatchObject({ costMeasured: 3 })
  })
})

describeRegistry('prices, and figures of the runner', (stage) => {
  const { claim, fresh } = stage
  const free = (prices: object | null, more: object = {}) => ({
    p_egress_class: 'none',
    p_requires_approval: false,
    p_prices: prices === null ? null : JSON.stringify(prices),
    ...more,
  })
  type Team = Awaited<ReturnType<typeof fresh>>
  const run = async (
    registry: Team,
    tool: string,
    usage: object | null,
    cost: number | null = null,
    estimate: number | null = null,
  ) => {
    const id = await registry.agent.value<string>(
      `select agents.fn_invoke_tool(null, $1, 'agent-1', '{"path":"a"}', null, $2)`,
      [tool, estimate],
    )
    const claimed = await claim(registry, id)
    await registry.runner.query('select agents.fn_complete_tool_invocation($1, $2, null, null, $3, $4, $5)', [
      id,
      'completed',
      cost,
      claimed?.fence,
      usage === null ? null : JSON.stringify(usage),
    ])
    return (
      await stage.engine.query<{ measured: number | null; reported: number | null; deviates: boolean | null }>(
        'select cost_measured::float8 as measured, cost_reported::float8 as reported, cost_deviates as ' +
          'deviates from agents.tool_invocations where id = $1',
        [id],
      )
    )[0]
  }

  test(
    'what the runner says is kept beside what is measured, the larger one counts for budgets, and that they ' +
      'differ is flagged',
    async () => {
      const registry = await fresh()
      const tool = await registry.register('look', free({ call: 4 }))
      await registry.admin.query(`select agents.fn_set_budget($1, 'agent', 'agent-1', interval '1 day', null, 20)`, [
        registry.owner,
      ])
      expect(await run(registry, tool, {}, 1)).toEqual({ measured: 4, reported: 1, deviates: true })
      expect(await run(registry, tool, {}, 4)).toEqual({ measured: 4, reported: 4, deviates: false })
      expect(await run(registry, tool, {}, 9)).toEqual({ measured: 4, reported: 9, deviates: true })
      // 4 + 4 + 9 of 20: there is room for 3 and not for 4.
      const ask = (estimate: number) =>
        registry.agent.value<string>(`select agents.fn_invoke_tool(null, $1, 'agent-1', '{"path":"a"}', null, $2)`, [
          tool,
          estimate,
        ])
      await expect(ask(4)).rejects.toMatchObject({ code: 'store-refused' })
      expect(await ask(3)).toBeDefined()
    },
  )

  test('a call that claims to have run longer than since its claim is flagged, and another is not', async () => {
    const registry = await fresh()
    const tool = await registry.register('look', free({ wall_second: 1 }))
    expect(await run(registry, tool, { wall_ms: 3_600_000 })).toEqual({
      measured: 3600,
      reported: null,
      deviates: true,
    })
    expect(await run(registry, tool, { wall_ms: 1 })).toEqual({ measured: 0.001, reported: null, deviates: null })
  })

  test('invalid or negative usage does not reduce the cost', async () => {
    const registry = await fresh()
    const tool = await registry.register('look', free({ call: 2, cpu_second: 1 }))
    expect(await run(registry, tool, { cpu_ms: 'none' })).toMatchObject({ measured: null })
    expect(await run(registry, tool, null)).toMatchObject({ measured: null })
    expect(await run(registry, tool, { cpu_ms: -1e12 })).toMatchObject({ measured: 2 })
  })

  test('a call costs what its requested version costs, not a later one', async () => {
    const registry = await fresh()
    const tool = await registry.register('look', free({ call: 2 }))
    const id = await registry.invoke(tool)
    const claimed = await claim(registry, id)
    await registry.register('look', free({ call: 200 }))
    await registry.runner.query('select agents.fn_complete_tool_invocation($1, $2, p_fence => $3)', [
      id,
      'completed',
      claimed?.fence,
    ])
    expect(
      await stage.engine.query('select cost_measured::int as cost from agents.tool_invocations where id = $1', [id]),
    ).toEqual([{ cost: 2 }])
    await expect(
      stage.engine.query(`update agents.tool_invocations set prices = '{}' where id = $1`, [id]),
    ).rejects.toThrow()
  })

  test('another price or expected cost makes a new version, and an invalid price is refused', async () => {
    const registry = await fresh()
    const versionOf = async (prices: object | null, more: object = {}) => {
      const id = await registry.register('look', free(prices, more))
      return (
        await stage.engine.query<{ version: number }>('select version from agents.tools_registry where id = $1', [id])
      )[0]?.version
    }
    expect([
      await versionOf({ call: 1 }),
      await versionOf({ call: 1 }),
      await versionOf({ call: 2 }),
      await versionOf({ call: 2 }, { p_expected_cost: 2 }),
      await versionOf({}),
    ]).toEqual([1, 1, 2, 3, 4])
    for (const prices of [{ call: -1 }, { call: '1' }, { call: null }, { minute: 1 }, [], { call: 1e300 }])
      await expect(versionOf(prices), JSON.stringify(prices)).rejects.toMatchObject({ code: 'store-state' })
  })
})
