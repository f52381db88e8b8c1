import { randomBytes } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { sealText } from '../../src/gate/index.js'
import { tool } from '../../src/runtime/index.js'
import type { CordonOptions } from '../../src/runtime/index.js'

import { openStage } from './stage.js'

const { cordon } = openStage()
const key = randomBytes(32)

const TOOLS = [
  tool({ name: 'fetch', inProcess: true, policy: { risk: 'low' }, run: () => 'fetched' }),
  tool({
    name: 'commit',
    inProcess: true,
    policy: { risk: 'low' },
    constraints: { maxInvocations: 2, onlyAfter: ['fetch'] },
    run: () => 'done',
  }),
  tool({ name: 'never', inProcess: true, policy: { risk: 'low' }, constraints: { forbidden: true }, run: () => 'ran' }),
  tool({ name: 'risky', inProcess: true, policy: { risk: 'high' }, run: () => 'ran' }),
]
const open = (options: Partial<CordonOptions> = {}) =>
  cordon({ tools: TOOLS, mode: 'default', state: { key }, ...options })
const resume = (text: string, options: Partial<CordonOptions> = {}) =>
  open({ state: { key, resume: text }, ...options })

describe('a runtime that continues with the state of another', () => {
  test('continues its counts and its prerequisites', async () => {
    const first = await open()
    await first.call('fetch', {})
    await first.call('commit', {})
    const second = await resume(first.exportState())
    expect((await second.call('commit', {})).status).toBe('ok')
    expect(await second.call('commit', {})).toMatchObject({
      status: 'denied',
      facts: { error: { code: 'tool-exhausted' } },
    })
    expect(await second.call('never', {})).toMatchObject({
      status: 'denied',
      facts: { error: { code: 'tool-forbidden' } },
    })
    expect(await (await open()).call('commit', {})).toMatchObject({
      status: 'denied',
      facts: { error: { code: 'tool-too-early' } },
    })
  })

  test('keeps sessions apart', async () => {
    const first = await open()
    await first.call('fetch', {}, { session: 'one' })
    const second = await resume(first.exportState())
    expect((await second.call('commit', {}, { session: 'one' })).status).toBe('ok')
    expect((await second.call('commit', {}, { session: 'two' })).status).toBe('denied')
  })

  test(
    'asks nobody again about what was approved for the session, but for other arguments, in another session, ' +
      'or under another policy',
    async () => {
      let asked = 0
      const approve = () => {
        asked += 1
        return { kind: 'approve_for_scope', by: 'ann' } as const
      }
      const first = await open({ approve })
      await first.call('risky', { n: 1 })
      const state = first.exportState()
      const second = await resume(state, { approve })
      expect(await second.call('risky', { n: 1 })).toMatchObject({
        status: 'ok',
        facts: { permission_decision: { decision_source: 'approver' } },
      })
      expect(asked).toBe(1)
      await second.call('risky', { n: 2 })
      await second.call('risky', { n: 1 }, { session: 'another' })
      expect(asked).toBe(3)
      const changed = await resume(state, {
        approve,
        tools: [tool({ name: 'risky', inProcess: true, policy: { risk: 'critical' }, run: () => 'ran' })],
      })
      await changed.call('risky', { n: 1 })
      expect(asked).toBe(4)
    },
  )

  test('records the state from which it continues', async () => {
    const first = await open()
    const { session_id: id } = (await first.call('fetch', {})).facts
    const second = await resume(first.exportState())
    expect((await second.call('fetch', {})).facts.session_id).not.toBe(id)
  })

  test('counts a call that was running when the state was taken as started', async () => {
    let finish: () => void = () => undefined
    const slow = tool({
      name: 'slow',
      inProcess: true,
      policy: { risk: 'low' },
      constraints: { maxInvocations: 1 },
      run: () => new Promise<void>((resolve) => (finish = resolve)),
    })
    const first = await open({ tools: [slow] })
    const call = first.call('slow', {})
    await new Promise((resolve) => setTimeout(resolve, 50))
    const second = await resume(first.exportState(), { tools: [slow] })
    expect((await second.call('slow', {})).status).toBe('denied')
    finish()
    expect((await call).status).toBe('ok')
  })

  test('shares nothing with another runtime from the same state', async () => {
    const first = await open()
    await first.call('fetch', {})
    const state = first.exportState()
    const [one, two] = await Promise.all([resume(state), resume(state)])
    await Promise.all([one.call('commit', {}), one.call('commit', {})])
    expect((await one.call('commit', {})).status).toBe('denied')
    expect((await two.call('commit', {})).status).toBe('ok')
  })

  test('starts only the remaining number of concurrent calls', async () => {
    const first = await open()
    await first.call('fetch', {})
    const second = await resume(first.exportState())
    const results = await Promise.all(Array.from({ length: 10 }, () => second.call('commit', {})))
    expect(results.filter(({ status }) => status === 'ok')).toHaveLength(2)
  })
})

