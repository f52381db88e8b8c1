// The cost of a call does not depend on the number of partitions: every statement about one call reads one. Planning
// and running lock each partition that they read until the transaction ends, so the locks show it.
import { expect, test } from 'vitest'

import { invokeTool, claimInvocations, completeInvocation, requireInvocation } from '../../src/store/index.js'
import type { Session } from '../../src/store/index.js'

import { describeRegistry } from './describe-registry.js'
import { perform } from './perform.js'

const DAYS = 30

describeRegistry('partitions', (stage) => {
  test('each step of a call reads at most one partition of calls and one of the log, and upkeep reads all', async () => {
    const registry = await stage.fresh()
    const tool = await registry.register('send')
    await stage.engine.execute(`do $$ declare day timestamp; parent text; begin
      foreach parent in array array['tool_invocations', 'audit_events'] loop
        for number in 1..${String(DAYS)} loop
          day := timestamp '2020-01-01' + number * interval '1 day';
          execute format('create table agents.%I partition of agents.%I for values from (%L) to (%L)', parent || to_char(day, '_YYYY_MM_DD'), parent, day || 'Z', day + interval '1 day' || 'Z');
        end loop;
      end loop; end $$`)
    const looks: Record<string, number> = {}
    const step = <Result>(
      name: string,
      role: string,
      actor: string,
      work: (asking: Pick<Session, 'query'>) => Promise<Result>,
    ): Promise<Result> =>
      stage.engine.transaction(async (inside) => {
        await inside.query(`select set_config('cordon.actor', $1, true)`, [actor])
        await inside.execute(`set local role ${role}`)
        const result = await work(inside)
        const [row] = await inside.query<{ locked: number }>(
          `select coalesce(max(count), 0)::int as locked from (select count(distinct i.inhrelid) as count from pg_locks l join pg_inherits i on i.inhrelid = l.relation
            where l.pid = pg_backend_pid() and i.inhparent in ('agents.tool_invocations'::regclass, 'agents.audit_events'::regclass) group by i.inhparent) each`,
        )
        looks[name] = Math.max(looks[name] ?? 0, row?.locked ?? 0)
        return result
      })
    // More often than PostgreSQL plans a statement before it keeps a plan.
    for (let round = 0; round < 7; round += 1) {
      const id = await step('ask', 'cordon_agent', 'agent-1', (asking) =>
        invokeTool(asking, { toolId: tool, agent: 'agent-1', input: { path: 'a' } }),
      )
      await step('list', 'cordon_operator', 'anna', (asking) =>
        perform(asking, 'listQuestions', { team: registry.owner }),
      )
      const shown = await step('show', 'cordon_operator', 'anna', (asking) => perform(asking, 'showQuestion', { id }))
      await step('approve', 'cordon_operator', 'anna', (asking) =>
        asking.query('select agents.fn_approve_tool_invocation($1, null, $2)', [id, shown.question.argumentsHash]),
      )
      const [claimed] = await step('claim', 'cordon_runner', 'host-1', (asking) =>
        claimInvocations(asking, `${registry.owner}-runner`, { id }),
      )
      const fence = claimed?.fence ?? ''
      await step('say', 'cordon_runner', 'host-1', (asking) =>
        asking.query('select agents.fn_append_output($1, $2, $3, $4)', [id, fence, 'stdout', 'hello']),
      )
      await step('hear', 'cordon_agent', 'agent-1', (asking) =>
        asking.query('select from agents.invocation_output where invocation_id = $1', [id]),
      )
      await step('complete', 'cordon_runner', 'host-1', (asking) =>
        completeInvocation(asking, { id, fence }, { status: 'completed', output: { ok: true } }),
      )
      expect((await step('find', 'cordon_agent', 'agent-1', (asking) => requireInvocation(asking, id))).status).toBe(
        'completed',
      )
      const taken = await step('ask again', 'cordon_agent', 'agent-1', (asking) =>
        invokeTool(asking, { toolId: tool, agent: 'agent-1', input: { path: 'b' } }),
      )
      await step('cancel', 'cordon_agent', 'agent-1', (asking) =>
        asking.query('select agents.fn_cancel_tool_invocation($1)', [taken]),
      )
      await step('evaluations', 'cordon_agent', 'agent-1', (asking) =>
        asking.query('select from agents.policy_evaluations where invocation_id = $1', [id]),
      )
    }
    expect(Object.entries(looks).filter(([, count]) => count > 1)).toEqual([])
    await step('upkeep', 'cordon_runner', 'host-1', (asking) => asking.query('select agents.fn_expire_invocations()'))
    expect(looks['upkeep']).toBeGreaterThan(DAYS)
  })
})
