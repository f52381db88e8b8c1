// Who is asked, how often, for how long and for how much.
import { describe, expect, test } from 'vitest'

import { BAD_STATE, REFUSED, describeRegistry } from './describe-registry.js'
import { perform } from './perform.js'
import { actorOf } from './registry.js'
import type { Registry } from './registry.js'

describeRegistry('approvals and limits', (stage) => {
  const { claim, complete, fresh } = stage

  describe('approvals', () => {
    test('are for these arguments of this version of the tool', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      const id = await registry.invoke(tool)
      await expect(
        registry.anna.query('select agents.fn_approve_tool_invocation($1, null, $2)', [id, 'sha256:other']),
      ).rejects.toMatchObject(BAD_STATE)
      await registry.register('send', { p_description: 'sends to everybody' })
      await expect(registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])).rejects.toMatchObject(
        BAD_STATE,
      )
      const approved = await registry.invoke(tool)
      const [row] = await registry.anna.query<{ input_hash: string }>(
        'select input_hash from agents.tool_invocations where id = $1',
        [approved],
      )
      await registry.anna.query('select agents.fn_approve_tool_invocation($1, null, $2)', [approved, row?.input_hash])
      // Changed between approval and start: it does not start.
      await registry.register('send', { p_description: 'sends to nobody' })
      expect(await claim(registry, approved)).toBeUndefined()
    })

    test('expire', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      const id = await registry.agent.value<string>(
        `select agents.fn_invoke_tool(null, $1, $2, $3, p_valid => interval '20 milliseconds')`,
        [tool, 'agent-1', '{}'],
      )
      await new Promise((resolve) => setTimeout(resolve, 60))
      await expect(registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])).rejects.toMatchObject(
        BAD_STATE,
      )
      await registry.admin.query('select agents.fn_expire_invocations()')
      expect(await registry.statusOf(id)).toBe('expired')
    })

    test('in advance are for a schema of arguments, a number of uses and a time', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      const give = (arguments_: object, uses: number) =>
        registry.anna.value<string>(
          `select agents.fn_approve_in_advance($1, $2, $3, interval '1 hour', 'nightly report')`,
          [tool, JSON.stringify(arguments_), uses],
        )
      await expect(give({}, 1)).rejects.toMatchObject(BAD_STATE)
      await expect(give({ properties: { path: { const: 'a' } }, unknown: 1 }, 1)).rejects.toMatchObject(BAD_STATE)
      for (const open of [
        { title: 'x' },
        { properties: { path: { const: 'report' } } },
        { type: 'object', properties: { path: { const: 'report' } }, required: ['path'] },
      ])
        await expect(give(open, 1)).rejects.toMatchObject(BAD_STATE)
      await give(
        { type: 'object', properties: { path: { const: 'report' } }, required: ['path'], additionalProperties: false },
        2,
      )
      const states = []
      for (const path of ['report', 'other', 'report', 'report'])
        states.push(await registry.statusOf(await registry.invoke(tool, { path })))
      expect(states).toEqual(['approved', 'pending', 'approved', 'pending'])
    })

    test('in advance are listed while they are valid: not for another version, nor by a former operator', async () => {
      const registry = await fresh()
      const [send, post] = [await registry.register('send'), await registry.register('post')]
      const give = (who: Registry['anna'], tool: string) =>
        who.value<string>(
          'select agents.fn_approve_in_advance($1, ' +
            `'{"type":"object","properties":{"path":{"const":"a"}},"required":["path"],"additionalProperties":false}', ` +
            `1, interval '1 hour', 'nightly')`,
          [tool],
        )
      const [used, other, changed, kept] = [
        await give(registry.anna, send),
        await give(registry.otto, post),
        await give(registry.anna, send),
        await give(registry.anna, post),
      ]
      const listed = async (who = registry.admin) =>
        (await perform(who, 'listStandingApprovals', { team: registry.owner })).map(({ id }) => id)
      expect(await listed()).toEqual([used, other, changed, kept])
      expect(await listed(actorOf(stage.engine, 'cordon_admin', 'stranger'))).toEqual([])
      await registry.invoke(send)
      expect(await listed()).toEqual([other, changed, kept])
      await registry.register('send', { p_description: 'sends to everybody' })
      await registry.admin.query(`select agents.fn_remove_member($1, 'otto', 'operator')`, [registry.owner])
      expect(await listed()).toEqual([kept])
      expect([
        await registry.statusOf(await registry.invoke(send)),
        await registry.statusOf(await registry.invoke(post)),
      ]).toEqual(['pending', 'approved'])
    })

    test(
      'a profile asks about single tools, and says nothing that nobody looks at; a pause is said of the calls ' +
        'that wait for its end',
      async () => {
        const registry = await fresh()
        const free = { p_egress_class: 'none', p_requires_approval: false }
        const [look, count] = [await registry.register('look', free), await registry.register('count', free)]
        const set = (overrides: object) =>
          registry.admin.query(`select agents.fn_set_profile($1, 'std', p_overrides => $2, p_is_default => true)`, [
            registry.owner,
            JSON.stringify(overrides),
          ])
        for (const wrong of [{ look: true }, { look: { requires_approval: 'yes' } }, { look: { max_calls: 1 } }, []])
          await expect(set(wrong)).rejects.toMatchObject(BAD_STATE)
        await set({ look: { requires_approval: true } })
        await registry.anna.query(`select agents.fn_stop($1, 'pause', 'maintenance', 'tool', 'count')`, [
          registry.owner,
        ])
        const [asked, waits] = [await registry.invoke(look), await registry.invoke(count)]
        expect([await registry.statusOf(asked), await registry.statusOf(waits), await claim(registry, waits)]).toEqual([
          'pending',
          'approved',
          undefined,
        ])
        const evaluations = (id: string) =>
          stage.engine.query('select point, type, verdict from agents.policy_evaluations where invocation_id = $1', [
            id,
          ])
        expect(await evaluations(asked)).toEqual([{ point: 'pre_tool', type: 'approval', verdict: 'require_approval' }])
        expect(await evaluations(waits)).toEqual([{ point: 'pre_run', type: 'pause', verdict: 'pause' }])
      },
    )

    test('in advance cannot be given to oneself', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      await actorOf(stage.engine, 'cordon_operator', 'agent-1').query(
        `select agents.fn_approve_in_advance($1, $2, 5, interval '1 hour', 'mine')`,
        [tool, '{"type":"object","properties":{"path":true},"required":["path"],"additionalProperties":false}'],
      )
      expect(await registry.statusOf(await registry.invoke(tool))).toBe('pending')
    })

    test('can be skipped only by the service role, with a recorded reason', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      const bypass = (actor: Registry['agent'], reason: string | null) =>
        actor.value<string>(
          `select agents.fn_invoke_tool(null, $1, 'agent-1', '{}', p_bypass_approval => true, p_bypass_reason => $2)`,
          [tool, reason],
        )
      await expect(bypass(registry.agent, 'hurry')).rejects.toMatchObject(REFUSED)
      await expect(bypass(registry.service, null)).rejects.toMatchObject(BAD_STATE)
      const id = await bypass(registry.service, 'fire drill')
      expect(await registry.statusOf(id)).toBe('approved')
      const record = await stage.engine.query<{ line: string }>(
        `select line from agents.audit_events where subject = $1`,
        [`invocation:${id}`],
      )
      expect(record[0]?.line).toContain('fire drill')
    })
  })

  describe('limits', () => {
    test('a kill switch refuses calls, and a pause holds them back', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
      await registry.anna.query(`select agents.fn_stop($1, 'pause', 'maintenance')`, [registry.owner])
      const id = await registry.invoke(tool)
      expect(await claim(registry, id)).toBeUndefined()
      await registry.anna.query('select agents.fn_resume($1)', [registry.owner])
      expect(await claim(registry, id)).toMatchObject({ status: 'running' })
      await registry.anna.query(`select agents.fn_stop($1, 'kill', 'incident', 'agent', 'agent-1')`, [registry.owner])
      await expect(registry.invoke(tool)).rejects.toMatchObject(REFUSED)
    })

    test('a kill switch of a profile refuses approvals too', async () => {
      const registry = await fresh()
      await registry.admin.query(`select agents.fn_set_profile($1, 'night', p_is_default => true)`, [registry.owner])
      const id = await registry.invoke(await registry.register('send'))
      await registry.anna.query(`select agents.fn_stop($1, 'kill', 'incident', 'profile', 'night')`, [registry.owner])
      await expect(registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])).rejects.toMatchObject(
        REFUSED,
      )
      await registry.anna.query(`select agents.fn_resume($1, 'profile', 'night')`, [registry.owner])
      expect(await registry.anna.value('select agents.fn_approve_tool_invocation($1)', [id])).toBe('approved')
    })

    test('a budget of calls is not exceeded, also by concurrent calls', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
      await registry.admin.query(`select agents.fn_set_budget($1, 'agent', 'agent-1', interval '1 day', 5)`, [
        registry.owner,
      ])
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => registry.invoke(tool)))
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(5)
    })

    test('a budget of cost counts the cost of calls', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
      await registry.admin.query(`select agents.fn_set_budget($1, 'agent', 'agent-1', interval '1 day', null, 2)`, [
        registry.owner,
      ])
      for (let round = 0; round < 2; round += 1) {
        const id = await registry.invoke(tool)
        await complete(registry, id, (await claim(registry, id))?.fence, 'completed', 1)
      }
      await expect(registry.invoke(tool)).rejects.toMatchObject(REFUSED)
    })

    test('a runner claims calls that its host can enforce', async () => {
      const registry = await fresh()
      const id = await registry.invoke(
        await registry.register('look', {
          p_egress_class: 'none',
          p_requires_approval: false,
          p_needs_labels: ['gpu'],
          p_needs_boundary: ['namespaces'],
        }),
      )
      expect(await claim(registry, id)).toBeUndefined()
      await registry.runner.query('select agents.fn_heartbeat($1, $2, $3)', [
        `${registry.owner}-runner`,
        ['gpu', 'eu'],
        ['namespaces', 'landlock'],
      ])
      expect(await claim(registry, id)).toMatchObject({ status: 'running' })
    })
  })
})
