// Costs of calls: open ones count with their expected cost, ended ones with their real cost.
import { expect, test } from 'vitest'

import { BAD_STATE, MISSING, REFUSED, describeRegistry } from './describe-registry.js'
import type { TeamRegistry } from './describe-registry.js'

const FREE = { p_egress_class: 'none', p_requires_approval: false }

describeRegistry(
  'budgets of cost',
  (stage) => {
    const { claim, complete, fresh } = stage
    const ask = (registry: TeamRegistry, tool: string, estimate: number | string | null = null, more = '') =>
      registry.agent.value<string>(
        `select agents.fn_invoke_tool(null, $1, 'agent-1', '{"path":"a"}', null, $2${more})`,
        [tool, estimate],
      )
    const limit = (registry: TeamRegistry, cost: number | string, span = '1 day') =>
      registry.admin.value<string>(`select agents.fn_set_budget($1, 'agent', 'agent-1', $2::interval, null, $3)`, [
        registry.owner,
        span,
        cost,
      ])
    const run = async (registry: TeamRegistry, id: string, cost: number | null, status = 'completed') =>
      complete(registry, id, (await claim(registry, id))?.fence, status, cost)
    /** How many more calls of this estimate are let in. */
    const room = async (registry: TeamRegistry, tool: string, estimate: number): Promise<number> => {
      const asked: string[] = []
      for (;;) {
        try {
          asked.push(await ask(registry, tool, estimate))
        } catch (error) {
          expect(error).toMatchObject(REFUSED)
          break
        }
      }
      for (const id of asked) await registry.agent.query('select agents.fn_cancel_tool_invocation($1)', [id])
      return asked.length
    }

    test('concurrent calls do not exceed it, and as many as fit are accepted', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', FREE)
      await limit(registry, 5)
      await limit(registry, 100, '2 days')
      const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => ask(registry, tool, 1)))
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(5)
    })

    test('its use is shown to admins and to its agent, and to no other agent', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', FREE)
      await limit(registry, 5)
      await registry.admin.value(`select agents.fn_set_budget($1, 'agent', 'another', interval '1 day', 3)`, [
        registry.owner,
      ])
      await registry.admin.query(`select agents.fn_remove_member($1, 'agent-1', 'operator')`, [registry.owner])
      await ask(registry, tool, 1)
      const used = (asking: TeamRegistry['agent']) =>
        asking.query(
          'select subject, used_calls::int as calls, used_cost::int as cost from agents.fn_list_budgets($1)',
          [registry.owner],
        )
      expect(await used(registry.agent)).toEqual([
        { subject: 'agent-1', calls: 1, cost: 1 },
        { subject: 'another', calls: null, cost: null },
      ])
      expect(await used(registry.admin)).toEqual([
        { subject: 'agent-1', calls: 1, cost: 1 },
        { subject: 'another', calls: 0, cost: null },
      ])
    })

    test('is changed by setting it again, and can be removed', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', FREE)
      await limit(registry, 0)
      await expect(ask(registry, tool, 1)).rejects.toMatchObject(REFUSED)
      await limit(registry, 2, '24 hours')
      expect(await room(registry, tool, 1)).toBe(2)
      await registry.admin.query(`select agents.fn_remove_budget($1, 'agent', 'agent-1', interval '1 day')`, [
        registry.owner,
      ])
      await ask(registry, tool, 1000)
      await expect(
        registry.admin.query(`select agents.fn_remove_budget($1, 'agent', 'agent-1', interval '1 day')`, [
          registry.owner,
        ]),
      ).rejects.toMatchObject(MISSING)
      await expect(
        registry.anna.query(`select agents.fn_remove_budget($1, 'agent', 'agent-1', interval '1 day')`, [
          registry.owner,
        ]),
      ).rejects.toMatchObject(REFUSED)
    })

    test('many concurrent starts and ends are counted exactly, and nobody is left waiting', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', FREE)
      await limit(registry, 40)
      await limit(registry, 1000, '2 days')
      const fates = await Promise.all(
        Array.from({ length: 30 }, async (_, at) => {
          const id = await ask(registry, tool, 1)
          if (at % 3 === 0) await registry.agent.query('select agents.fn_cancel_tool_invocation($1)', [id])
          else if (at % 3 === 1) await run(registry, id, 0.5)
          return at % 3
        }),
      )
      expect(fates.length).toBe(30)
      // Ten open calls, and ten that cost a half: 15 of 40.
      expect(await room(registry, tool, 1)).toBe(25)
      expect(await room(registry, tool, 0.5)).toBe(50)
    })

    test(
      'gives back what was held for a call that was rejected, cancelled or has expired, and not for one that ' +
        'waits or runs',
      async () => {
        const registry = await fresh()
        const tool = await registry.register('send')
        await limit(registry, 4)
        const [rejected, cancelled, late, open] = [
          await ask(registry, tool, 1),
          await ask(registry, tool, 1),
          await ask(registry, tool, 1, `, p_valid => interval '1 millisecond'`),
          await ask(registry, tool, 1),
        ]
        await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [open])
        await expect(ask(registry, tool, 1)).rejects.toMatchObject(REFUSED)
        await registry.anna.query('select agents.fn_reject_tool_invocation($1, $2)', [rejected, 'no'])
        expect(await room(registry, tool, 1)).toBe(1)
        await registry.agent.query('select agents.fn_cancel_tool_invocation($1)', [cancelled])
        expect(await room(registry, tool, 1)).toBe(2)
        await expect
          .poll(async () => {
            await registry.admin.query('select agents.fn_expire_invocations()')
            return registry.statusOf(late)
          })
          .toBe('expired')
        expect(await room(registry, tool, 1)).toBe(3)
        await claim(registry, open)
        expect(await room(registry, tool, 1)).toBe(3)
      },
    )

    test(
      'a call that ran and may have happened counts, whether its second question is answered with no, taken back ' +
        'or too late; one that never ran does not',
      async () => {
        const registry = await fresh()
        const tool = await registry.register('send')
        await limit(registry, 5)
        const [rejected, cancelled, late, never] = [
          await ask(registry, tool, 1),
          await ask(registry, tool, 1),
          await ask(registry, tool, 1),
          await ask(registry, tool, 1),
        ]
        for (const id of [rejected, cancelled, late]) {
          await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])
          await claim(registry, id)
        }
        await stage.engine.query(
          `select agents.fn_recover_invocation(i) from agents.tool_invocations i where id = any ($1)`,
          [[rejected, cancelled, late]],
        )
        await registry.anna.query('select agents.fn_reject_tool_invocation($1, $2)', [rejected, 'no'])
        await registry.agent.query('select agents.fn_cancel_tool_invocation($1)', [cancelled])
        // As if the day were over.
        await stage.engine.transaction(async ({ query, execute }) => {
          await execute('alter table agents.tool_invocations disable trigger user')
          await query(`update agents.tool_invocations set expires_at = now() where id = $1`, [late])
          await query(`update agents.approvals set expires_at = now() where subject_id = $1`, [late])
          await execute('alter table agents.tool_invocations enable trigger user')
        })
        await registry.admin.query('select agents.fn_expire_invocations()')
        await registry.anna.query('select agents.fn_reject_tool_invocation($1, $2)', [never, 'no'])
        expect(await Promise.all([rejected, cancelled, late, never].map(registry.statusOf))).toEqual([
          'rejected',
          'cancelled',
          'expired',
          'rejected',
        ])
        expect(await room(registry, tool, 1)).toBe(2)
      },
    )

    test('counts the measured cost of an ended call, or the estimate if nothing was measured', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', FREE)
      await limit(registry, 10)
      await run(registry, await ask(registry, tool, 1), 4)
      expect(await room(registry, tool, 1)).toBe(6)
      await run(registry, await ask(registry, tool, 2), 0)
      expect(await room(registry, tool, 1)).toBe(6)
      await run(registry, await ask(registry, tool, 2), null, 'failed')
      expect(await room(registry, tool, 1)).toBe(4)
    })

    test("a call reserves at least its tool's expected cost, and a tool without one reserves nothing", async () => {
      const registry = await fresh()
      const tool = await registry.register('costly', { ...FREE, p_expected_cost: 2 })
      const unknown = await registry.register('unknown', FREE)
      await limit(registry, 5)
      await ask(registry, unknown)
      await ask(registry, tool)
      await ask(registry, tool, 0)
      await expect(ask(registry, tool, 0.1)).rejects.toMatchObject(REFUSED)
      const last = await ask(registry, unknown, 1)
      await expect(ask(registry, unknown)).rejects.toMatchObject(REFUSED)
      await registry.agent.query('select agents.fn_cancel_tool_invocation($1)', [last])
      await ask(registry, unknown)
    })

    test(
      'a budget that is set later counts nothing of the calls before it, neither when they are asked for nor ' +
        'when they end',
      async () => {
        const registry = await fresh()
        const tool = await registry.register('look', FREE)
        const before = await ask(registry, tool, 3)
        await limit(registry, 2)
        await ask(registry, tool, 1)
        await run(registry, before, 3)
        await ask(registry, tool, 1)
        await expect(ask(registry, tool, 1)).rejects.toMatchObject(REFUSED)
      },
    )

    test('invalid amounts are refused: NaN, Infinity, negative numbers', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', FREE)
      for (const wrong of ['NaN', 'Infinity', '-Infinity', '-1', '1e13', '1e-1000']) {
        await expect(ask(registry, tool, wrong), wrong).rejects.toMatchObject(BAD_STATE)
        await expect(limit(registry, wrong), wrong).rejects.toMatchObject(BAD_STATE)
        await expect(registry.register('odd', { ...FREE, p_expected_cost: wrong }), wrong).rejects.toMatchObject(
          BAD_STATE,
        )
      }
      for (const right of ['0', '0.0000001', '1e12', '5e-324'])
        expect(await ask(registry, tool, right), right).toBeDefined()
    })
  },
  'every time',
)
