// Which member a request acts for, and what that member may do.
import { statSync } from 'node:fs'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openStage } from './stage.js'
import type { Stage } from './stage.js'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(async () => {
  await stage.close()
})

const refusal = (status: number, code: string) => ({
  status,
  json: { code, status, detail: expect.any(String) as string },
})

describe('an approval', () => {
  test('is refused from the agent that called, also if it is an operator, but not from another operator', async () => {
    const { id, hash } = await stage.invoke()
    expect(
      await stage.ask('POST', `/v1/approvals/${id}/approve`, {
        token: stage.tokens['agent-1'],
        body: { shownHash: hash },
      }),
    ).toMatchObject(refusal(403, 'store-refused'))
    expect(
      await stage.ask('POST', `/v1/approvals/${id}/approve`, { token: stage.tokens.anna, body: { shownHash: hash } }),
    ).toMatchObject({ status: 200, json: { status: 'approved' } })
  })

  test('is refused by a token that the caller made for an operator, and names its own token', async () => {
    const ada = stage.as('ada')
    for (const [actor, kind] of [
      ['ada', 'agent'],
      ['alma', 'admin'],
      ['olga', 'operator'],
    ] as const)
      await ada.ask('addMember', { team: 'acme', actor, kind })
    await ada.ask('assignTool', { team: 'acme', agent: 'ada', tool: 'send' })
    const asked = await stage.ask('POST', '/v1/teams/acme/invocations', {
      token: stage.tokens.ada,
      body: { tool: 'send', agent: 'ada', input: { to: 'bob' } },
    })
    const { id } = asked.json as { id: string }
    const { inputHash: shownHash } = await ada.ask('findInvocation', { id })
    const own = await ada.ask('createToken', { team: 'acme', actor: 'olga' })
    const phone = await stage.as('alma').ask('createToken', { team: 'acme', actor: 'olga', label: 'phone' })
    expect(
      await stage.ask('POST', `/v1/approvals/${id}/approve`, { token: own.token, body: { shownHash } }),
    ).toMatchObject(refusal(403, 'store-refused'))
    expect(
      await stage.ask('POST', `/v1/approvals/${id}/approve`, { token: phone.token, body: { shownHash } }),
    ).toMatchObject({ status: 200, json: { status: 'approved' } })
    expect((await stage.ask('GET', `/v1/approvals/${id}`, { token: stage.tokens.otto })).json).toMatchObject({
      votes: [{ voter: 'olga', tokenId: phone.id, tokenLabel: 'phone', tokenMadeBy: 'alma' }],
    })
  })

  test('is refused from a member who is not an operator', async () => {
    const { id, hash } = await stage.invoke()
    expect(
      await stage.ask('POST', `/v1/approvals/${id}/approve`, {
        token: stage.tokens['agent-2'],
        body: { shownHash: hash },
      }),
    ).toMatchObject(refusal(403, 'request-refused'))
    expect(
      await stage.ask('POST', `/v1/approvals/${id}/approve`, { token: stage.tokens.ada, body: { shownHash: hash } }),
    ).toMatchObject(refusal(403, 'request-refused'))
  })

  test('is for the shown call: refused with another hash, without one, or twice', async () => {
    const [shown, other] = [await stage.invoke({ to: 'bob' }), await stage.invoke({ to: 'eve' })]
    const approve = (body: object) =>
      stage.ask('POST', `/v1/approvals/${shown.id}/approve`, { token: stage.tokens.anna, body })
    expect(await approve({ shownHash: other.hash })).toMatchObject(refusal(409, 'store-state'))
    expect(await approve({})).toMatchObject(refusal(400, 'request-invalid'))
    expect(await approve({ shownHash: shown.hash })).toMatchObject({ status: 200 })
    expect(await approve({ shownHash: shown.hash })).toMatchObject(refusal(409, 'store-state'))
  })

  test('is refused for a tool that changed after it was shown', async () => {
    const { id, hash } = await stage.invoke()
    const ada = stage.as('ada')
    await ada.ask('registerTool', {
      team: 'acme',
      key: 'send',
      egressClass: 'write',
      description: 'and now to everybody',
    })
    expect(
      await stage.ask('POST', `/v1/approvals/${id}/approve`, { token: stage.tokens.anna, body: { shownHash: hash } }),
    ).toMatchObject(refusal(409, 'store-state'))
    expect((await stage.ask('GET', `/v1/approvals/${id}`, { token: stage.tokens.anna })).json).toMatchObject({
      tool: null,
      question: { toolVersion: 1 },
    })
    const asked = await stage.invoke()
    expect(
      await stage.ask('POST', `/v1/approvals/${asked.id}/approve`, {
        token: stage.tokens.anna,
        body: { shownHash: asked.hash },
      }),
    ).toMatchObject({ status: 200 })
  })
})

