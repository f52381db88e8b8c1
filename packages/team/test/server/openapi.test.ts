// Compares the document with a running server: every answer to every operation, good or bad, must fit the document.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv'
import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { NOTHING, OPERATION_NAMES } from '../../src/store/index.js'
import { EVERYBODY, operation } from '../../src/store/operations/operation.js'
import { fields, orNull, text } from 'cordon/shapes'

import { openStage } from './stage.js'
import type { Answer, Asked, Stage } from './stage.js'

interface Described {
  readonly operationId: string
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, Described['responses'][string]>>
  }
}

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

let stage: Stage
let document: Document
let compile: (schema: object) => ValidateFunction
/** `operation status`, of what was asked and answered as described. */
const seen = new Set<string>()

beforeAll(async () => {
  stage = await openStage({ mostBodyBytes: 4_096, shares: { open: { caller: 3, team: 100, all: 1_000 } } })
  document = (await stage.ask('GET', '/openapi.json')).json as Document
  const checker = new Ajv2020({ strict: false, allErrors: true, formats: { 'uuid': UUID, 'date-time': DATE } })
  checker.addSchema({ $id: 'api', components: document.components })
  compile = (schema) =>
    checker.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')) as object)
})
afterAll(async () => {
  await stage.close()
})

const find = (method: string, target: string): Described | undefined => {
  const words = (target.split('?')[0] ?? '').split('/')
  const fits = Object.entries(document.paths).filter(([path, of]) => {
    const parts = path.split('/')
    return (
      of[method.toLowerCase()] !== undefined &&
      parts.length === words.length &&
      parts.every((part, at) => part.startsWith('{') || part === words[at])
    )
  })
  // A path without a place in it is meant before one with it.
  return fits.sort(([one], [other]) => one.split('{').length - other.split('{').length)[0]?.[1][method.toLowerCase()]
}

const check = (method: string, target: string, { status, headers, text, json }: Answer): void => {
  const described = find(method, target)
  const given = described?.responses[String(status)]
  const response = given?.$ref === undefined ? given : document.components.responses[given.$ref.split('/').at(-1) ?? '']
  expect(response, `${method} ${target} answers ${String(status)}: ${text.slice(0, 300)}`).toBeDefined()
  const type = headers['content-type'] ?? ''
  if (response?.content === undefined) expect(text).toBe('')
  else {
    const schema = response.content[type]?.schema
    expect(schema, `${method} ${target} answers ${type}`).toBeDefined()
    const validate = compile(schema ?? {})
    expect({ fits: validate(json), because: validate.errors, answer: json }, `${method} ${target}`).toMatchObject({
      fits: true,
    })
  }
  seen.add(`${described?.operationId ?? ''} ${String(status)}`)
}

const ask = async (
  who: keyof Stage['tokens'] | 'owner' | 'nobody',
  method: string,
  target: string,
  body?: unknown,
  more: Asked = {},
): Promise<unknown> => {
  const asked: Asked = {
    ...more,
    ...(body === undefined ? {} : { body }),
    ...(who === 'owner'
      ? { socket: true, headers: { host: 'localhost', ...more.headers } }
      : who === 'nobody'
        ? {}
        : { token: stage.tokens[who] }),
  }
  const answer = await stage.ask(method, target, asked)
  check(method, target, answer)
  return answer.json
}
const idOf = (answer: unknown): string => (answer as { readonly id: string }).id

