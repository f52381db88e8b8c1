// Output of a running call, followed through a server: as events, only by members who may see the call, from any id.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import type { ClientRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createCordon, processTool } from 'cordon'

import { teamRegistry } from '@cordon/team'
import { IN_MATRIX } from '../../../../test/turns.js'
import { openPostgresStage } from './postgres-stage.js'
import type { PostgresStage, Somebody } from './postgres-stage.js'

const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-live-')))
let stage: PostgresStage
beforeAll(async () => {
  stage = await openPostgresStage({
    connections: 6,
    limits: { statementMs: 20_000, lockMs: 20_000, idleMs: 20_000, connectMs: 10_000 },
  })
  await stage.ask('ada', 'POST', '/v1/teams/acme/members', { body: { actor: 'agent-2', kind: 'agent' } })
})
afterAll(async () => {
  await stage.close()
  rmSync(workspace, { recursive: true, force: true })
})

const invoke = async (): Promise<string> =>
  (
    (
      await stage.ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
        body: { tool: 'look', agent: 'agent-1', input: {} },
      })
    ).json as { readonly id: string }
  ).id
const take = async (id: string): Promise<string> => {
  await stage.ask('host-1', 'POST', '/v1/runners/host-1/heartbeat', { body: {} })
  const { json } = await stage.ask('host-1', 'POST', '/v1/runners/host-1/claims', { body: { id } })
  return (json as readonly { readonly fence: string }[])[0]?.fence ?? ''
}
const say = (id: string, content: string, more: object = {}) =>
  stage.ask('host-1', 'POST', `/v1/invocations/${id}/output`, {
    body: { fence: '1', stream: 'stdout', content, ...more },
  })
const complete = (id: string) =>
  stage.ask('host-1', 'POST', `/v1/invocations/${id}/completion`, {
    body: { fence: '1', status: 'completed', output: { lines: 2 } },
  })

interface Followed {
  readonly sent: ClientRequest
  readonly text: () => string
  readonly status: Promise<number>
  readonly ended: Promise<void>
}
const follow = (
  who: Somebody,
  id: string,
  { query = '', headers = {} }: { readonly query?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Followed => {
  let text = ''
  let over = (): void => undefined
  const ended = new Promise<void>((resolve) => {
    over = resolve
  })
  let begun = (_status: number): void => undefined
  const status = new Promise<number>((resolve) => {
    begun = resolve
  })
  const sent = get(
    {
      host: '127.0.0.1',
      port: stage.port,
      path: `/v1/invocations/${id}/output${query}`,
      agent: false,
      headers: { authorization: `Bearer ${stage.tokens[who]}`, accept: 'text/event-stream', ...headers },
    },
    (answer) => {
      begun(answer.statusCode ?? 0)
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8')
      })
      answer.on('close', over)
      answer.on('error', () => undefined)
    },
  )
  sent.on('error', () => {
    over()
  })
  return { sent, status, ended, text: () => text }
}
/** Without signs of life. */
const eventsOf = (text: string): readonly string[] =>
  text.split('\n\n').filter((event) => event.startsWith('id: ') || event.startsWith('event: '))