describe('a token', () => {
  const me = (token: string | undefined, headers: Readonly<Record<string, string>> = {}) =>
    stage.ask('GET', '/v1/me', { token, headers })

  test('authenticates its member, and a missing or invalid one authenticates nobody', async () => {
    expect(await me(stage.tokens.anna)).toMatchObject({
      status: 200,
      json: { actor: 'anna', teams: [{ team: 'acme', kinds: ['operator'] }] },
    })
    for (const wrong of [
      undefined,
      'x',
      `${stage.tokens.anna}x`,
      stage.tokens.anna.slice(0, -1),
      stage.tokens.anna.toUpperCase(),
      "' or true --",
    ])
      expect(await me(wrong)).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
    expect(await me(undefined, { authorization: `Basic ${Buffer.from('anna:x').toString('base64')}` })).toMatchObject({
      status: 401,
    })
    expect(await stage.ask('GET', `/v1/me?token=${stage.tokens.anna}`)).toMatchObject({ status: 401 })
  })

  test('cannot name another member, nor can a request without a token', async () => {
    expect(await me(stage.tokens['agent-1'], { 'cordon-actor': 'anna' })).toMatchObject(refusal(403, 'request-refused'))
    expect(await me(undefined, { 'cordon-actor': 'anna' })).toMatchObject({ status: 401 })
    expect(
      await stage.ask('GET', '/v1/me', { socket: true, headers: { 'cordon-actor': 'anna', 'host': 'localhost' } }),
    ).toMatchObject({ status: 200, json: { actor: 'anna' } })
  })

  test('of a removed member is invalid, also if they come back', async () => {
    const ada = stage.as('ada')
    await ada.ask('addMember', { team: 'acme', actor: 'vera', kind: 'operator' })
    const { token } = await ada.ask('createToken', { team: 'acme', actor: 'vera' })
    expect(await me(token)).toMatchObject({ status: 200 })
    await ada.ask('removeMember', { team: 'acme', actor: 'vera', kind: 'operator' })
    expect(await me(token)).toMatchObject(refusal(401, 'request-unauthenticated'))
    await ada.ask('addMember', { team: 'acme', actor: 'vera', kind: 'operator' })
    expect(await me(token)).toMatchObject({ status: 401 })
  })

  test('has the current rights of its member', async () => {
    const ada = stage.as('ada')
    await ada.ask('addMember', { team: 'acme', actor: 'walt', kind: 'operator' })
    await ada.ask('addMember', { team: 'acme', actor: 'walt', kind: 'agent' })
    const { token } = await ada.ask('createToken', { team: 'acme', actor: 'walt' })
    await ada.ask('removeMember', { team: 'acme', actor: 'walt', kind: 'operator' })
    const { id, hash } = await stage.invoke()
    expect(await stage.ask('POST', `/v1/approvals/${id}/approve`, { token, body: { shownHash: hash } })).toMatchObject({
      status: 403,
    })
    expect(await me(token)).toMatchObject({ json: { teams: [{ kinds: ['agent'] }] } })
  })

  test('that was revoked or has expired is invalid', async () => {
    const ada = stage.as('ada')
    const [revoked, late] = [
      await ada.ask('createToken', { team: 'acme', actor: 'otto' }),
      await ada.ask('createToken', { team: 'acme', actor: 'otto' }),
    ]
    expect(await me(revoked.token)).toMatchObject({ status: 200 })
    // By who it speaks for.
    expect(await stage.ask('DELETE', `/v1/tokens/${revoked.id}`, { token: stage.tokens.otto })).toMatchObject({
      status: 204,
    })
    expect(await me(revoked.token)).toMatchObject({ status: 401 })
    expect(await me(late.token)).toMatchObject({ status: 200 })
    await stage.engine.query(`update agents.tokens set expires_at = now() where id = $1`, [late.id])
    expect(await me(late.token)).toMatchObject({ status: 401 })
  })

  test('of somebody else cannot be revoked, and its hash is not shown to anybody', async () => {
    const ada = stage.as('ada')
    const { id } = await ada.ask('createToken', { team: 'acme', actor: 'otto' })
    expect(await stage.ask('DELETE', `/v1/tokens/${id}`, { token: stage.tokens.anna })).toMatchObject(
      refusal(403, 'store-refused'),
    )
    const listed = await stage.ask('GET', '/v1/teams/acme/tokens', { token: stage.tokens.ada })
    expect(listed).toMatchObject({ status: 200 })
    expect(Object.keys((listed.json as readonly object[])[0] ?? {})).not.toContain('hash')
    expect((await stage.ask('GET', '/v1/teams/acme/tokens', { token: stage.tokens.anna })).json).toMatchObject([
      { actor: 'anna' },
    ])
    await expect(
      stage.engine.transaction(async ({ query, execute }) => {
        await execute('set local role cordon_admin')
        await query('select hash from agents.tokens')
      }),
    ).rejects.toMatchObject({ code: 'store-refused' })
  })

  test('of one team is invalid in another team with a member of the same name', async () => {
    const mallory = stage.as('mallory')
    await mallory.ask('foundTeam', { team: 'evil', admin: 'mallory' })
    // Anna is an operator of acme. To add her name to another team is not to become her.
    await mallory.ask('addMember', { team: 'evil', actor: 'anna', kind: 'operator' })
    const { token } = await mallory.ask('createToken', { team: 'evil', actor: 'anna' })
    const { id, hash } = await stage.invoke()
    expect(await stage.ask('GET', '/v1/teams/evil/members', { token })).toMatchObject({ status: 200 })
    expect(await stage.ask('GET', '/v1/teams/acme/members', { token })).toMatchObject(refusal(403, 'request-refused'))
    expect(await stage.ask('GET', `/v1/invocations/${id}`, { token })).toMatchObject(refusal(404, 'store-missing'))
    expect(await stage.ask('POST', `/v1/approvals/${id}/approve`, { token, body: { shownHash: hash } })).toMatchObject({
      status: 404,
    })
    expect(await stage.ask('POST', `/v1/invocations/${id}/cancel`, { token, body: {} })).toMatchObject({ status: 404 })
    expect(
      await stage.ask('POST', `/v1/approvals/${id}/approve`, { token: stage.tokens.anna, body: { shownHash: hash } }),
    ).toMatchObject({ status: 200 })
  })

  test('of one team does not speak for the runner of another with the same name', async () => {
    const mallory = stage.as('mallory')
    await mallory.ask('addMember', { team: 'evil', actor: 'agent-1', kind: 'runner' })
    const { token } = await mallory.ask('createToken', { team: 'evil', actor: 'agent-1' })
    const beat = (as: string, isDraining: boolean) =>
      stage.ask('POST', '/v1/runners/shared/heartbeat', { token: as, body: { isDraining } })
    expect(await beat(stage.tokens['agent-1'], false)).toMatchObject({ status: 204 })
    expect(await beat(token, true)).toMatchObject({ status: 204 })
    expect(
      await stage.engine.query(
        `select team, is_draining as "isDraining" from agents.runners where name = 'shared' order by team`,
      ),
    ).toEqual([
      { team: 'acme', isDraining: false },
      { team: 'evil', isDraining: true },
    ])
  })

  test('creates no team, and makes calls only as its own member', async () => {
    expect(
      await stage.ask('POST', '/v1/teams', { token: stage.tokens.ada, body: { team: 'new', admin: 'ada' } }),
    ).toMatchObject(refusal(403, 'request-refused'))
    const call = (agent: string) =>
      stage.ask('POST', '/v1/teams/acme/invocations', {
        token: stage.tokens['agent-2'],
        body: { tool: 'send', agent, input: {} },
      })
    expect(await call('agent-1')).toMatchObject(refusal(403, 'store-refused'))
    expect(await call('agent-2')).toMatchObject({ status: 200 })
  })
})