describe('a state is refused', () => {
  const good = async () => (await open()).exportState()
  const changed = (text: string) => {
    const [form, payload = '', seal] = text.split('.')
    const state = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    return [form, Buffer.from(JSON.stringify({ ...state, used: [1] })).toString('base64url'), seal].join('.')
  }

  test.each<readonly [string, (text: string) => string]>([
    ['that was changed', changed],
    ['that lost its end', (text) => text.slice(0, -8)],
    ['that is a permit', (text) => text.replace('cordon-session-1', 'cordon-permit-1')],
    ['that is none', () => 'anything'],
    ['that is empty', () => ''],
    [
      'of another version',
      () =>
        sealText('cordon-session-1', { version: 2, session_id: 's', exported_at: 't', sessions: [], used: [] }, key),
    ],
    [
      'with a key that nobody knows',
      () =>
        sealText(
          'cordon-session-1',
          { version: 1, session_id: 's', exported_at: 't', sessions: [], used: [], more: 1 },
          key,
        ),
    ],
    [
      'with a count below nothing',
      () =>
        sealText(
          'cordon-session-1',
          {
            version: 1,
            session_id: 's',
            exported_at: 't',
            sessions: [
              {
                name: 'main',
                invocation: {
                  version: 1,
                  tools: [{ tool: 'commit', started: -1, completed: 0 }],
                  last: null,
                  began_at: null,
                },
                approvals: [],
              },
            ],
            used: [],
          },
          key,
        ),
    ],
    [
      'with one session twice',
      () =>
        sealText(
          'cordon-session-1',
          {
            version: 1,
            session_id: 's',
            exported_at: 't',
            sessions: [0, 1].map(() => ({
              name: 'main',
              invocation: { version: 1, tools: [], last: null, began_at: null },
              approvals: [],
            })),
            used: [],
          },
          key,
        ),
    ],
  ])('%s', async (_name, spoil) => {
    await expect(resume(spoil(await good()))).rejects.toMatchObject({ code: 'state-refused' })
  })

  test('under another key, a short key, and no key', async () => {
    const text = await good()
    await expect(open({ state: { key: randomBytes(32), resume: text } })).rejects.toMatchObject({
      code: 'state-refused',
      message: 'the state of the session was changed, or signed with another key',
    })
    await expect(open({ state: { key: randomBytes(31) } })).rejects.toMatchObject({ code: 'state-refused' })
    const { exportState } = await cordon({ tools: TOOLS })
    expect(() => exportState()).toThrow(expect.objectContaining({ code: 'state-refused' }))
  })
})

describe('an approval of one call', () => {
  const grantFor = async () => {
    const runtime = await open()
    const { decision } = await runtime.evaluate('risky', { n: 1 })
    return {
      approval_action_id: 'approval-1',
      tool: 'risky',
      arguments_hash: decision.arguments_hash ?? '',
      policy_hash: decision.policy_hash ?? '',
      scope: 'call',
      expires_at: Date.now() + 60_000,
      status: 'active',
      approved_by: 'ann',
    } as const
  }

  test('allows one run, also with concurrent calls, another session or a restart', async () => {
    const approvals = [await grantFor()]
    const runtime = await open()
    expect((await runtime.evaluate('risky', { n: 1 })).kind).toBe('refused')
    const results = await Promise.all([1, 2, 3].map(() => runtime.call('risky', { n: 1 }, { approvals })))
    expect(results.map(({ status }) => status).toSorted()).toEqual(['denied', 'denied', 'ok'])
    expect((await runtime.call('risky', { n: 1 }, { approvals, session: 'another' })).status).toBe('denied')
    expect((await (await resume(runtime.exportState())).call('risky', { n: 1 }, { approvals })).status).toBe('denied')
  })

  test('does not apply to other arguments, and an invalid text is refused', async () => {
    const grant = await grantFor()
    const runtime = await open()
    expect((await runtime.call('risky', { n: 2 }, { approvals: [grant] })).status).toBe('denied')
    await expect(runtime.call('risky', { n: 1 }, { approvals: ['yes' as never] })).rejects.toMatchObject({
      code: 'policy-not-an-object',
    })
    expect((await runtime.call('risky', { n: 1 }, { approvals: [grant] })).status).toBe('ok')
  })
})