describe('the output of a call', () => {
  test('arrives as it is written, in order, until the call has ended', async () => {
    const id = await invoke()
    const followed = follow('agent-1', id)
    expect(await followed.status).toBe(200)
    await take(id)
    await say(id, 'one\n')
    await expect
      .poll(() => eventsOf(followed.text()))
      .toEqual(['id: 1.1\nevent: item\ndata: {"stream":"stdout","content":"one\\n","skipped":0}'])
    await say(id, 'two\u2028\n\nthree', { stream: 'stderr', skipped: 7 })
    await expect.poll(() => eventsOf(followed.text()).length).toBe(2)
    await complete(id)
    await followed.ended
    expect(eventsOf(followed.text()).slice(1)).toEqual([
      'id: 1.2\nevent: item\ndata: {"stream":"stderr","content":"two\u2028\\n\\nthree","skipped":7}',
      'event: end\ndata: {"status":"completed"}',
    ])
  })

  test('stops for a revoked token, and continues for another token of the same agent', async () => {
    const id = await invoke()
    await take(id)
    await say(id, 'before')
    const tokenOf = async () =>
      (await stage.ask('ada', 'POST', '/v1/teams/acme/tokens', { body: { actor: 'agent-1' } })).json as {
        readonly id: string
        readonly token: string
      }
    const [lost, kept] = [await tokenOf(), await tokenOf()]
    const [cut, whole] = [lost, kept].map(({ token }) =>
      follow('agent-1', id, { headers: { authorization: `Bearer ${token}` } }),
    )
    for (const each of [cut, whole]) await expect.poll(() => each?.text()).toContain('before')
    expect(await stage.ask('ada', 'DELETE', `/v1/tokens/${lost.id}`)).toMatchObject({ status: 204 })
    await say(id, 'after')
    await cut?.ended
    expect(eventsOf(cut?.text() ?? '')).toEqual([
      expect.stringContaining('before'),
      expect.stringContaining('event: problem'),
    ])
    await expect.poll(() => whole?.text()).toContain('after')
    await complete(id)
    await whole?.ended
  })

  test('can be read with any number of missing pieces', async () => {
    const id = await invoke()
    await take(id)
    expect(await say(id, 'x', { skipped: Number.MAX_SAFE_INTEGER })).toMatchObject({ status: 204 })
    expect(await stage.ask('agent-1', 'GET', `/v1/invocations/${id}/output`)).toMatchObject({
      status: 200,
      json: { chunks: [{ content: 'x', skipped: Number.MAX_SAFE_INTEGER }] },
    })
    await expect(
      stage.owner.query(
        'insert into agents.invocation_output (invocation_id, fence, sequence, stream, content, skipped) ' +
          `values ($1, 1, 9, 'stdout', 'y', 9223372036854775807)`,
        [id],
      ),
    ).rejects.toMatchObject({ code: 'store-state' })
    await complete(id)
  })

  test('continues after an id, by header or query, and as plain JSON', async () => {
    const id = await invoke()
    await take(id)
    for (const word of ['a', 'b', 'c']) await say(id, word)
    await complete(id)
    for (const how of [{ headers: { 'last-event-id': '1.2' } }, { query: '?after=1.2' }]) {
      const followed = follow('agent-1', id, how)
      await followed.ended
      expect(eventsOf(followed.text())).toEqual([
        'id: 1.3\nevent: item\ndata: {"stream":"stdout","content":"c","skipped":0}',
        'event: end\ndata: {"status":"completed"}',
      ])
    }
    expect(await stage.ask('agent-1', 'GET', `/v1/invocations/${id}/output?after=1.1`)).toMatchObject({
      status: 200,
      json: {
        after: '1.3',
        status: 'completed',
        isOver: true,
        chunks: [
          { content: 'b', mark: '1.2' },
          { content: 'c', mark: '1.3' },
        ],
      },
    })
    for (const after of ['1', 'x.1', '1.1;', '-1.1', '1.99999999999'])
      expect(await stage.ask('agent-1', 'GET', `/v1/invocations/${id}/output?after=${after}`), after).toMatchObject({
        status: 400,
        json: { code: 'request-invalid' },
      })
    expect(await follow('agent-1', id, { headers: { 'last-event-id': "1.1' or true --" } }).status).toBe(400)
  })

  test('is visible only to members who see the call', async () => {
    const id = await invoke()
    await take(id)
    await say(id, 'secret')
    for (const who of ['zoe', 'host-1'] as const) {
      const followed = follow(who, id)
      // A runner sees what it runs.
      expect(await followed.status, who).toBe(who === 'zoe' ? 404 : 200)
      if (who === 'zoe') await followed.ended
      if (who === 'zoe') expect(followed.text()).not.toContain('secret')
      followed.sent.destroy()
    }
    const watched = follow('anna', id)
    await expect.poll(() => watched.text()).toContain('secret')
    watched.sent.destroy()
    expect(await follow('agent-1', '0190c5d4-6f6a-7c3e-9f0a-1b2c3d4e5f60').status).toBe(404)
  })

  test('comes from its runner, with the fence of its claim, in pieces of limited length', async () => {
    const id = await invoke()
    await take(id)
    expect(await say(id, 'x', { fence: '2' })).toMatchObject({ status: 409, json: { code: 'store-state' } })
    expect(
      await stage.ask('agent-1', 'POST', `/v1/invocations/${id}/output`, {
        body: { fence: '1', stream: 'stdout', content: 'x' },
      }),
    ).toMatchObject({ status: 409, json: { code: 'store-state' } })
    expect(await say(id, 'x'.repeat(8_193))).toMatchObject({ status: 400 })
    expect(await say(id, 'x'.repeat(8_192))).toMatchObject({ status: 204 })
    for (let number = 0; number < 40; number += 1) await say(id, String(number))
    const { json } = await stage.ask('agent-1', 'GET', `/v1/invocations/${id}/output`)
    // The last of it is kept; the marks say that there was more.
    expect((json as { readonly chunks: readonly { readonly mark: string }[] }).chunks.map(({ mark }) => mark)).toEqual(
      Array.from({ length: 32 }, (_, at) => `1.${String(at + 10)}`),
    )
  })

  test('does not wake clients that wait for something else', async () => {
    const id = await invoke()
    const first = await stage.ask('agent-1', 'GET', `/v1/invocations/${id}`)
    await take(id)
    const running = await stage.ask('agent-1', 'GET', `/v1/invocations/${id}`, {
      headers: { 'if-none-match': String(first.headers.etag), 'prefer': 'wait=20' },
    })
    const waiting = stage.ask('agent-1', 'GET', `/v1/invocations/${id}`, {
      headers: { 'if-none-match': String(running.headers.etag), 'prefer': 'wait=2' },
    })
    await say(id, 'x')
    expect(await waiting).toMatchObject({ status: 304 })
  })

  test('leaves no statement and no seat behind after many listeners', IN_MATRIX, async () => {
    const id = await invoke()
    await take(id)
    for (let round = 0; round < 4; round += 1) {
      const many = Array.from({ length: 50 }, () => follow('agent-1', id))
      expect(new Set(await Promise.all(many.map(({ status }) => status)))).toEqual(new Set([200]))
      await say(id, String(round))
      for (const { sent } of many) sent.destroy()
    }
    await expect.poll(() => stage.statements()).toBe(0)
    expect(await stage.ask('agent-1', 'GET', '/v1/me')).toMatchObject({ status: 200 })
    expect(stage.reported).toEqual([])
  })
})

