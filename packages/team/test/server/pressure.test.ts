// A slow database, clients that disconnect, and clients that want everything: none of them affects the others. Uses a
// real server whose locks hold statements as long as a test needs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { openPostgresStage } from './postgres-stage.js'
import type { PostgresStage } from './postgres-stage.js'

const LONG = { statementMs: 120_000, lockMs: 120_000, idleMs: 120_000, connectMs: 10_000 }
const HELD = '/v1/teams/acme/standing-approvals'
const HELD_TABLE = 'agents.standing_approvals'
const FREE = '/v1/me'

const stages: PostgresStage[] = []
const open = async (...given: Parameters<typeof openPostgresStage>): Promise<PostgresStage> => {
  const stage = await openPostgresStage(...given)
  stages.push(stage)
  return stage
}
afterAll(async () => {
  await Promise.all(stages.map((stage) => stage.close()))
})

describe('a statement that takes too long', () => {
  test.each([
    ['by itself', { statementMs: 300, lockMs: 60_000 }, 'statement timeout'],
    ['because of what others hold', { statementMs: 60_000, lockMs: 300 }, 'lock timeout'],
  ])('%s is cancelled with an error, and a retry is answered', async (_, limits, words) => {
    const { lock, ask, statements, reported } = await open({ limits: { ...LONG, ...limits } })
    const release = await lock(HELD_TABLE)
    const refused = await ask('anna', 'GET', HELD)
    expect(refused).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) as string },
      json: {
        code: 'store-busy',
        detail: expect.stringContaining(words) as string,
        fix: expect.stringContaining('--statement-timeout') as string,
      },
    })
    await expect.poll(() => statements()).toBe(0)
    await release()
    expect(await ask('anna', 'GET', HELD)).toMatchObject({ status: 200, json: [] })
    expect(reported).toMatchObject([{ code: 'store-busy' }])
  })

  test('does not include waiting for a change, which is not done in the database', async () => {
    // Shorter than the waiting, and long enough for every statement on a busy machine.
    const { ask, owner } = await open({ limits: { ...LONG, statementMs: 3_000, lockMs: 3_000 } })
    const { json } = await ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
      body: { tool: 'send', agent: 'agent-1', input: {} },
    })
    const { id } = json as { readonly id: string }
    const first = await ask('agent-1', 'GET', `/v1/invocations/${id}`)
    const waiting = { headers: { 'if-none-match': String(first.headers.etag), 'prefer': 'wait=4' } }
    expect(await ask('agent-1', 'GET', `/v1/invocations/${id}`, waiting)).toMatchObject({ status: 304 })
    const later = ask('agent-1', 'GET', `/v1/invocations/${id}`, { headers: { ...waiting.headers, prefer: 'wait=30' } })
    await owner.query('select pg_sleep(4)')
    expect(await ask('agent-1', 'POST', `/v1/invocations/${id}/cancel`, { body: {} })).toMatchObject({ status: 200 })
    expect(await later).toMatchObject({ status: 200, json: { status: 'cancelled' } })
  })
})