describe('the answers of the server fit its document', () => {
  test('for people, stops, profiles, budgets and tokens', async () => {
    await ask('owner', 'POST', '/v1/teams', { team: 'second', admin: 'ada' })
    await ask('anna', 'GET', '/v1/me')
    await ask('ada', 'POST', '/v1/teams/acme/members', { actor: 'vera', kind: 'operator' })
    await ask('ada', 'GET', '/v1/teams/acme/members')
    await ask('ada', 'DELETE', '/v1/teams/acme/members/vera/operator')
    await ask('anna', 'POST', '/v1/teams/acme/stops', {
      scope: 'agent',
      subject: 'agent-2',
      state: 'pause',
      reason: 'later',
    })
    await ask('anna', 'GET', '/v1/teams/acme/stops')
    await ask('anna', 'DELETE', '/v1/teams/acme/stops/agent?subject=agent-2')
    await ask('ada', 'POST', '/v1/teams/acme/profiles', { name: 'plain' })
    await ask('ada', 'POST', '/v1/teams/acme/profiles', {
      name: 'narrow',
      allowTools: ['send'],
      toolGroups: ['mail'],
      denyTools: ['x'],
    })
    await ask('ada', 'GET', '/v1/teams/acme/profiles')
    await ask('ada', 'POST', '/v1/teams/acme/budgets', {
      scope: 'agent',
      subject: 'agent-2',
      seconds: 60,
      maxCalls: 100,
    })
    await ask('ada', 'POST', '/v1/teams/acme/budgets', {
      scope: 'agent',
      subject: 'agent-2',
      seconds: 3600,
      maxCost: 1.5,
    })
    await ask('ada', 'GET', '/v1/teams/acme/budgets')
    await ask('ada', 'POST', '/v1/teams/acme/limits', { agent: 'agent-2', waiting: 50 })
    await ask('ada', 'GET', '/v1/teams/acme/limits')
    await ask('ada', 'DELETE', '/v1/teams/acme/budgets/agent/agent-2/60')
    await ask('ada', 'POST', '/v1/teams/acme/credentials', {
      ref: 'mail',
      sealed: 'c2VhbGVk',
      keyId: '0123456789abcdef',
    })
    await ask('ada', 'GET', '/v1/teams/acme/credentials')
    await ask('ada', 'DELETE', '/v1/teams/acme/credentials/mail')
    const token = idOf(await ask('ada', 'POST', '/v1/teams/acme/tokens', { actor: 'otto', label: 'laptop' }))
    await ask('ada', 'DELETE', `/v1/tokens/${token}`)
    await ask('ada', 'GET', '/v1/teams/acme/tokens')
  })

  test('for tools', async () => {
    await ask('ada', 'POST', '/v1/teams/acme/tools', {
      key: 'look',
      egressClass: 'none',
      requiresApproval: false,
      needsLabels: [],
      definition: { kind: 'process' },
      expectedCost: 0.5,
      prices: { call: 0.1, megabyte: 2 },
    })
    await ask('ada', 'POST', '/v1/teams/acme/tools', {
      key: 'web',
      egressClass: 'read_only',
      endpointUrl: 'https://example.org/',
      httpMethod: 'GET',
      credentialRef: 'web',
    })
    await ask('anna', 'GET', '/v1/teams/acme/tools')
    await ask('anna', 'GET', '/v1/teams/acme/tools/web')
    await ask('ada', 'POST', '/v1/teams/acme/tools', { key: 'web', egressClass: 'read_only', credentialRef: 'other' })
    await ask('anna', 'POST', '/v1/teams/acme/tools/web/approval', { version: 2, reason: 'seen' })
    await ask('ada', 'POST', '/v1/teams/acme/tools/web/status', { status: 'disabled' })
    await ask('ada', 'POST', '/v1/teams/acme/assignments', { agent: 'agent-1', tool: 'look', profile: 'plain' })
    await ask('ada', 'POST', '/v1/teams/acme/assignments', { agent: 'agent-2', tool: 'look' })
    await ask('ada', 'GET', '/v1/teams/acme/assignments')
    await ask('ada', 'DELETE', '/v1/teams/acme/assignments/agent-2/look')
  })

  test('for calls, from request to result', async () => {
    const call = async (input: unknown) =>
      idOf(await ask('agent-1', 'POST', '/v1/teams/acme/invocations', { tool: 'send', agent: 'agent-1', input }))
    const [yes, no, back] = [await call({ to: 'bob' }), await call({ to: 'eve' }), await call({ to: 'mallory' })]
    await ask('anna', 'GET', '/v1/teams/acme/approvals')
    const { question } = (await ask('anna', 'GET', `/v1/approvals/${yes}`)) as {
      readonly question: { readonly argumentsHash: string }
    }
    await ask('anna', 'POST', `/v1/approvals/${yes}/approve`, { shownHash: question.argumentsHash, reason: 'fine' })
    await ask('anna', 'POST', `/v1/approvals/${no}/reject`, { reason: 'not her' })
    await ask('agent-1', 'POST', `/v1/invocations/${back}/cancel`, {})
    await ask('agent-1', 'GET', `/v1/approvals/${yes}`)
    await ask('agent-1', 'POST', '/v1/runners/host/heartbeat', { labels: ['a'], holds: [] })
    const own = { team: 'acme', tool: 'send', version: 1, agent: 'agent-1', input: { to: 'ann' } }
    await ask('agent-1', 'POST', '/v1/runners/host/calls', { ...own, request: randomUUID() })
    const [claimed] = (await ask('agent-1', 'POST', '/v1/runners/host/claims', { id: yes })) as readonly {
      readonly fence: string
    }[]
    const fence = claimed?.fence ?? ''
    await ask('agent-1', 'POST', `/v1/invocations/${yes}/output`, { fence, stream: 'stdout', content: 'sending' })
    await ask('agent-1', 'GET', `/v1/invocations/${yes}/output`)
    await ask('agent-1', 'GET', `/v1/invocations/${yes}`)
    await ask('agent-1', 'POST', `/v1/invocations/${yes}/completion`, {
      fence,
      status: 'completed',
      output: { sent: true },
      usage: { wall_ms: 3 },
      cost: 0.5,
    })
    await ask('agent-1', 'GET', `/v1/invocations/${yes}`)
    await ask('agent-1', 'GET', `/v1/invocations/${yes}/output`)
    await ask('anna', 'GET', `/v1/invocations/${yes}/explanation`)
    await ask('anna', 'GET', `/v1/invocations/${no}/explanation`)
    await ask('anna', 'GET', '/v1/teams/acme/invocations?most=10')
    const form = {
      type: 'object',
      properties: { to: { const: 'carol' } },
      required: ['to'],
      additionalProperties: false,
    }
    const given = idOf(
      await ask('anna', 'POST', '/v1/teams/acme/standing-approvals', {
        tool: 'send',
        arguments: form,
        uses: 2,
        validSeconds: 60,
        reason: 'weekly',
      }),
    )
    await ask('anna', 'GET', '/v1/teams/acme/standing-approvals')
    await call({ to: 'carol' })
    await ask('anna', 'DELETE', `/v1/standing-approvals/${given}`)
  })

  test('for runs', async () => {
    const start = async (name: string) =>
      idOf(
        await ask('agent-1', 'POST', '/v1/teams/acme/runs', {
          name,
          plan: { steps: ['a'] },
          needed: 1,
          validSeconds: 3600,
        }),
      )
    const [yes, no] = [await start('release'), await start('cleanup')]
    await ask('anna', 'GET', '/v1/teams/acme/approvals')
    const { run } = (await ask('anna', 'GET', `/v1/runs/${yes}`)) as { readonly run: { readonly planHash: string } }
    await ask('anna', 'POST', `/v1/approvals/${yes}/approve`, { shownHash: run.planHash })
    await ask('anna', 'POST', `/v1/approvals/${no}/reject`, { reason: 'no' })
    await ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
      tool: 'send',
      agent: 'agent-1',
      input: { to: 'bob' },
      runId: yes,
      stepId: 'a',
    })
    await ask('anna', 'GET', `/v1/runs/${yes}`)
    await ask('agent-1', 'POST', `/v1/runs/${yes}/cancel`, { reason: 'later' })
    await ask('agent-1', 'POST', `/v1/runs/${yes}/cancel`, {})
    await ask('anna', 'GET', '/v1/teams/acme/runs?status=cancelled')
  })

  test('for the audit log and the server itself', async () => {
    await ask('anna', 'GET', '/v1/teams/acme/record?most=500')
    await ask('anna', 'GET', '/v1/record/problems')
    await ask('owner', 'POST', '/v1/record/retention', { keepDays: 400 })
    await ask('nobody', 'GET', '/healthz')
  })

  test('for every kind of refusal', async () => {
    const { id } = await stage.invoke()
    await ask('agent-1', 'POST', '/v1/teams/acme/invocations', { tool: 'send' })
    await ask('nobody', 'GET', '/v1/me')
    await ask('agent-2', 'POST', `/v1/approvals/${id}/approve`, { shownHash: `sha256:${'0'.repeat(64)}` })
    await ask('anna', 'GET', '/v1/invocations/0190c5d4-6f6a-7c3e-9f0a-1b2c3d4e5f60')
    await ask('anna', 'POST', `/v1/approvals/${id}/approve`, { shownHash: `sha256:${'0'.repeat(64)}` })
    await ask('agent-1', 'POST', '/v1/teams/acme/invocations', {
      tool: 'send',
      agent: 'agent-1',
      input: { to: 'x'.repeat(5_000) },
    })
    const known = (await stage.ask('GET', `/v1/invocations/${id}`, { token: stage.tokens['agent-2'] })).headers.etag
    expect(known).toBeUndefined()
    const mark = String((await stage.ask('GET', `/v1/invocations/${id}`, { token: stage.tokens.otto })).headers.etag)
    await ask('otto', 'GET', `/v1/invocations/${id}`, undefined, {
      headers: { 'if-none-match': mark, 'prefer': 'wait=1' },
    })
    const waits = Array.from({ length: 12 }, () =>
      stage.ask('GET', `/v1/invocations/${id}`, {
        token: stage.tokens.otto,
        headers: { 'if-none-match': mark, 'prefer': 'wait=3' },
      }),
    )
    for (const answer of await Promise.all(waits)) check('GET', `/v1/invocations/${id}`, answer)
    for (const status of [304, 404, 429]) expect([...seen]).toContain(`findInvocation ${String(status)}`)
    for (const status of [200, 400, 413]) expect([...seen]).toContain(`invoke ${String(status)}`)
    for (const status of [200, 401]) expect([...seen]).toContain(`whoAmI ${String(status)}`)
    for (const status of [200, 403, 409]) expect([...seen]).toContain(`approve ${String(status)}`)
  })

  test('and no operation is missing', () => {
    const done = OPERATION_NAMES.filter((name) => seen.has(`${name} 200`) || seen.has(`${name} 204`))
    expect([...done].sort()).toEqual([...OPERATION_NAMES].sort())
    expect(stage.reported).toEqual([])
  })
})

