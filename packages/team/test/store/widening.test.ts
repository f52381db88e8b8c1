// A version of a tool that may do more than the last usable one cannot be called before somebody approved it.
import { describe, expect, test } from 'vitest'

import { registerTool, requireTool } from '../../src/store/index.js'
import type { Queryable, ToolRegistration } from '../../src/store/index.js'

import { BAD_STATE, REFUSED, describeRegistry } from './describe-registry.js'
import type { TeamRegistry } from './describe-registry.js'
import { actorOf } from './registry.js'
import type { Role } from './registry.js'

const READS = (...read: string[]) => ({ kind: 'process', command: ['cat'], policy: { filesystem: { read } } })

describeRegistry('widened tools', (stage) => {
  const speaking = <Result>(role: Role, actor: string, work: (session: Queryable) => Promise<Result>) =>
    stage.engine.transaction(async (inside) => {
      await inside.query(`select set_config('cordon.actor', $1, true)`, [actor])
      await inside.execute(`set local role ${role}`)
      return work(inside)
    })
  const register = (
    { owner }: TeamRegistry,
    definition: object,
    more: Partial<ToolRegistration> = {},
    actor = 'ada',
  ): Promise<string> =>
    speaking('cordon_admin', actor, (session) =>
      registerTool(session, {
        owner,
        key: 'look',
        egressClass: 'read_only',
        requiresApproval: false,
        definition: definition as never,
        ...more,
      }),
    )
  const approve = (tool: string, version: number, actor = 'anna') =>
    actorOf(stage.engine, 'cordon_operator', actor).query('select agents.fn_approve_tool_version($1, $2, $3)', [
      tool,
      version,
      'seen',
    ])
  const show = ({ owner }: TeamRegistry) =>
    speaking('cordon_admin', 'ada', (session) => requireTool(session, owner, 'look'))
  const first = async (definition: object, more: Partial<ToolRegistration> = {}) => {
    const registry = await stage.fresh()
    const tool = await register(registry, definition, more)
    await registry.admin.query('select agents.fn_assign_tool($1, $2)', ['agent-1', tool])
    return { registry, tool }
  }

  describe('a version with a wider policy', () => {
    test('cannot be called, and says what it may newly do', async () => {
      const { registry, tool } = await first(READS('src/**'))
      await registry.invoke(tool, {})
      await register(registry, READS('src/**', 'secrets/**'))
      await expect(registry.invoke(tool, {})).rejects.toMatchObject(REFUSED)
      expect(await show(registry)).toMatchObject({
        review: 'pending',
        version: 2,
        widening: [expect.stringContaining('secrets')],
      })
    })

    test('can be called after another operator approved it', async () => {
      const { registry, tool } = await first(READS('src/**'))
      await register(registry, READS('src/**', 'secrets/**'))
      await approve(tool, 2)
      expect(await registry.statusOf(await registry.invoke(tool, {}))).toBe('approved')
      expect(await show(registry)).toMatchObject({ review: 'approved' })
    })

    test('stays pending if it is registered again, or narrowed to something that is still wider', async () => {
      const { registry, tool } = await first(READS('src/**'))
      await register(registry, READS('src/**', 'secrets/**'))
      await register(registry, READS('src/**', 'secrets/**'))
      await register(registry, READS('src/**', 'secrets/a'))
      await expect(registry.invoke(tool, {})).rejects.toMatchObject(REFUSED)
    })

    test('is forgotten if the policy of the last usable version comes back', async () => {
      const { registry, tool } = await first(READS('src/**'))
      await register(registry, READS('src/**', 'secrets/**'))
      await register(registry, READS('src/**'))
      expect(await registry.statusOf(await registry.invoke(tool, {}))).toBe('approved')
    })
  })

  test.each([
    ['a subfolder', READS('src/**'), READS('src/lib/**')],
    ['another order', READS('src/**', 'docs/**'), READS('docs/**', 'src/**')],
    ['a policy where there was none', { command: ['cat'] }, READS('src/**')],
    ['another command', READS('src/**'), { ...READS('src/**'), command: ['head'] }],
  ])('%s passes by itself', async (_, before, now) => {
    const { registry, tool } = await first(before)
    await register(registry, now)
    expect(await registry.statusOf(await registry.invoke(tool, {}))).toBe('approved')
  })

  test('a label and a mechanism more pass by themselves', async () => {
    const { registry } = await first(READS('src/**'), { needsLabels: ['isolated'] })
    await register(registry, READS('src/**'), { needsLabels: ['isolated', 'eu'], needsBoundary: ['landlock'] })
    expect(await show(registry)).toMatchObject({ review: 'none', version: 2 })
  })

  test.each([
    ['no policy any more', { command: ['cat'] }, {}],
    ['a policy that cannot be read', { ...READS('src/**'), policy: { filesystem: 7 } }, {}],
    ['a kind without a cell', { ...READS('src/**'), kind: 'in-process' }, {}],
    ['a kind that nobody knows', { ...READS('src/**'), kind: 'magic' }, {}],
    ['a mechanism less', READS('src/**'), { needsBoundary: [] }],
    ['a label less', READS('src/**'), { needsLabels: [] }],
    ['another endpoint', READS('src/**'), { endpointUrl: 'https://elsewhere.test/' }],
    ['fewer approvals', READS('src/**'), { approvalsNeeded: 1 }],
    ['another credential', READS('src/**'), { credentialRef: 'admin', authMethod: 'api_key' as const }],
  ])('%s needs an approval', async (_, definition, more) => {
    const rights = { needsBoundary: ['landlock'], needsLabels: ['isolated'], approvalsNeeded: 2 }
    const { registry, tool } = await first(READS('src/**'), rights)
    await registry.invoke(tool, {})
    await register(registry, definition, { ...rights, ...more })
    await expect(registry.invoke(tool, {})).rejects.toMatchObject(REFUSED)
  })

  describe('an approval', () => {
    const widened = async () => {
      const { registry, tool } = await first(READS('src/**'))
      for (const kind of ['admin', 'operator'])
        await registry.admin.query('select agents.fn_add_member($1, $2, $3)', [registry.owner, 'anna', kind])
      await register(registry, READS('/etc/**'), {}, 'anna')
      return { registry, tool }
    }

    test('is not given by the person who registered the version, if the team has another operator', async () => {
      const { registry, tool } = await widened()
      await expect(approve(tool, 2, 'anna')).rejects.toMatchObject(REFUSED)
      await approve(tool, 2, 'otto')
      await registry.invoke(tool, {})
    })

    test('is given by that person, if there is no other operator', async () => {
      const { registry, tool } = await widened()
      await registry.admin.query('select agents.fn_remove_member($1, $2, $3)', [registry.owner, 'otto', 'operator'])
      await approve(tool, 2, 'anna')
      await registry.invoke(tool, {})
    })

    test('is not given by an agent', async () => {
      const { tool } = await widened()
      await expect(approve(tool, 2, 'agent-1')).rejects.toMatchObject(REFUSED)
    })

    test('is for one version', async () => {
      const { registry, tool } = await widened()
      await register(registry, READS('/home/**'))
      await expect(approve(tool, 2)).rejects.toMatchObject(BAD_STATE)
      await approve(tool, 3)
      await expect(approve(tool, 3)).rejects.toMatchObject(BAD_STATE)
    })

    test('is in the audit log, with what was approved', async () => {
      const { tool } = await widened()
      await approve(tool, 2, 'otto')
      const [entry] = await stage.engine.query<{ line: string }>(
        `select line from agents.audit_events where type = 'tool.widening_approved' and subject = $1`,
        [`tool:${tool}`],
      )
      expect(entry?.line).toContain('/etc')
      expect(entry?.line).toContain('seen')
    })
  })

  test('a statement that nothing widens counts only if it is about the last usable version', async () => {
    const { registry, tool } = await first(READS('src/**'))
    const state = (comparedWith: number, path: string) =>
      registry.register('look', {
        p_egress_class: 'read_only',
        p_requires_approval: false,
        p_definition: JSON.stringify(READS(path)),
        p_widening: '[]',
        p_compared_with: comparedWith,
      })
    await state(7, 'docs/**')
    await expect(registry.invoke(tool)).rejects.toMatchObject(REFUSED)
    await state(1, 'src/lib/**')
    await registry.invoke(tool)
  })
})