describe('a client that disconnects', () => {
  let stage: PostgresStage
  beforeAll(async () => {
    stage = await open({ limits: LONG })
  })

  test('leaves no statement behind, and frees its connection', async () => {
    const { lock, ask, statements } = stage
    const release = await lock(HELD_TABLE)
    // More often than there are connections.
    for (let round = 0; round < 6; round += 1) {
      const asked = [ask('anna', 'GET', HELD), ask('anna', 'GET', HELD)]
      await expect.poll(() => statements('%standing_approvals%')).toBe(2)
      for (const each of asked) each.sent.destroy()
      await Promise.allSettled(asked)
      await expect.poll(() => statements('%standing_approvals%')).toBe(0)
    }
    expect(await ask('anna', 'GET', FREE)).toMatchObject({ status: 200 })
    await release()
    expect(await ask('anna', 'GET', HELD)).toMatchObject({ status: 200 })
  })

  test('by closing half of its connection counts as gone, and one that closes nothing is answered', async () => {
    const { lock, statements, raw, port, tokens } = stage
    const head = `GET ${HELD} HTTP/1.1\r\nHost: 127.0.0.1:${String(port)}\r\nAuthorization: Bearer ${tokens.anna}\r\n\r\n`
    const release = await lock(HELD_TABLE)
    const [half, whole] = [raw(head), raw(head)]
    let text = ''
    whole.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    await expect.poll(() => statements('%standing_approvals%')).toBe(2)
    half.end()
    await expect.poll(() => statements('%standing_approvals%')).toBe(1)
    await release()
    await expect.poll(() => text).toMatch(/^HTTP\/1\.1 200 /)
    whole.destroy()
  })

  test('while it waits for its turn is not served, and nobody waits for it', async () => {
    const { lock, ask, statements } = stage
    const release = await lock(HELD_TABLE)
    const asked = Array.from({ length: 30 }, () => ask('anna', 'GET', HELD))
    await expect.poll(() => statements('%standing_approvals%')).toBe(2)
    for (const each of asked) each.sent.destroy()
    await Promise.allSettled(asked)
    await expect.poll(() => statements('%standing_approvals%')).toBe(0)
    await release()
    expect(await ask('anna', 'GET', HELD)).toMatchObject({ status: 200 })
  })

  test('before authentication leaves no seat behind', async () => {
    const { lock, ask, statements } = await open({ limits: LONG, shares: { open: { caller: 3, team: 100, all: 100 } } })
    for (let round = 0; round < 3; round += 1) {
      const release = await lock('agents.tokens')
      const asked = [ask('anna', 'GET', FREE), ask('anna', 'POST', '/v1/teams/acme/stops', { body: {} })]
      await expect.poll(() => statements('%fn_authenticate%')).toBe(2)
      for (const each of asked) each.sent.destroy()
      await Promise.allSettled(asked)
      await release()
      await expect.poll(() => statements()).toBe(0)
    }
    expect(await Promise.all([ask('anna', 'GET', FREE), ask('anna', 'GET', FREE)])).toMatchObject([
      { status: 200 },
      { status: 200 },
    ])
  })

  test('during a change changes nothing', async () => {
    const { lock, ask, statements, owner } = stage
    const release = await lock('agents.tool_profiles')
    const asked = ask('ada', 'POST', '/v1/teams/acme/profiles', { body: { name: 'left' } })
    await expect.poll(() => statements('%fn_set_profile%')).toBe(1)
    asked.sent.destroy()
    await Promise.allSettled([asked])
    await expect.poll(() => statements('%fn_set_profile%')).toBe(0)
    await release()
    expect(await owner.query(`select from agents.tool_profiles where name = 'left'`)).toEqual([])
    expect(await ask('ada', 'POST', '/v1/teams/acme/profiles', { body: { name: 'left' } })).toMatchObject({
      status: 204,
    })
    expect(stage.reported).toEqual([])
  })
})

describe('database connections', () => {
  test('are shared between callers and teams, and a caller above its share waits and is answered', async () => {
    const { lock, ask, statements } = await open({ limits: LONG, connections: 4 })
    const release = await lock(HELD_TABLE)
    const ofAnna = Array.from({ length: 20 }, () => ask('anna', 'GET', HELD))
    await expect.poll(() => statements('%standing_approvals%')).toBe(2)
    expect(await ask('agent-1', 'GET', FREE)).toMatchObject({ status: 200, json: { actor: 'agent-1' } })
    const ofAgent = Array.from({ length: 20 }, () => ask('agent-1', 'GET', HELD))
    await expect.poll(() => statements('%standing_approvals%')).toBe(3)
    // Another team has a connection left; this one has its share.
    for (let round = 0; round < 5; round += 1)
      expect(await ask('zoe', 'GET', FREE)).toMatchObject({ status: 200, json: { actor: 'zoe' } })
    expect(await statements('%standing_approvals%')).toBe(3)
    await release()
    for (const answer of await Promise.all([...ofAnna, ...ofAgent])) expect(answer).toMatchObject({ status: 200 })
  })

  test('are waited for only for a limited time', async () => {
    const { lock, ask } = await open({ limits: LONG, connections: 2, shares: { patienceMs: 300 } })
    const release = await lock(HELD_TABLE)
    const first = ask('anna', 'GET', HELD)
    expect(await ask('anna', 'GET', HELD)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '2' },
      json: { code: 'store-busy' },
    })
    await release()
    expect(await first).toMatchObject({ status: 200 })
  })
})

