// A call that its caller runs itself is asked for and claimed in one transaction, with the checks of both.
import { randomUUID } from 'node:crypto'

import { expect, test } from 'vitest'

import { BAD_STATE, MISSING, REFUSED, describeRegistry } from './describe-registry.js'
import type { TeamRegistry } from './describe-registry.js'

interface Begun {
  readonly id: string
  readonly status: string
  readonly fence: string
  readonly runner: string | null
}

const FREE = { p_egress_class: 'none', p_requires_approval: false }

const begin = async (
  { agent }: Pick<TeamRegistry, 'agent'>,
  tool: string,
  { request = randomUUID(), version = 1, runner = 'own', as = 'agent-1' } = {},
): Promise<Begun> => {
  const [begun] = await agent.query<Begun>(
    'select id, status, fence::text, runner from agents.fn_begin_tool_invocation($1, null, $2, $3, $4, $5, $6)',
    [request, tool, version, as, '{"path":"a"}', runner],
  )
  return begun ?? expect.fail('nothing was begun')
}
const heard = (registry: TeamRegistry, isDraining = false): Promise<unknown> =>
  registry.agent.query('select agents.fn_heartbeat($1, p_is_draining => $2)', ['own', isDraining])

describeRegistry(
  'a call that its caller begins',
  (stage) => {
    test('runs at once, with both entries in the record, and is completed once', async () => {
      const registry = await stage.fresh()
      await heard(registry)
      const begun = await begin(registry, await registry.register('look', FREE))
      expect(begun).toMatchObject({ status: 'running', fence: '1', runner: 'own' })
      const entries = await stage.engine.query<{ type: string }>(
        'select type from agents.audit_events where subject = $1 order by sequence',
        [`invocation:${begun.id}`],
      )
      expect(entries.map(({ type }) => type)).toEqual(['invocation.asked', 'invocation.started'])
      expect(await registry.service.query('select * from agents.fn_verify_audit()')).toEqual([])
      // Nobody else can claim or complete it.
      expect(await stage.claim(registry, begun.id)).toBeUndefined()
      await expect(stage.complete(registry, begun.id, begun.fence)).rejects.toMatchObject(REFUSED)
      const complete = (fence: number) =>
        registry.agent.query('select agents.fn_complete_tool_invocation($1, $2, p_fence => $3)', [
          begun.id,
          'completed',
          fence,
        ])
      await expect(complete(2)).rejects.toMatchObject(BAD_STATE)
      await complete(1)
      expect(await registry.statusOf(begun.id)).toBe('completed')
      await expect(complete(1)).rejects.toMatchObject(BAD_STATE)
    })

    test('is one call for one request, also if the requests come at the same time', async () => {
      const registry = await stage.fresh()
      await heard(registry)
      const tool = await registry.register('look', FREE)
      const request = randomUUID()
      const begun = await Promise.all(Array.from({ length: 5 }, () => begin(registry, tool, { request })))
      expect(new Set(begun.map(({ id, fence, status }) => `${id} ${fence} ${status}`)).size).toBe(1)
      // A former member does not get the call by its request either.
      await registry.admin.query('select agents.fn_remove_member($1, $2, $3)', [registry.owner, 'agent-1', 'agent'])
      await expect(begin(registry, tool, { request })).rejects.toMatchObject(REFUSED)
    })

    test('waits if people have to be asked, and is claimed by its id after they approved it', async () => {
      const registry = await stage.fresh()
      await heard(registry)
      const begun = await begin(registry, await registry.register('send'))
      expect(begun).toMatchObject({ status: 'pending', fence: '0', runner: null })
      await registry.anna.query('select agents.fn_approve_tool_invocation($1)', [begun.id])
      const claimed = await registry.agent.query('select * from agents.fn_claim_tool_invocations($1, 1, $2)', [
        'own',
        begun.id,
      ])
      expect(claimed).toMatchObject([{ status: 'running', runner: 'own' }])
    })

    test('does not run while calls are paused or its process drains, nor where its tool needs another host', async () => {
      const registry = await stage.fresh()
      await heard(registry)
      const [look, labelled] = [
        await registry.register('look', FREE),
        await registry.register('labelled', { ...FREE, p_needs_labels: ['gpu'] }),
      ]
      expect(await begin(registry, labelled)).toMatchObject({ status: 'approved', fence: '0' })
      await registry.anna.query('select agents.fn_stop($1, $2, $3)', [registry.owner, 'pause', 'later'])
      expect(await begin(registry, look)).toMatchObject({ status: 'approved', fence: '0' })
      await registry.anna.query('select agents.fn_stop($1, $2, $3)', [registry.owner, 'kill', 'never'])
      await expect(begin(registry, look)).rejects.toMatchObject(REFUSED)
      await registry.anna.query('select agents.fn_resume($1)', [registry.owner])
      await heard(registry, true)
      expect(await begin(registry, look)).toMatchObject({ status: 'approved', fence: '0' })
      await heard(registry)
      expect(await begin(registry, look)).toMatchObject({ status: 'running', fence: '1' })
    })

    test('is refused for another version of the tool, by an unknown process, and in the name of somebody else', async () => {
      const registry = await stage.fresh()
      await heard(registry)
      const look = await registry.register('look', FREE)
      await expect(begin(registry, look, { version: 2 })).rejects.toMatchObject(BAD_STATE)
      await expect(begin(registry, look, { runner: 'unheard' })).rejects.toMatchObject(MISSING)
      // The process of the runner host-1 is not one of the agent.
      await expect(begin(registry, look, { runner: `${registry.owner}-runner` })).rejects.toMatchObject(MISSING)
      await expect(begin(registry, look, { as: 'agent-2' })).rejects.toMatchObject(REFUSED)
      await expect(begin({ agent: registry.service }, look)).rejects.toMatchObject(REFUSED)
      expect(await begin(registry, look)).toMatchObject({ status: 'running' })
    })
  },
  'every time',
)