describe('calls', () => {
  test("of another agent are invisible, and an agent's own are visible", async () => {
    const { id } = await stage.invoke({ to: 'secret' }, 'agent-2')
    const other = stage.as('agent-9')
    await stage.as('ada').ask('addMember', { team: 'acme', actor: 'agent-9', kind: 'agent' })
    await expect(other.ask('findInvocation', { id })).rejects.toMatchObject({ code: 'store-missing' })
    expect(await other.ask('listInvocations', { team: 'acme' })).toEqual([])
    expect(await stage.ask('GET', `/v1/invocations/${id}`, { token: stage.tokens['agent-2'] })).toMatchObject({
      status: 200,
      json: { input: { to: 'secret' } },
    })
  })

  test('are completed only with the fence of their claim', async () => {
    const { id, hash } = await stage.invoke()
    await stage.as('anna').ask('approve', { id, shownHash: hash })
    const token = stage.tokens['agent-1']
    await stage.ask('POST', '/v1/runners/host/heartbeat', { token, body: {} })
    await stage.ask('POST', '/v1/runners/host/claims', { token, body: { id } })
    const complete = (fence: string) =>
      stage.ask('POST', `/v1/invocations/${id}/completion`, {
        token,
        body: { fence, status: 'completed', output: null },
      })
    expect(await complete('0')).toMatchObject(refusal(409, 'store-state'))
    expect(await complete('1')).toMatchObject({ status: 204 })
    expect(await complete('1')).toMatchObject({ status: 409 })
  })
})

test('only its user can connect to the socket', () => {
  const { mode } = statSync(stage.socket)
  expect((mode & 0o777).toString(8)).toBe('600')
})

test('the server had no internal error in all of this', () => {
  expect(stage.reported).toEqual([])
})