describe('open requests', () => {
  test('beyond the share of a caller are refused with a time to retry, and those of others are not', async () => {
    const { ask } = await open({ limits: LONG, shares: { open: { caller: 5, team: 8, all: 100 } } })
    const { json } = await ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
      body: { tool: 'send', agent: 'agent-1', input: {} },
    })
    const path = `/v1/invocations/${(json as { readonly id: string }).id}`
    const waiting = {
      headers: { 'if-none-match': String((await ask('agent-1', 'GET', path)).headers.etag), 'prefer': 'wait=60' },
    }
    const live = new Set<ReturnType<typeof ask>>()
    let last: Awaited<ReturnType<typeof ask>> | undefined
    /** So many that wait; one that met a question of this test is sent again. */
    const fill = (who: 'agent-1' | 'anna', most: number, witness: 'agent-1' | 'ada', whose: string) =>
      expect
        .poll(async () => {
          while (live.size < most) {
            const one = ask(who, 'GET', path, waiting)
            live.add(one)
            void one.then(
              () => live.delete(one),
              () => undefined,
            )
          }
          last = await ask(witness, 'GET', FREE)
          return [last.status, (last.json as { readonly params?: { readonly who: string } }).params?.who, live.size]
        })
        .toEqual([429, whose, most])
    await fill('agent-1', 5, 'agent-1', 'agent-1')
    expect(last).toMatchObject({
      headers: { 'retry-after': '1' },
      json: {
        code: 'request-too-many',
        params: { who: 'agent-1', open: 5 },
        fix: expect.stringContaining('Retry-After') as string,
      },
    })
    expect(await ask('anna', 'GET', FREE)).toMatchObject({ status: 200 })
    await fill('anna', 8, 'ada', 'acme')
    expect(last).toMatchObject({ json: { code: 'request-too-many', params: { who: 'acme', open: 8 } } })
    expect(await ask('zoe', 'GET', FREE)).toMatchObject({ status: 200 })
    // Who leaves makes room.
    for (const each of live) each.sent.destroy()
    await Promise.allSettled(live)
    await expect.poll(async () => (await ask('agent-1', 'GET', FREE)).status).toBe(200)
  })

  test('of hundreds of waiting clients are all answered at a change, and leave nothing behind', IN_MATRIX, async () => {
    const { ask, statements, owner, reported } = await open({
      limits: LONG,
      shares: { open: { caller: 1_000, team: 1_500, all: 1_800 }, patienceMs: 100_000 },
    })
    const first = await ask('anna', 'GET', '/v1/teams/acme/approvals')
    const waits = Array.from({ length: 800 }, () =>
      ask('anna', 'GET', '/v1/teams/acme/approvals', {
        headers: { 'if-none-match': String(first.headers.etag), 'prefer': 'wait=60' },
      }),
    )
    await owner.query('select pg_sleep(2)')
    const begun = await ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
      body: { tool: 'send', agent: 'agent-1', input: {} },
    })
    expect(begun).toMatchObject({ status: 200 })
    const told = await Promise.all(waits)
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await ask('anna', 'GET', FREE)).toMatchObject({ status: 200 })
    await expect.poll(statements, { timeout: 30_000 }).toBe(0)
    const [connections] = await owner.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where usename = 'cordon_serve' and application_name = 'cordon'`,
    )
    expect(connections?.n).toBeLessThanOrEqual(4)
    expect(reported).toEqual([])
  })
})

describe('requests that the server refuses', () => {
  let stage: PostgresStage
  let id = ''
  beforeAll(async () => {
    stage = await open({ limits: LONG })
    id = (
      (
        await stage.ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
          body: { tool: 'look', agent: 'agent-1', input: {} },
        })
      ).json as { readonly id: string }
    ).id
  })

  test('an output larger than the limit of answers fails alone, and the next request is answered', async () => {
    const { ask, owner, reported } = stage
    const other = (
      (
        await ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
          body: { tool: 'look', agent: 'agent-1', input: {} },
        })
      ).json as { readonly id: string }
    ).id
    await owner.query(`update agents.tool_invocations set output = to_jsonb(repeat('x', 70000000)) where id = $1`, [id])
    expect(await ask('agent-1', 'GET', `/v1/invocations/${id}`)).toMatchObject({
      status: 500,
      json: { code: 'store-answer-too-large', fix: expect.any(String) as string },
    })
    expect(await ask('agent-1', 'GET', `/v1/invocations/${other}`)).toMatchObject({ status: 200 })
    expect(reported).toMatchObject([{ code: 'store-answer-too-large' }])
  })

  test('unread answers are limited for each caller, and a caller that reads is answered', async () => {
    const small = await open({
      limits: LONG,
      shares: { bytes: { caller: 3_000_000, team: 5_000_000, all: 100_000_000 } },
    })
    const { ask, raw, port, tokens, owner } = small
    const large = (
      (
        await ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
          body: { tool: 'look', agent: 'agent-1', input: {} },
        })
      ).json as { readonly id: string }
    ).id
    await owner.query(`update agents.tool_invocations set output = to_jsonb(repeat('x', 1400000)) where id = $1`, [
      large,
    ])
    // More than the kernel keeps for who does not read: what is behind it stays with the server.
    const lazy = Array.from({ length: 8 }, () =>
      raw(
        (
          `GET /v1/invocations/${large} HTTP/1.1\r\nHost: 127.0.0.1:${String(port)}\r\nAuthorization: Bearer ` +
          `${tokens.anna}\r\n\r\n`
        ).repeat(6),
      ).pause(),
    )
    await expect
      .poll(async () => (await ask('anna', 'GET', `/v1/invocations/${large}`)).json)
      .toMatchObject({ code: 'store-busy', detail: expect.stringContaining('on their way') as string })
    expect(await ask('agent-1', 'GET', `/v1/invocations/${large}`)).toMatchObject({ status: 200 })
    for (const each of lazy) each.destroy()
    await expect.poll(async () => (await ask('anna', 'GET', `/v1/invocations/${large}`)).status).toBe(200)
  })

  test('pending bodies are limited for each caller, and a body that fits is answered', async () => {
    const small = await open({
      limits: LONG,
      shares: { bytes: { caller: 3_000_000, team: 5_000_000, all: 100_000_000 } },
    })
    const { ask, raw, port, tokens } = small
    let begun: ReturnType<typeof raw> | undefined
    let isOver = false
    /** One that met a question of this test is begun again. */
    const begin = (): void => {
      begun = raw(
        `POST /v1/teams/acme/invocations HTTP/1.1\r\nHost: 127.0.0.1:${String(port)}\r\nAuthorization: ` +
          `Bearer ${tokens['agent-1']}\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n{`,
      )
      begun.resume()
      begun.on('close', () => {
        if (!isOver) begin()
      })
    }
    begin()
    const call = (who: 'agent-1' | 'ada', path: string, body: object) => ask(who, 'POST', path, { body })
    await expect
      .poll(
        async () =>
          (await call('agent-1', '/v1/teams/acme/invocations', { tool: 'look', agent: 'agent-1', input: {} })).json,
      )
      .toMatchObject({ code: 'store-busy' })
    expect(await call('ada', '/v1/teams/acme/profiles', { name: 'fits' })).toMatchObject({ status: 204 })
    isOver = true
    begun?.destroy()
    await expect
      .poll(
        async () =>
          (await call('agent-1', '/v1/teams/acme/invocations', { tool: 'look', agent: 'agent-1', input: {} })).status,
      )
      .toBe(200)
  })

  test('a connection that the database closes fails only its own request', async () => {
    const { ask, owner, lock, statements, reported } = stage
    const release = await lock(HELD_TABLE)
    const asked = ask('anna', 'GET', HELD)
    await expect.poll(() => statements('%standing_approvals%')).toBe(1)
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'cordon_serve' and query like ` +
        `'%standing_approvals%' and state = 'active'`,
    )
    expect(await asked).toMatchObject({
      status: 503,
      headers: { 'retry-after': '2' },
      json: {
        code: 'store-unavailable',
        detail: 'the store at this server cannot be reached: its database does not answer',
      },
    })
    // What became of it is for the log.
    expect(reported.at(-1)).toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('administrator command') as string,
    })
    await release()
    expect(await ask('anna', 'GET', HELD)).toMatchObject({ status: 200 })
  })

  test('the report of a runner is limited, and a usual one fits', async () => {
    const { ask } = stage
    const fresh = (
      (
        await ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
          body: { tool: 'look', agent: 'agent-1', input: {} },
        })
      ).json as { readonly id: string }
    ).id
    expect(await ask('host-1', 'POST', '/v1/runners/host-1/heartbeat', { body: {} })).toMatchObject({ status: 204 })
    expect(await ask('host-1', 'POST', '/v1/runners/host-1/claims', { body: { id: fresh } })).toMatchObject({
      status: 200,
      json: [{ id: fresh, fence: '1' }],
    })
    const complete = (usage: object) =>
      ask('host-1', 'POST', `/v1/invocations/${fresh}/completion`, { body: { fence: '1', status: 'completed', usage } })
    expect(await complete({ notes: 'x'.repeat(70_000) })).toMatchObject({
      status: 400,
      json: { code: 'request-invalid', detail: expect.stringContaining('usage') as string },
    })
    expect(await complete({ wall_ms: 1 })).toMatchObject({ status: 204 })
    expect(
      await ask('ada', 'POST', '/v1/teams/acme/tools', {
        body: { key: 'huge', inputSchema: { title: 'x'.repeat(300_000) } },
      }),
    ).toMatchObject({ status: 400 })
  })
})