test('the comparison finds an additional or a missing field', () => {
  const validate = compile({ $ref: '#/components/schemas/NewToken' })
  const token = { id: '0190c5d4-6f6a-7c3e-9f0a-1b2c3d4e5f60', token: 'cordon_x' }
  expect(validate(token)).toBe(true)
  expect(validate({ ...token, hash: 'x' })).toBe(false)
  expect(validate({ id: token.id })).toBe(false)
  expect(validate({ ...token, id: 1 })).toBe(false)
})

test("a shape that differs from the answer's type does not compile", () => {
  const told = { method: 'GET', path: '/x', summary: 'x', role: 'cordon_agent', who: EVERYBODY, fields: {} } as const
  const perform = () => Promise.resolve({ at: new Date(0), name: 'x' })
  operation({ ...told, answer: fields({ at: text({ format: 'date-time' }), name: text() }), perform })
  // @ts-expect-error a field is missing
  operation({ ...told, answer: fields({ at: text({ format: 'date-time' }) }), perform })
  // @ts-expect-error it may be null, and never is
  operation({ ...told, answer: fields({ at: text({ format: 'date-time' }), name: orNull(text()) }), perform })
  // @ts-expect-error something is answered
  operation({ ...told, answer: NOTHING, perform })
  expect(Object.keys(fields({ at: text({ format: 'date-time' }), name: text() }).schema)).toContain('required')
})

test('all references of the document resolve', () => {
  const text = JSON.stringify(document)
  for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(schemas|responses)\/(\w+)"/g))
    expect(Object.keys(kind === 'schemas' ? document.components.schemas : document.components.responses)).toContain(
      name,
    )
})
