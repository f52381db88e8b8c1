// Requests and decisions count once.
import { randomUUID } from 'node:crypto'

import { expect, test } from 'vitest'

import { BAD_STATE, describeRegistry } from './describe-registry.js'

describeRegistry(
  'requests and decisions',
  (stage) => {
    test('a repeated request returns the same call, and is refused for another tool, input, run or step', async () => {
      const registry = await stage.fresh()
      const free = { p_egress_class: 'none', p_requires_approval: false }
      const [look, find] = [await registry.register('look', free), await registry.register('find', free)]
      const run = await registry.agent.value<string>('select agents.fn_start_team_run($1, $2)', [
        registry.owner,
        'release',
      ])
      await registry.anna.query('select agents.fn_decide_team_run($1, $2)', [run, 'approve'])
      const request = randomUUID()
      const ask = (tool: string, input: string, of: string | null = null, step: string | null = null) =>
        registry.agent.value<string>('select agents.fn_invoke_tool_once($1, $2, $3, $4, $5, $6)', [
          request,
          of,
          tool,
          'agent-1',
          input,
          step,
        ])
      const id = await ask(look, '{"path":"a","count":1}')
      const others = [
        [find, '{"path":"a","count":1}'],
        [look, '{"path":"b","count":1}'],
        [look, '{}'],
        [look, '{"path":"a","count":1}', run],
        [look, '{"path":"a","count":1}', null, 'two'],
      ] as const
      for (const [tool, input, of, step] of others)
        await expect(ask(tool, input, of, step)).rejects.toMatchObject({
          ...BAD_STATE,
          message: expect.stringContaining('was for something else') as string,
        })
      // Keys have no order.
      expect(await ask(look, '{"count":1,"path":"a"}')).toBe(id)
    })

    test('concurrent equal requests get the same call, and different ones get none', async () => {
      const registry = await stage.fresh()
      const tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
      const request = randomUUID()
      const outcomes = await Promise.allSettled(
        Array.from({ length: 12 }, (_, at) =>
          registry.agent.value<string>('select agents.fn_invoke_tool_once($1, null, $2, $3, $4)', [
            request,
            tool,
            'agent-1',
            at % 2 === 0 ? '{"path":"a"}' : '{"path":"b"}',
          ]),
        ),
      )
      const given = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      expect(given.length).toBe(6)
      expect(new Set(given).size).toBe(1)
    })

    test('nobody can change who decided and why, and the next decision about the same call has its own', async () => {
      const registry = await stage.fresh()
      const id = await registry.invoke(await registry.register('send'))
      const change = (what: string) =>
        stage.engine.query(`update agents.tool_invocations set ${what} where id = $1`, [id])
      for (const early of [`approval_decided_by = 'otto'`, `approval_reason = 'x'`, `approval_status = 'approved'`])
        await expect(change(early), early).rejects.toMatchObject(BAD_STATE)
      await registry.anna.query('select agents.fn_approve_tool_invocation($1, $2)', [id, 'fine'])
      for (const later of [
        `approval_decided_by = 'otto'`,
        `approval_decided_by = null`,
        `approval_reason = 'another'`,
        `approval_status = 'rejected'`,
        `standing_approval_id = gen_random_uuid()`,
        `invoked_with = gen_random_uuid()`,
        `status = 'running', fence = fence + 1, approval_decided_by = 'otto'`,
      ])
        await expect(change(later), later).rejects.toMatchObject(BAD_STATE)
      expect(await stage.claim(registry, id)).toMatchObject({
        status: 'running',
        approval_decided_by: 'anna',
        approval_reason: 'fine',
      })
      // It is asked about again when its runner is lost.
      await change(`status = 'pending', approval_status = 'pending', runner = null`)
      await stage.engine.query(
        `select agents.fn_ask(owner, 'tool_invocation', id, input_hash, tool_version, 1, 'lost', expires_at, ` +
          'invoked_by) from agents.tool_invocations where id = $1',
        [id],
      )
      await registry.otto.query('select agents.fn_reject_tool_invocation($1, $2)', [id, 'enough'])
      expect(
        await stage.engine.query(
          'select status, approval_decided_by, approval_reason from agents.tool_invocations where id = $1',
          [id],
        ),
      ).toEqual([{ status: 'rejected', approval_decided_by: 'otto', approval_reason: 'enough' }])
    })
  },
  'every time',
)
