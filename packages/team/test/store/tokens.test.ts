// The token is part of a vote: an admin makes tokens for others, and so could speak for them.
import { expect, test } from 'vitest'

import { speakingAs } from '../../src/store/index.js'
import type { Role } from '../../src/store/index.js'

import { REFUSED, describeRegistry } from './describe-registry.js'
import type { TeamRegistry } from './describe-registry.js'
import { perform } from './perform.js'
import { actorOf } from './registry.js'

const FORM = '{"type":"object","properties":{"path":{"const":"a"}},"required":["path"],"additionalProperties":false}'

describeRegistry('tokens in votes', (stage) => {
  /** Ada and Alma are admins; Ada calls tools, too, and Vera is an operator whom nothing else is known of. */
  const withAdmins = async (): Promise<
    TeamRegistry & { readonly tool: string; readonly ask: (agent: string, token?: string) => Promise<string> }
  > => {
    const registry = await stage.fresh()
    for (const [actor, kind] of [
      ['alma', 'admin'],
      ['ada', 'agent'],
      ['vera', 'operator'],
    ])
      await registry.admin.query('select agents.fn_add_member($1, $2, $3)', [registry.owner, actor, kind])
    const tool = await registry.register('send')
    await registry.admin.query('select agents.fn_assign_tool($1, $2)', ['ada', tool])
    const ask = async (agent: string, token?: string) =>
      (
        await by(registry, 'cordon_agent', agent, token).query<{ id: string }>(
          'select agents.fn_invoke_tool(null, $1, $2, $3) as id',
          [tool, agent, '{"path":"a"}'],
        )
      )[0]?.id ?? ''
    return { ...registry, tool, ask }
  }
  const by = (registry: TeamRegistry, role: Role, actor: string, token?: string) =>
    speakingAs(stage.engine, {
      kind: 'gateway',
      role,
      actor,
      team: registry.owner,
      ...(token === undefined ? {} : { token }),
    })
  const tokenBy = async (registry: TeamRegistry, maker: string, actor: string, label = '') =>
    (await perform(by(registry, 'cordon_admin', maker), 'createToken', { team: registry.owner, actor, label })).id
  const approve = async (registry: TeamRegistry, actor: string, token: string | undefined, id: string) =>
    (
      await by(registry, 'cordon_operator', actor, token).query<{ status: string }>(
        'select agents.fn_approve_tool_invocation($1) as status',
        [id],
      )
    )[0]?.status
  const recorded = async (subject: string, type: string) =>
    (
      await stage.engine.query<{ details: unknown }>(
        `select line::jsonb -> 'details' as details from agents.audit_events where subject = $1 and type = $2`,
        [subject, type],
      )
    )[0]?.details

  test('a caller cannot approve by a token that they made for another, but one of another admin counts', async () => {
    const registry = await withAdmins()
    const [own, other] = [await tokenBy(registry, 'ada', 'vera'), await tokenBy(registry, 'alma', 'vera', 'phone')]
    const id = await registry.ask('ada')
    await expect(approve(registry, 'vera', own, id)).rejects.toMatchObject({
      ...REFUSED,
      message: expect.stringContaining('ada made the token') as string,
    })
    await expect(
      by(registry, 'cordon_operator', 'vera', own).query('select agents.fn_reject_tool_invocation($1, $2)', [id, 'no']),
    ).rejects.toMatchObject(REFUSED)
    expect(await approve(registry, 'vera', other, id)).toBe('approved')
    // The same token of the same member, for what its maker did not ask for.
    expect(await approve(registry, 'vera', own, await registry.ask('agent-1'))).toBe('approved')
  })

  test("a vote names its token and the token's maker to everybody who sees it, and so does the log", async () => {
    const registry = await withAdmins()
    const [asking, voting] = [
      await tokenBy(registry, 'ada', 'agent-1'),
      await tokenBy(registry, 'ada', 'vera', 'phone'),
    ]
    const id = await registry.ask('agent-1', asking)
    await approve(registry, 'vera', voting, id)
    const said = { voter: 'vera', tokenId: voting, tokenLabel: 'phone', tokenMadeBy: 'ada' }
    expect((await perform(by(registry, 'cordon_operator', 'otto'), 'showQuestion', { id })).votes).toMatchObject([said])
    expect((await perform(by(registry, 'cordon_operator', 'otto'), 'explainInvocation', { id })).votes).toMatchObject([
      said,
    ])
    expect(await recorded(`invocation:${id}`, 'invocation.asked')).toMatchObject({ token: asking })
    expect(await recorded(`invocation:${id}`, 'invocation.approved')).toMatchObject({ token: voting, by: 'vera' })
    const without = await registry.ask('agent-1')
    await approve(registry, 'vera', undefined, without)
    expect(
      (await perform(by(registry, 'cordon_operator', 'otto'), 'showQuestion', { id: without })).votes,
    ).toMatchObject([{ tokenId: null, tokenMadeBy: null }])
    expect(await recorded(`invocation:${without}`, 'invocation.approved')).not.toHaveProperty('token')
  })

  test(
    'a token that was revoked, has expired, or is of another member or team has no word, whatever the gateway ' +
      'believed',
    async () => {
      const registry = await withAdmins()
      const other = await withAdmins()
      const id = await registry.ask('agent-1')
      const [revoked, late, good] = [
        await tokenBy(registry, 'ada', 'vera'),
        await tokenBy(registry, 'ada', 'vera'),
        await tokenBy(registry, 'ada', 'vera'),
      ]
      await registry.admin.query('select agents.fn_revoke_token($1)', [revoked])
      await stage.engine.query('update agents.tokens set expires_at = now() where id = $1', [late])
      const wrong = [
        revoked,
        late,
        await tokenBy(registry, 'ada', 'anna'),
        await tokenBy(other, 'ada', 'vera'),
        '00000000-0000-0000-0000-000000000000',
      ]
      for (const token of wrong)
        await expect(approve(registry, 'vera', token, id), token).rejects.toMatchObject(REFUSED)
      const agentToken = await tokenBy(registry, 'ada', 'agent-1')
      await registry.admin.query('select agents.fn_revoke_token($1)', [agentToken])
      await expect(registry.ask('agent-1', agentToken)).rejects.toMatchObject(REFUSED)
      expect(await approve(registry, 'vera', good, id)).toBe('approved')
    },
  )

  test('a vote by a token that was revoked since does not count', async () => {
    const registry = await withAdmins()
    const pay = await registry.register('pay', { p_approvals_needed: 2 })
    const [id, next] = [await registry.invoke(pay), await registry.invoke(pay)]
    const token = await tokenBy(registry, 'ada', 'vera')
    for (const each of [id, next]) expect(await approve(registry, 'vera', token, each)).toBe('pending')
    expect(await registry.anna.value('select agents.fn_approve_tool_invocation($1)', [next])).toBe('approved')
    await registry.admin.query('select agents.fn_revoke_token($1)', [token])
    expect(await registry.anna.value('select agents.fn_approve_tool_invocation($1)', [id])).toBe('pending')
    expect(await registry.otto.value('select agents.fn_approve_tool_invocation($1)', [id])).toBe('approved')
  })

  test('a standing approval does not apply to the maker of its token, or after that token is revoked', async () => {
    const registry = await withAdmins()
    const token = await tokenBy(registry, 'ada', 'vera')
    const give = async (agent: string | null) =>
      (
        await by(registry, 'cordon_operator', 'vera', token).query<{ id: string }>(
          `select agents.fn_approve_in_advance($1, $2, 5, interval '1 hour', 'nightly', $3) as id`,
          [registry.tool, FORM, agent],
        )
      )[0]?.id ?? ''
    await expect(give('ada')).rejects.toMatchObject(REFUSED)
    const standing = await give(null)
    expect(await recorded(`standing:${standing}`, 'standing.given')).toMatchObject({ token })
    expect(await registry.statusOf(await registry.ask('ada'))).toBe('pending')
    expect(await registry.statusOf(await registry.ask('agent-1'))).toBe('approved')
    await registry.admin.query('select agents.fn_revoke_token($1)', [token])
    expect(await registry.statusOf(await registry.ask('agent-1'))).toBe('pending')
  })

  test('a vote and the end of its token happen one after the other', async () => {
    const registry = await withAdmins()
    const id = await registry.ask('agent-1')
    const token = await tokenBy(registry, 'ada', 'vera')
    const outcomes = await Promise.allSettled([
      approve(registry, 'vera', token, id),
      registry.admin.query('select agents.fn_revoke_token($1)', [token]),
    ])
    expect(outcomes[1].status).toBe('fulfilled')
    expect(await registry.statusOf(id)).toBe(outcomes[0].status === 'fulfilled' ? 'approved' : 'pending')
    const orderly = await registry.ask('agent-1')
    expect(
      await actorOf(stage.engine, 'cordon_operator', 'vera').value('select agents.fn_approve_tool_invocation($1)', [
        orderly,
      ]),
    ).toBe('approved')
  })
})
