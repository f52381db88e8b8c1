// Pending approvals: agents take turns and have a limit, and calls that can no longer run do not wait.
import { describe, expect, test } from 'vitest'

import { maintainRegistry, registerTool } from '../../src/store/index.js'

import { BAD_STATE, MISSING, REFUSED, describeRegistry } from './describe-registry.js'
import type { TeamRegistry } from './describe-registry.js'
import { perform } from './perform.js'
import { actorOf } from './registry.js'

const TOO_MANY = { code: 'questions-too-many' }

describeRegistry(
  'pending approvals',
  (stage) => {
    const { fresh, claim } = stage
    const askAs = (agent: string, tool: string, input: object = { path: 'a' }) =>
      actorOf(stage.engine, 'cordon_agent', agent).value<string>('select agents.fn_invoke_tool(null, $1, $2, $3)', [
        tool,
        agent,
        JSON.stringify(input),
      ])
    const stateOf = async (id: string) =>
      (
        await stage.engine.query<{ status: string; error: string | null }>(
          'select status, error from agents.tool_invocations where id = $1',
          [id],
        )
      )[0]

    describe('fairness', () => {
      test('an agent with many approvals cannot hide those of another, and pages list each once', async () => {
        const registry = await fresh()
        const tool = await registry.register('send')
        await registry.admin.query('select agents.fn_assign_tool($1, $2)', ['agent-2', tool])
        for (let count = 0; count < 12; count += 1) await registry.invoke(tool)
        const late = [await askAs('agent-2', tool), await askAs('agent-2', tool)]
        const first = await perform(registry.anna, 'listQuestions', { team: registry.owner, most: 4 })
        expect(first.map(({ agent }) => agent)).toEqual(['agent-1', 'agent-2', 'agent-1', 'agent-2'])
        expect(first.map(({ waiting }) => waiting)).toEqual([12, 2, 12, 2])
        expect(first.filter(({ agent }) => agent === 'agent-2').map(({ subjectId }) => subjectId)).toEqual(late)
        // Decided meanwhile: the pages that follow neither repeat nor leave out one.
        await perform(registry.anna, 'approve', { id: first[0]?.id ?? '', shownHash: first[0]?.argumentsHash ?? '' })
        const seen = [...first]
        for (let page: typeof first = first; page.length > 0;) {
          page = await perform(registry.anna, 'listQuestions', {
            team: registry.owner,
            most: 4,
            after: page.at(-1)?.id ?? '',
          })
          seen.push(...page)
        }
        expect(new Set(seen.map(({ id }) => id)).size).toBe(14)
        expect(seen.length).toBe(14)
        await expect(
          perform(registry.anna, 'listQuestions', {
            team: registry.owner,
            after: '01a1e3a0-3ed6-739f-a76e-17c4846ea624',
          }),
        ).rejects.toMatchObject(MISSING)
      })

      test('a list can be filtered by agent, tool or age', async () => {
        const registry = await fresh()
        const [send, mail] = [await registry.register('send'), await registry.register('mail')]
        await registry.admin.query('select agents.fn_assign_tool($1, $2)', ['agent-2', mail])
        const [old, other] = [await registry.invoke(send), await askAs('agent-2', mail)]
        await stage.engine.query(
          `update agents.approvals set created_at = now() - interval '2 hours' where subject_id = $1`,
          [old],
        )
        const ids = async (filter: object) =>
          (await perform(registry.anna, 'listQuestions', { team: registry.owner, ...filter })).map(
            ({ subjectId }) => subjectId,
          )
        expect(await ids({ agent: 'agent-2' })).toEqual([other])
        expect(await ids({ tool: 'send' })).toEqual([old])
        expect(await ids({ olderSeconds: 3_600 })).toEqual([old])
        expect(await ids({})).toEqual([old, other])
      })

      test('an agent cannot exceed its limit, not even with concurrent calls, and another agent can still ask', async () => {
        const registry = await fresh()
        const tool = await registry.register('send')
        await registry.admin.query('select agents.fn_assign_tool($1, $2)', ['agent-2', tool])
        await perform(registry.admin, 'limitWaiting', { team: registry.owner, waiting: 5 })
        await perform(registry.admin, 'limitWaiting', { team: registry.owner, agent: 'agent-1', waiting: 3 })
        expect(await perform(registry.agent, 'listLimits', { team: registry.owner })).toEqual([
          { agent: null, waiting: 5 },
          { agent: 'agent-1', waiting: 3 },
        ])
        const asked = await Promise.allSettled(Array.from({ length: 8 }, () => registry.invoke(tool)))
        expect(asked.filter(({ status }) => status === 'fulfilled').length).toBe(3)
        await expect(registry.invoke(tool)).rejects.toMatchObject(TOO_MANY)
        await expect(
          registry.agent.query('select agents.fn_start_team_run($1, $2, $3)', [registry.owner, 'release', '{}']),
        ).rejects.toMatchObject(TOO_MANY)
        await expect(
          perform(registry.anna, 'limitWaiting', { team: registry.owner, waiting: 100 }),
        ).rejects.toMatchObject(REFUSED)
        expect(
          await stage.engine.query('select from agents.tool_invocations where owner = $1', [registry.owner]),
        ).toHaveLength(3)
        await askAs('agent-2', tool)
        // An answer makes room for the next one, and a call that nobody is asked about needs none.
        const [open] = await perform(registry.anna, 'listQuestions', { team: registry.owner, agent: 'agent-1' })
        await perform(registry.anna, 'approve', { id: open?.id ?? '', shownHash: open?.argumentsHash ?? '' })
        await registry.invoke(tool)
        expect(
          await registry.statusOf(
            await registry.invoke(
              await registry.register('look', { p_egress_class: 'none', p_requires_approval: false }),
            ),
          ),
        ).toBe('approved')
      })
    })

    describe('pending calls are judged again', () => {
      const quiet = { p_egress_class: 'none', p_requires_approval: false }
      const profileOf = (registry: TeamRegistry, ...said: readonly string[]) =>
        registry.admin.query(`select agents.fn_set_profile($1, 'work', ${said.join(', ')})`, [registry.owner])

      test('a pending call cannot be approved or claimed after its profile was narrowed, and gets the reason', async () => {
        const registry = await fresh()
        await profileOf(registry, `p_is_default => true`)
        const [send, look, kept] = [
          await registry.register('send'),
          await registry.register('look', quiet),
          await registry.register('kept', quiet),
        ]
        const [asked, ready, allowed] = [
          await registry.invoke(send),
          await registry.invoke(look),
          await registry.invoke(kept),
        ]
        await profileOf(registry, `p_allow_tools => array['kept']`, `p_is_default => true`)
        await expect(
          registry.anna.query('select agents.fn_approve_tool_invocation($1)', [asked]),
        ).rejects.toMatchObject(REFUSED)
        expect(await claim(registry, ready)).toBeUndefined()
        expect(await stateOf(ready)).toEqual({
          status: 'rejected',
          error: 'the profile work does not allow the tool look any more',
        })
        expect(await claim(registry, allowed)).toBeDefined()
        await maintainRegistry(registry.runner)
        expect(await stateOf(asked)).toEqual({
          status: 'rejected',
          error: 'the profile work does not allow the tool send any more',
        })
        expect(await perform(registry.anna, 'listQuestions', { team: registry.owner })).toEqual([])
      })

      test('another profile of the agent applies to pending calls too', async () => {
        const registry = await fresh()
        await profileOf(registry, `p_deny_tools => array['look']`)
        const [look, other] = [await registry.register('look', quiet), await registry.register('other', quiet)]
        const [narrowed, free] = [await registry.invoke(look), await registry.invoke(other)]
        await registry.admin.query('select agents.fn_assign_tool($1, $2, $3)', ['agent-1', look, 'work'])
        expect([await claim(registry, narrowed), (await claim(registry, free))?.status]).toEqual([undefined, 'running'])
      })

      test('a call without approval does not run if its profile now asks about everything', async () => {
        const registry = await fresh()
        await profileOf(registry, `p_is_default => true`)
        const [look, send] = [await registry.register('look', quiet), await registry.register('send')]
        const [silent, asked] = [await registry.invoke(look), await registry.invoke(send)]
        await profileOf(registry, `p_requires_approval => true`, `p_is_default => true`)
        await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [asked])
        expect([await claim(registry, silent), (await claim(registry, asked))?.status]).toEqual([undefined, 'running'])
        expect((await stateOf(silent))?.error).toBe('the profile work asks about calls of look now')
      })

      test('a tool that is registered anew rejects its pending calls with a reason, and an unchanged one keeps them', async () => {
        const registry = await fresh()
        const [send, same] = [await registry.register('send'), await registry.register('same')]
        const [approved, asked, kept] = [
          await registry.invoke(send),
          await registry.invoke(send),
          await registry.invoke(same),
        ]
        await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [approved])
        await registerTool(registry.admin, { owner: registry.owner, key: 'send', description: 'another' })
        for (const id of [approved, asked])
          expect(await stateOf(id)).toMatchObject({
            status: 'rejected',
            error: 'superseded: the tool send has changed since it was asked for (version 1 then, 2 now)',
          })
        await expect(
          registry.anna.query('select agents.fn_approve_tool_invocation($1)', [asked]),
        ).rejects.toMatchObject(BAD_STATE)
        expect(await registry.statusOf(kept)).toBe('pending')
        expect(
          (
            await stage.engine.query(
              `select from agents.audit_events where type = 'invocation.superseded' and owner = $1`,
              [registry.owner],
            )
          ).length,
        ).toBe(2)
        expect((await registry.anna.query('select * from agents.fn_verify_audit()')).length).toBe(0)
      })
    })

    test(
      'a tool whose policy writes files and names no class is of the class write, whatever it is registered ' +
        'with; its scratch folder does not count',
      async () => {
        const registry = await fresh()
        const classOf = async (policy: object, more: object = {}) => {
          const id = await registry.register('tool', {
            p_egress_class: 'none',
            p_requires_approval: false,
            p_definition: JSON.stringify({ policy }),
            ...more,
          })
          return (
            await stage.engine.query<{ class: string; asks: boolean }>(
              'select egress_class as class, requires_approval as asks from agents.tools_registry where id = $1',
              [id],
            )
          )[0]
        }
        const [write, none] = [
          { class: 'write', asks: true },
          { class: 'none', asks: false },
        ]
        expect(await classOf({ filesystem: { write: ['./out'] } })).toEqual(write)
        expect(await classOf({ filesystem: { write: ['!./out/.git', './out'] } })).toEqual(write)
        expect(await classOf({ presets: ['workspace'] })).toEqual(write)
        expect(
          await classOf(
            { filesystem: { write: ['/data'] }, network: [{ host: 'a.org', methods: ['GET'] }] },
            { p_egress_class: 'read_only' },
          ),
        ).toEqual(write)
        expect(await classOf({ egress_class: 'none', filesystem: { write: ['./out'] } })).toEqual(none)
        for (const policy of [
          {},
          { filesystem: { read: ['/data'] } },
          { filesystem: 'none' },
          { filesystem: { write: 'none' } },
          { filesystem: { write: [] } },
          { limits: { scratch: '64M' } },
          { presets: ['toolchains'] },
        ])
          expect(await classOf(policy), JSON.stringify(policy)).toEqual(none)
      },
    )

    test('an agent runs its own calls, and cannot see or claim those of others', async () => {
      const registry = await fresh()
      const look = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
      await registry.admin.query('select agents.fn_assign_tool($1, $2)', ['agent-2', look])
      const invoke = (agent: string) =>
        actorOf(stage.engine, 'cordon_agent', agent).value<string>(
          `select agents.fn_invoke_tool(null, $1, $2, '{}', p_dispatch => 'caller')`,
          [look, agent],
        )
      // Not agent-1, who is an operator here and sees more.
      const agent = actorOf(stage.engine, 'cordon_agent', 'agent-2')
      const [own, others, forRunners] = [await invoke('agent-2'), await invoke('agent-1'), await registry.invoke(look)]
      await agent.query('select agents.fn_heartbeat($1)', ['laptop'])
      const claimed = (id: string | null) =>
        agent.query<{ id: string; fence: string }>(
          'select id, fence from agents.fn_claim_tool_invocations($1, 10, $2)',
          ['laptop', id],
        )
      expect([await claimed(others), await claimed(forRunners), await claimed(null)]).toEqual([[], [], []])
      expect((await agent.query('select from agents.tool_invocations where id = $1', [others])).length).toBe(0)
      const [mine] = await claimed(own)
      expect(mine?.id).toBe(own)
      await agent.query('select agents.fn_append_output($1, $2, $3, $4)', [own, mine?.fence, 'stdout', 'hello'])
      await agent.query(`select agents.fn_complete_tool_invocation($1, 'completed', '{}', p_fence => $2)`, [
        own,
        mine?.fence,
      ])
      expect([await registry.statusOf(own), await registry.statusOf(others)]).toEqual(['completed', 'approved'])
      await expect(
        agent.query(`select agents.fn_complete_tool_invocation($1, 'completed', '{}')`, [forRunners]),
      ).rejects.toMatchObject(REFUSED)
    })
  },
  'every time',
)