test('of another host reaches the caller of a runtime once and in order, before the call has ended', async () => {
  const cordon = await createCordon({
    workspace,
    tools: [
      processTool({
        name: 'look',
        description: 'looks',
        input: { type: 'object' },
        policy: {},
        command: () => ['true'],
      }),
    ],
    rules: [{ rules: [{ effect: 'allow', tool: ['look'], because: 'the team decides' }] }],
    registry: teamRegistry({
      server: stage.served.addresses[0] ?? '',
      token: stage.tokens['agent-1'],
      owner: 'acme',
      agent: 'agent-1',
      runner: 'caller',
      execution: 'runners',
    }),
  })
  const heard: string[] = []
  let id = ''
  const called = cordon.call(
    'look',
    {},
    {
      onInvocation: (known) => {
        id = known
      },
      onOutput: ({ stream, text }) => {
        heard.push(`${stream} ${text}`)
      },
    },
  )
  await expect.poll(() => id).not.toBe('')
  await take(id)
  await say(id, 'one')
  await expect.poll(() => heard).toEqual(['stdout one'])
  await say(id, 'two', { stream: 'stderr' })
  await say(id, 'three')
  await complete(id)
  expect(await called).toMatchObject({ status: 'ok', output: { lines: 2 } })
  expect(heard).toEqual(['stdout one', 'stderr two', 'stdout three'])
  await cordon.close()
})
