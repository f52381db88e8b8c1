// Rules that the database itself enforces, for every caller. They include defects of an earlier design of this
// registry: see "defects of an earlier design".
import { createHash } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { BAD_STATE, MISSING, REFUSED, describeRegistry } from './describe-registry.js'
import { actorOf } from './registry.js'
import type { Actor } from './registry.js'

describeRegistry('the registry', (stage) => {
  const { claim, complete, fresh } = stage
  const questionHash = async (id: string) =>
    (
      await stage.engine.query<{ hash: string }>(
        `select arguments_hash as hash from agents.approvals where subject_id = $1 and status = 'pending'`,
        [id],
      )
    )[0]?.hash

  describe('the life of a call', () => {
    test('a call of the class write waits for a person, is claimed, and completes', async () => {
      const registry = await fresh()
      const id = await registry.invoke(await registry.register('send', { p_egress_class: 'write' }))
      expect(await registry.statusOf(id)).toBe('pending')
      expect(await claim(registry, id)).toBeUndefined()
      expect(await registry.anna.value('select agents.fn_approve_tool_invocation($1)', [id])).toBe('approved')
      const claimed = await claim(registry, id)
      expect(claimed).toMatchObject({ status: 'running' })
      await complete(registry, id, claimed?.fence)
      expect(await registry.statusOf(id)).toBe('completed')
    })

    test('a call of the class read_only runs at once', async () => {
      const registry = await fresh()
      const id = await registry.invoke(
        await registry.register('look', { p_egress_class: 'read_only', p_requires_approval: false }),
      )
      expect(await registry.statusOf(id)).toBe('approved')
      expect(await claim(registry, id)).toMatchObject({ status: 'running' })
    })

    test('a rejected call does not run', async () => {
      const registry = await fresh()
      const id = await registry.invoke(await registry.register('send'))
      await registry.anna.query('select agents.fn_reject_tool_invocation($1, $2)', [id, 'no'])
      expect(await claim(registry, id)).toBeUndefined()
      await expect(registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])).rejects.toMatchObject(
        BAD_STATE,
      )
    })

    test('a waiting client hears of every step', async () => {
      const registry = await fresh()
      const heard: string[] = []
      const stop = await stage.engine.listen(['tool_invocation'], (text) => heard.push(text))
      const id = await registry.invoke(await registry.register('send'))
      await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])
      const mark = createHash('sha256').update(id).digest('hex').slice(0, 32)
      await expect.poll(() => heard).toEqual([mark, mark])
      expect(heard.join(), 'every login may listen: the id is not told').not.toContain(id)
      await stop()
    })

    test('two approvals must come from two people', async () => {
      const registry = await fresh()
      const id = await registry.invoke(await registry.register('launch', { p_approvals_needed: 2 }))
      expect(await registry.anna.value('select agents.fn_approve_tool_invocation($1)', [id])).toBe('pending')
      await expect(registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])).rejects.toMatchObject(
        BAD_STATE,
      )
      expect(await registry.otto.value('select agents.fn_approve_tool_invocation($1)', [id])).toBe('approved')
    })

    test('a run of a team is approved in the same place', async () => {
      const registry = await fresh()
      const run = await registry.agent.value<string>('select agents.fn_start_team_run($1, $2, $3)', [
        registry.owner,
        'release',
        '{"steps":[]}',
      ])
      const look = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
      const inRun = () =>
        registry.agent.value<string>('select agents.fn_invoke_tool($1, $2, $3, $4)', [run, look, 'agent-1', '{}'])
      await expect(inRun()).rejects.toMatchObject(BAD_STATE)
      expect((await registry.anna.query('select from agents.approvals where subject_id = $1', [run])).length).toBe(1)
      await registry.anna.query('select agents.fn_decide_team_run($1, $2)', [run, 'approve'])
      expect(await registry.statusOf(await inRun())).toBe('approved')
    })
  })

  describe('defects of an earlier design', () => {
    test('tables can be written only through the functions', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      const id = await registry.invoke(tool)
      for (const role of [
        'cordon_agent',
        'cordon_operator',
        'cordon_runner',
        'cordon_admin',
        'service_role',
      ] as const) {
        const actor = actorOf(stage.engine, role, 'agent-1')
        for (const sql of [
          `update agents.tool_invocations set status = 'approved', approval_status = 'approved' where id = '${id}'`,
          `update agents.tool_invocations set input = '{}' where id = '${id}'`,
          `delete from agents.tool_invocations where id = '${id}'`,
          `insert into agents.approval_votes (approval_id, voter, verdict) select id, 'anna', 'approve' from ` +
            `agents.approvals where subject_id = '${id}'`,
          `update agents.tools_registry set requires_approval = false where id = '${tool}'`,
          `insert into agents.members (owner, actor, kind) values ('${registry.owner}', 'agent-1', 'admin')`,
          `update agents.audit_events set line = '{}'`,
          `update agents.audit_chains set hash = ''`,
          `select agents.fn_audit('x', 'x', 'x', '{}')`,
          `select agents.fn_vote('tool_invocation', '${id}', 'approve', null, null, '{}')`,
          `select agents.fn_decide('${id}', 'approve', null, null)`,
          `update agents.tool_invocations_other set status = 'approved'`,
        ])
          await expect(actor.query(sql), `${role}: ${sql}`).rejects.toMatchObject(REFUSED)
      }
      expect(await registry.statusOf(id)).toBe('pending')
    })

    test('the owner of the tables cannot skip a state either', async () => {
      const registry = await fresh()
      const id = await registry.invoke(await registry.register('send'))
      await expect(
        stage.engine.query(`update agents.tool_invocations set status = 'completed' where id = $1`, [id]),
      ).rejects.toMatchObject(BAD_STATE)
      await expect(
        stage.engine.query(`update agents.tool_invocations set input = '{}' where id = $1`, [id]),
      ).rejects.toMatchObject(BAD_STATE)
      await expect(stage.engine.query(`delete from agents.tool_invocations where id = $1`, [id])).rejects.toMatchObject(
        REFUSED,
      )
      await expect(
        stage.engine.query(`delete from agents.audit_events where subject = $1`, [`invocation:${id}`]),
      ).rejects.toMatchObject(REFUSED)
    })

    test('a tool of the class write needs approval, whatever its settings', async () => {
      const registry = await fresh()
      const tool = await registry.register('send', { p_egress_class: 'write', p_requires_approval: false })
      await stage.engine.query('update agents.tools_registry set requires_approval = false where id = $1', [tool])
      expect(
        await stage.engine.query('select requires_approval from agents.tools_registry where id = $1', [tool]),
      ).toEqual([{ requires_approval: true }])
    })

    test('an unknown class counts as the strictest', async () => {
      const registry = await fresh()
      for (const [key, more] of [
        ['a', {}],
        ['b', { p_egress_class: 'harmless' }],
        ['c', { p_egress_class: null, p_requires_approval: false }],
      ] as const) {
        const tool = await registry.register(key, more)
        expect(
          await stage.engine.query('select egress_class, requires_approval from agents.tools_registry where id = $1', [
            tool,
          ]),
        ).toEqual([{ egress_class: 'write', requires_approval: true }])
      }
    })

    test('a read_only tool cannot have the method DELETE', async () => {
      const registry = await fresh()
      await expect(
        registry.register('purge', { p_egress_class: 'read_only', p_http_method: 'DELETE' }),
      ).rejects.toMatchObject(BAD_STATE)
      await registry.register('fetch', { p_egress_class: 'read_only', p_http_method: 'get' })
    })

    test('a tool without assignment, or outside the profile, cannot be called', async () => {
      const registry = await fresh()
      const tool = await registry.register('send', { p_category: 'mail' })
      const other = actorOf(stage.engine, 'cordon_agent', 'agent-2')
      await expect(
        other.query('select agents.fn_invoke_tool(null, $1, $2, $3)', [tool, 'agent-2', '{}']),
      ).rejects.toMatchObject(REFUSED)
      const withProfile = async (profile: string, lists: string): Promise<string> => {
        await registry.admin.query(`select agents.fn_set_profile($1, $2, ${lists})`, [registry.owner, profile])
        await registry.admin.query('select agents.fn_assign_tool($1, $2, $3)', ['agent-1', tool, profile])
        return registry.invoke(tool)
      }
      await expect(withProfile('none', `p_allow_tools => '{}'`)).rejects.toMatchObject(REFUSED)
      await expect(withProfile('others', `p_allow_tools => '{look}'`)).rejects.toMatchObject(REFUSED)
      await expect(withProfile('denied', `p_allow_tools => '{send}', p_deny_tools => '{send}'`)).rejects.toMatchObject(
        REFUSED,
      )
      await expect(
        withProfile('groups', `p_allow_tools => '{send}', p_tool_groups => '{files}'`),
      ).rejects.toMatchObject(REFUSED)
      expect(await withProfile('fits', `p_allow_tools => '{send}', p_tool_groups => '{mail}'`)).toMatch(
        /^[0-9a-f-]{36}$/,
      )
      await registry.admin.query('select agents.fn_revoke_tool($1, $2)', ['agent-1', tool])
      await expect(registry.invoke(tool)).rejects.toMatchObject(REFUSED)
    })

    test('input that does not fit the schema is refused', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      for (const input of [{ path: 1 }, { path: '' }, { more: true }, { count: 1.5 }, { count: -1 }])
        await expect(registry.invoke(tool, input)).rejects.toMatchObject(BAD_STATE)
      await registry.invoke(tool, { path: 'a', count: 0 })
      await expect(
        registry.register('odd', { p_schema_input: '{"type":"object","patternProperties":{}}' }),
      ).rejects.toMatchObject(BAD_STATE)
    })

    test('the caller cannot approve, also with the rights of an operator', async () => {
      const registry = await fresh()
      const id = await registry.invoke(await registry.register('send'))
      await expect(
        actorOf(stage.engine, 'cordon_operator', 'agent-1').query('select agents.fn_approve_tool_invocation($1)', [id]),
      ).rejects.toMatchObject(REFUSED)
      await expect(registry.agent.query('select agents.fn_approve_tool_invocation($1)', [id])).rejects.toMatchObject(
        REFUSED,
      )
      expect(await registry.anna.value('select agents.fn_approve_tool_invocation($1)', [id])).toBe('approved')
    })

    test('nobody can call in the name of another', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      await expect(
        actorOf(stage.engine, 'cordon_agent', 'agent-2').query('select agents.fn_invoke_tool(null, $1, $2, $3)', [
          tool,
          'agent-1',
          '{}',
        ]),
      ).rejects.toMatchObject(REFUSED)
    })

    test('a call is completed once, by the runner that claimed it, with the fence of the claim', async () => {
      const registry = await fresh()
      const id = await registry.invoke(
        await registry.register('look', { p_egress_class: 'none', p_requires_approval: false }),
      )
      await expect(complete(registry, id, 1)).rejects.toMatchObject(REFUSED)
      const claimed = await claim(registry, id)
      expect(await claim(registry, id)).toBeUndefined()
      await expect(complete(registry, id, 7)).rejects.toMatchObject(BAD_STATE)
      await expect(complete(registry, id, claimed?.fence, 'approved')).rejects.toMatchObject(BAD_STATE)
      await expect(
        actorOf(stage.engine, 'cordon_runner', 'somebody').query(
          'select agents.fn_complete_tool_invocation($1, $2, null, null, null, 1)',
          [id, 'completed'],
        ),
      ).rejects.toMatchObject(MISSING)
      await complete(registry, id, claimed?.fence)
      await expect(complete(registry, id, claimed?.fence)).rejects.toMatchObject(BAD_STATE)
    })

    test('a call of a lost runner runs again if it reads, and needs a new approval if it writes', async () => {
      const registry = await fresh()
      const reads = await registry.invoke(
        await registry.register('look', { p_egress_class: 'read_only', p_requires_approval: false }),
      )
      const writes = await registry.invoke(await registry.register('send'))
      await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [writes])
      const old = { reads: await claim(registry, reads), writes: await claim(registry, writes) }
      await stage.engine.query(
        `update agents.runners set last_seen = now() - interval '1 hour', lease = interval '1 second' where name = $1`,
        [`${registry.owner}-runner`],
      )
      // A server that has just begun gives everybody time to be heard.
      await expect
        .poll(async () => {
          await registry.runner.query(`select agents.fn_recover_lost_invocations()`)
          return [await registry.statusOf(reads), await registry.statusOf(writes)]
        })
        .toEqual(['approved', 'pending'])
      // The one that was lost comes back, and says that it is done.
      await expect(complete(registry, writes, old.writes?.fence)).rejects.toMatchObject(REFUSED)
      const again = await claim(registry, reads)
      await expect(complete(registry, reads, old.reads?.fence)).rejects.toMatchObject(BAD_STATE)
      await complete(registry, reads, again?.fence)
      expect(await claim(registry, writes)).toBeUndefined()
      expect(
        await registry.anna.value('select agents.fn_approve_tool_invocation($1, null, $2)', [
          writes,
          await questionHash(writes),
        ]),
      ).toBe('approved')
    })

    test(
      'a yes to the first question, said again, is no yes to the one whether it happened already; that one ' +
        'leaves time to run',
      async () => {
        const registry = await fresh()
        const call = await registry.agent.value<string>(
          `select agents.fn_invoke_tool(null, $1, 'agent-1', '{}', p_valid => interval '1 second')`,
          [await registry.register('send')],
        )
        const first = await questionHash(call)
        await registry.anna.query('select agents.fn_approve_tool_invocation($1, null, $2)', [call, first])
        await claim(registry, call)
        await stage.engine.query(
          `update agents.runners set last_seen = now() - interval '1 hour', lease = interval '1 second' where name = $1`,
          [`${registry.owner}-runner`],
        )
        await expect
          .poll(async () => {
            await registry.runner.query('select agents.fn_recover_lost_invocations()')
            return registry.statusOf(call)
          })
          .toBe('pending')
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        await expect(
          registry.anna.query('select agents.fn_approve_tool_invocation($1, null, $2)', [call, first]),
        ).rejects.toMatchObject(BAD_STATE)
        await expect(registry.anna.query('select agents.fn_approve_tool_invocation($1)', [call])).rejects.toMatchObject(
          BAD_STATE,
        )
        await registry.anna.query('select agents.fn_approve_tool_invocation($1, null, $2)', [
          call,
          await questionHash(call),
        ])
        await registry.runner.query('select agents.fn_expire_invocations()')
        await registry.runner.query('select agents.fn_heartbeat($1)', [`${registry.owner}-runner`])
        expect(await claim(registry, call)).toMatchObject({ status: 'running' })
      },
    )

    test('only upkeep declares a runner lost, and a new approval needs as many people as before', async () => {
      const registry = await fresh()
      const call = await registry.invoke(await registry.register('pay', { p_approvals_needed: 2 }))
      await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [call])
      await registry.otto.query('select agents.fn_approve_tool_invocation($1)', [call])
      await claim(registry, call)
      await stage.engine.query(
        `update agents.runners set last_seen = clock_timestamp() - interval '30 seconds' where name = $1`,
        [`${registry.owner}-runner`],
      )
      await actorOf(stage.engine, 'cordon_runner', 'stranger').query('select agents.fn_recover_lost_invocations()')
      expect(await registry.statusOf(call)).toBe('running')
      await stage.engine.query(`update agents.runners set lease = interval '1 second' where name = $1`, [
        `${registry.owner}-runner`,
      ])
      await expect
        .poll(async () => {
          await actorOf(stage.engine, 'cordon_runner', 'stranger').query('select agents.fn_recover_lost_invocations()')
          return registry.statusOf(call)
        })
        .toBe('pending')
      const hash = await questionHash(call)
      expect(await registry.anna.value('select agents.fn_approve_tool_invocation($1, null, $2)', [call, hash])).toBe(
        'pending',
      )
      expect(await registry.otto.value('select agents.fn_approve_tool_invocation($1, null, $2)', [call, hash])).toBe(
        'approved',
      )
    })

    test(
      'two runners that go by one name are two: neither takes the name of the other, keeps its lease, or ends ' +
        'its calls',
      async () => {
        const registry = await fresh()
        const name = `${registry.owner}-runner`
        const other = actorOf(stage.engine, 'cordon_runner', 'host-2')
        await registry.admin.query(`select agents.fn_add_member($1, 'host-2', 'runner')`, [registry.owner])
        await expect(other.query('select agents.fn_claim_tool_invocations($1)', [name])).rejects.toMatchObject(MISSING)
        await other.query('select agents.fn_heartbeat($1)', [name])
        const tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
        const [first, second] = [await registry.invoke(tool), await registry.invoke(tool)]
        const mine = await claim(registry, first)
        const [theirs] = await other.query<{ fence: string }>(
          'select * from agents.fn_claim_tool_invocations($1, 1, $2)',
          [name, second],
        )
        const by = (who: Actor, id: string, fence: unknown) =>
          who.query(`select agents.fn_complete_tool_invocation($1, 'completed', null, null, null, $2)`, [id, fence])
        await expect(by(other, first, mine?.fence)).rejects.toMatchObject(REFUSED)
        await expect(
          other.query(`select agents.fn_append_output($1, $2, 'stdout', 'x')`, [first, mine?.fence]),
        ).rejects.toMatchObject(BAD_STATE)
        await by(other, second, theirs?.fence)
        await stage.engine.query(
          `update agents.runners set last_seen = now() - interval '1 hour', lease = interval '1 second' where ` +
            `name = $1 and actor = 'host-1'`,
          [name],
        )
        await other.query('select agents.fn_heartbeat($1)', [name])
        await expect
          .poll(async () => {
            await registry.runner.query(`select agents.fn_recover_lost_invocations()`)
            return [await registry.statusOf(first), await registry.statusOf(second)]
          })
          .toEqual(['approved', 'completed'])
      },
    )

    test('revoking an assignment, an agent or an operator ends their pending calls', async () => {
      const registry = await fresh()
      const tool = await registry.register('send', { p_approvals_needed: 2 })
      const [first, second, third] = [
        await registry.invoke(tool),
        await registry.invoke(tool),
        await registry.invoke(tool),
      ]
      for (const one of [registry.anna, registry.otto])
        await one.query('select agents.fn_approve_tool_invocation($1)', [first])
      await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [third])
      await registry.admin.query('select agents.fn_remove_member($1, $2, $3)', [registry.owner, 'anna', 'operator'])
      expect(await registry.otto.value('select agents.fn_approve_tool_invocation($1)', [third])).toBe('pending')
      await registry.admin.query('select agents.fn_revoke_tool($1, $2)', ['agent-1', tool])
      expect(await claim(registry, first)).toBeUndefined()
      await expect(registry.otto.query('select agents.fn_approve_tool_invocation($1)', [second])).rejects.toMatchObject(
        REFUSED,
      )
      expect(await registry.statusOf(first)).toBe('rejected')
      await registry.admin.query('select agents.fn_assign_tool($1, $2)', ['agent-1', tool])
      expect(await registry.otto.value('select agents.fn_approve_tool_invocation($1)', [second])).toBe('pending')
    })

    test('numbers mean the same for every program, and patterns terminate', async () => {
      const registry = await fresh()
      const tool = await registry.register('count', {
        p_egress_class: 'none',
        p_requires_approval: false,
        p_schema_input: JSON.stringify({
          type: 'object',
          properties: { n: { type: 'number' }, s: { type: 'string', pattern: '^a+$' } },
        }),
      })
      const ask = (input: string) =>
        registry.agent.value('select agents.fn_invoke_tool(null, $1, $2, $3)', [tool, 'agent-1', input])
      for (const number of ['9007199254740993', '1e131071', '-1e400', '1e-16000', '0.12345678901234567890123'])
        await expect(ask(`{"n": ${number}}`), number).rejects.toMatchObject(BAD_STATE)
      for (const number of ['9007199254740991', '0.1', '-1.5e-7', '123456.789', '0'])
        expect(await ask(`{"n": ${number}}`), number).toBeDefined()
      expect(await ask('{"s": "aaa"}')).toBeDefined()
      await expect(ask(`{"s": "${'a'.repeat(200_000)}"}`)).rejects.toMatchObject(BAD_STATE)
      for (const schema of [
        { pattern: '^(a*)\\1$' },
        { type: null },
        { maxLength: null },
        { properties: ['n'] },
        { type: 'text' },
        { format: 'uri' },
        { multipleOf: 0 },
        { not: { pattern: '\\bsudo\\b' } },
        { pattern: '(?i)a' },
        { pattern: '[[:alpha:]]' },
        { pattern: '[]a]' },
      ])
        await expect(
          registry.register('bad', { p_schema_input: JSON.stringify(schema) }),
          JSON.stringify(schema),
        ).rejects.toMatchObject(BAD_STATE)
    })

    test('a cost far from its estimate is flagged', async () => {
      const registry = await fresh()
      const tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
      const deviates = async (estimate: number, cost: number): Promise<unknown> => {
        const id = await registry.agent.value<string>('select agents.fn_invoke_tool(null, $1, $2, $3, null, $4)', [
          tool,
          'agent-1',
          '{}',
          estimate,
        ])
        await complete(registry, id, (await claim(registry, id))?.fence, 'completed', cost)
        return (
          await stage.engine.query<{ cost_deviates: unknown }>(
            'select cost_deviates from agents.tool_invocations where id = $1',
            [id],
          )
        )[0]?.cost_deviates
      }
      expect([await deviates(1, 1.2), await deviates(1, 5)]).toEqual([false, true])
    })
  })

  describe('visibility of rows', () => {
    test('a team sees nothing of another', async () => {
      const registry = await fresh()
      const other = await fresh()
      const id = await registry.invoke(await registry.register('send'))
      await registry.admin.query('select agents.fn_add_member($1, $2, $3)', [registry.owner, 'olga', 'operator'])
      const olga = actorOf(stage.engine, 'cordon_operator', 'olga')
      expect((await olga.query('select from agents.tool_invocations where id = $1', [id])).length).toBe(1)
      expect((await olga.query('select from agents.tools_registry where owner = $1', [other.owner])).length).toBe(0)
      const stranger = actorOf(stage.engine, 'cordon_operator', 'stranger')
      expect((await stranger.query('select from agents.tool_invocations')).length).toBe(0)
      await expect(stranger.query('select agents.fn_approve_tool_invocation($1)', [id])).rejects.toMatchObject(MISSING)
    })

    test('an agent sees its own calls', async () => {
      const registry = await fresh()
      const id = await registry.invoke(await registry.register('send'))
      expect((await registry.agent.query('select from agents.tool_invocations where id = $1', [id])).length).toBe(1)
      expect(
        (
          await actorOf(stage.engine, 'cordon_agent', 'agent-2').query(
            'select from agents.tool_invocations where id = $1',
            [id],
          )
        ).length,
      ).toBe(0)
    })

    test('an agent sees requests, votes and decisions about its own calls', async () => {
      const registry = await fresh()
      const tool = await registry.register('send')
      const id = await registry.invoke(tool)
      await registry.anna.query(`select agents.fn_approve_tool_invocation($1, 'because of the merger')`, [id])
      const seen = async (name: string) => {
        const agent = actorOf(stage.engine, 'cordon_agent', name)
        const count = async (from: string) => (await agent.query(`select from ${from}`, [id])).length
        return [
          await count('agents.approvals where subject_id = $1'),
          await count(
            'agents.approval_votes v where exists (select from agents.approvals a where a.id = v.approval_id ' +
              'and a.subject_id = $1)',
          ),
          await count('agents.policy_evaluations where invocation_id = $1'),
        ]
      }
      expect(await seen('agent-1')).toEqual([1, 1, 1])
      expect(await seen('agent-2')).toEqual([0, 0, 0])
    })

    test('an unknown id is not found', async () => {
      const registry = await fresh()
      await expect(registry.invoke('00000000-0000-0000-0000-000000000000')).rejects.toMatchObject(MISSING)
      await expect(
        registry.anna.query('select agents.fn_approve_tool_invocation($1)', ['00000000-0000-0000-0000-000000000000']),
      ).rejects.toMatchObject(MISSING)
    })
  })

  describe('the audit log', () => {
    const problems = () => stage.engine.query<{ problem: string }>('select * from agents.fn_verify_audit()')
    /** Someone with all rights over the database, who takes the guard away. */
    const tamper = async (sql: string, undo: string): Promise<readonly string[]> => {
      await stage.engine.execute(`alter table agents.audit_events disable trigger all; ${sql}`)
      try {
        return (await problems()).map(({ problem }) => problem)
      } finally {
        await stage.engine.execute(`${undo}; alter table agents.audit_events enable trigger all`)
      }
    }

    test('is intact after everything above, across partitions', async () => {
      expect(await problems()).toEqual([])
    })

    test('shows changed, removed and cut-off entries', async () => {
      const registry = await fresh()
      const id = await registry.invoke(await registry.register('send'))
      await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [id])
      const mine = `subject = 'invocation:${id}'`
      await stage.engine.execute(`create table kept as select * from agents.audit_events where ${mine}`)
      const undo = `delete from agents.audit_events where ${mine}; insert into agents.audit_events select * from kept`
      expect(
        await tamper(
          `update agents.audit_events set line = replace(line, 'anna', 'otto') where ${mine} and type = ` +
            `'invocation.approved'`,
          undo,
        ),
      ).toContain('its content does not fit its hash')
      expect(
        await tamper(
          `update agents.audit_events set actor = 'otto' where ${mine} and type = 'invocation.approved'`,
          undo,
        ),
      ).toEqual(['its columns are not what its line says'])
      expect(
        await tamper(`delete from agents.audit_events where ${mine} and type = 'invocation.approved'`, undo),
      ).toEqual(['the last entries are missing'])
      expect(await problems()).toEqual([])
      await stage.engine.execute('drop table kept')
    })
  })
})
