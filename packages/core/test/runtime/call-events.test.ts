import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, test } from 'vitest'

import type { Hook } from '../../src/gate/index.js'
import { processTool, tool, verifyAudit } from '../../src/runtime/index.js'
import type { Cordon, CordonEvent } from '../../src/runtime/index.js'

import { READ, eventsOf, openStage } from './stage.js'

const { newFolder, cordon } = openStage()

const readSchema = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8')) as object
const ajv = new Ajv2020({ strict: false, validateFormats: false })
for (const name of ['permission_state', 'permission_decision', 'sandbox_profile'])
  ajv.addSchema(readSchema(name), `${name}.schema.json`)
const isEvent = ajv.compile(readSchema('event'))

const hook = (name: string, point: Hook['points'][number], run: Hook['run']): Hook => ({
  name,
  points: [point],
  source: 'session',
  run,
})
const SH = processTool({
  name: 'sh',
  policy: { limits: { wall: '400ms' } },
  command: ({ script }: { readonly script: string }) => ['/bin/sh', '-c', script],
})
const ADD = tool({ name: 'add', run: ({ a, b }: { a: number; b: number }) => a + b })
const TOOLS = [
  ADD,
  SH,
  tool({ name: 'read', argumentGate: 'off', run: READ }),
  tool({ name: 'risky', policy: { risk: 'high' }, run: () => 'ran' }),
]

const typesOf = (events: readonly CordonEvent[]) => events.map(({ type }) => type)
const callAndSee = async (runtime: Cordon, name: string, input: unknown) => {
  const seen = eventsOf(runtime)
  const result = await runtime.call(name, input)
  return { result, seen: seen.splice(0) }
}

describe('a runtime reports and records', () => {
  test('the end of a call whose run fails by an error that is not from Cordon', async () => {
    const path = join(newFolder(), 'audit.jsonl')
    const broken = processTool({
      name: 'broken',
      command: () => ['/bin/cat'],
      stdin: () => {
        throw new TypeError('no such input')
      },
    })
    const loud = processTool({ name: 'loud', command: () => ['/bin/echo', 'hello'] })
    const runtime = await cordon({ tools: [broken, loud], audit: { path }, mode: 'on_request' })
    const seen = eventsOf(runtime)
    await expect(runtime.call('broken')).rejects.toThrow('no such input')
    expect(typesOf(seen.splice(0))).toEqual(['permission.evaluated', 'tool.called', 'tool.completed'])
    expect((await runtime.call('loud')).status).toBe('ok')
    await runtime.close()
    const ends = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly event: CordonEvent }).event)
      .filter(({ type }) => type === 'tool.completed')
    expect(ends).toMatchObject([
      { tool: 'broken', status: 'not_started', reason: 'no such input', error_code: null },
      { tool: 'loud', status: 'ok' },
    ])
  })

  test('every class of events, each fitting its schema, in an intact log', async () => {
    const path = join(newFolder(), 'audit.jsonl')
    const hooks = [
      hook('guard', 'pre_tool_use', ({ tool: name }) =>
        name === 'read' ? { context: ['careful'], auditRefs: ['ticket-1'] } : undefined,
      ),
      hook('broken', 'pre_tool_use', ({ tool: name }) => {
        if (name === 'sh') throw new Error('cannot say')
      }),
      hook('first', 'session_start', () => ({ context: ['hello'] })),
      hook('last', 'stop', () => undefined),
    ]
    const runtime = await cordon({
      tools: TOOLS,
      audit: { path },
      hooks,
      mode: 'untrusted',
      approve: ({ tool: name }) =>
        name === 'add' ? { kind: 'deny', by: 'ann', reason: 'no' } : { kind: 'approve_for_scope', by: 'ann' },
    })
    expect(runtime.context).toEqual(['hello'])
    expect((await runtime.call('read', { path: '/etc/shadow' })).status).toBe('violated')
    expect((await runtime.call('add', { a: 1, b: 2 })).status).toBe('denied')
    expect((await runtime.call('sh', { script: 'true' })).status).toBe('denied')
    await runtime.close()
    const events = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly event: CordonEvent }).event)
    for (const event of events) expect(isEvent(event), `${event.type}: ${JSON.stringify(isEvent.errors)}`).toBe(true)
    expect([...new Set(typesOf(events))].toSorted()).toEqual([
      'audit.began',
      'hook.completed',
      'hook.failed',
      'hook.started',
      'permission.evaluated',
      'permission.requested',
      'permission.resolved',
      'policy.changed',
      'process.completed',
      'process.started',
      'sandbox.applied',
      'sandbox.violation',
      'session.ended',
      'session.started',
      'tool.called',
      'tool.completed',
      'tool.denied',
    ])
    expect(events.find(({ type }) => type === 'hook.completed')).toMatchObject({
      hook: 'first',
      point: 'session_start',
      decision: 'continue',
      effects: ['context'],
    })
    expect(events.find(({ type }) => type === 'hook.failed')).toMatchObject({
      hook: 'broken',
      problem: 'cannot say',
      tool: 'sh',
    })
    expect(await verifyAudit(path)).toMatchObject({ isIntact: true })
  })

  test('the process of a call, how it ended and what it used', async () => {
    const runtime = await cordon({ tools: TOOLS })
    const { seen } = await callAndSee(runtime, 'sh', { script: 'exit 3' })
    expect(typesOf(seen)).toEqual([
      'permission.evaluated',
      'tool.called',
      'process.started',
      'sandbox.applied',
      'process.completed',
      'tool.completed',
    ])
    expect(seen[2]).toMatchObject({ program: '/bin/sh' })
    expect(seen[4]).toMatchObject({ exit_code: 3 })
    expect(
      (await callAndSee(runtime, 'add', { a: 1, b: 2 })).seen.find(({ type }) => type === 'process.completed'),
    ).toMatchObject({ exit_code: 0 })
    expect(
      (await callAndSee(runtime, 'sh', { script: 'kill -9 $$' })).seen.find(
        ({ type }) => type === 'process.terminated',
      ),
    ).toMatchObject({ because: 'signal', signal: 9 })
    expect(
      (await callAndSee(runtime, 'sh', { script: 'sleep 30' })).seen.find(({ type }) => type === 'process.terminated'),
    ).toMatchObject({ because: 'limit', limit: 'wall' })
  })

  test('that a process was cancelled', async () => {
    const runtime = await cordon({ tools: [SH] })
    const seen = eventsOf(runtime)
    const controller = new AbortController()
    runtime.on('process.started', () => {
      setTimeout(() => {
        controller.abort()
      }, 100)
    })
    await runtime.call('sh', { script: 'sleep 30' }, { signal: controller.signal })
    expect(seen.filter(({ type }) => type === 'process.terminated')).toMatchObject([{ because: 'cancelled' }])
  })

  test('no start of a call that never started: no program, no granted path, no mechanism, no credential', async () => {
    const command = () => ['/bin/true']
    const held = { host: 'api.example.org', header: 'Authorization', format: 'Bearer {value}' }
    const runtime = await cordon({
      tools: [
        processTool({ name: 'program', command: () => ['/no/such/program'] }),
        processTool({ name: 'path', policy: { filesystem: { read: ['/no/such/folder'] } }, command }),
        processTool({ name: 'mechanism', policy: { require: ['cgroup'], limits: { memory: '64M' } }, command }),
        processTool({
          name: 'credential',
          policy: {
            network: ['api.example.org'],
            egress_class: 'read_only',
            credentials: [{ id: 'token', inject: held }],
          },
          command,
        }),
        processTool({ name: 'there', command }),
      ],
      sandbox: { form: 'landlock' },
    })
    for (const name of ['program', 'path', 'credential']) {
      const { result, seen } = await callAndSee(runtime, name, {})
      expect(result, name).toMatchObject({ status: 'not_started', facts: { sandbox_profile: null, usage: null } })
      expect(typesOf(seen), name).toEqual(['permission.evaluated', 'tool.called', 'tool.completed'])
      expect(seen[2]).toMatchObject({ status: 'not_started', error_code: result.facts.error?.code })
      for (const event of seen) expect(isEvent(event), JSON.stringify(isEvent.errors)).toBe(true)
    }
    // Where this host has cgroups the third can start; either way the record tells the same story.
    const { result, seen } = await callAndSee(runtime, 'mechanism', {})
    expect(typesOf(seen).includes('process.started')).toBe(result.status !== 'not_started')
    expect((await callAndSee(runtime, 'there', {})).result.status).toBe('ok')
  })

  test('no process and no sandbox for an in-process tool, whose profile fits the schema', async () => {
    const here = tool({ name: 'here', inProcess: true, policy: { risk: 'low', limits: { wall: '10s' } }, run: () => 1 })
    const { seen, result } = await callAndSee(await cordon({ tools: [here] }), 'here', {})
    expect(typesOf(seen)).toEqual(['permission.evaluated', 'tool.called', 'tool.completed'])
    const isProfile = ajv.compile({ $ref: 'sandbox_profile.schema.json' })
    expect(isProfile(result.facts.sandbox_profile) ? [] : isProfile.errors).toEqual([])
    expect(result.facts.sandbox_profile).toMatchObject({
      mode: 'none',
      enforced: { arguments: ['argument-gate'], filesystem_write: [] },
    })
  })

  test('a call cancelled during an approval as cancelled, and one without an answer as timed out', async () => {
    const asked = {
      tools: [tool({ name: 'risky', policy: { risk: 'high' }, run: () => 'ran' })],
      mode: 'default' as const,
      approve: () => new Promise<never>(() => undefined),
    }
    const resolvedOf = (seen: readonly CordonEvent[]) => seen.find(({ type }) => type === 'permission.resolved')
    for (const isEarly of [true, false]) {
      const runtime = await cordon(asked)
      const seen = eventsOf(runtime)
      const controller = new AbortController()
      if (isEarly) controller.abort()
      else
        runtime.on('permission.requested', () => {
          controller.abort()
        })
      const result = await runtime.call('risky', {}, { signal: controller.signal })
      expect(result).toMatchObject({
        status: 'cancelled',
        reason: 'The call was cancelled.',
        facts: { sandbox_profile: null },
      })
      expect(resolvedOf(seen)).toMatchObject({
        resolution: 'cancelled',
        by: null,
        decision: 'deny',
        reason: 'the call was cancelled by its caller',
      })
      expect(seen.at(-1)).toMatchObject({ type: 'tool.denied', error_code: 'cancelled' })
      for (const event of seen) expect(isEvent(event), JSON.stringify(isEvent.errors)).toBe(true)
    }
    const runtime = await cordon({ ...asked, approval: { timeout: 10 } })
    const seen = eventsOf(runtime)
    expect(await runtime.call('risky', {})).toMatchObject({ status: 'denied' })
    expect(resolvedOf(seen)).toMatchObject({ resolution: 'timed_out' })
  })

  test('a denial once, and nothing that looks like a run', async () => {
    const { seen } = await callAndSee(
      await cordon({ tools: TOOLS, rules: [[{ effect: 'deny', tool: 'add', because: 'closed' }]] }),
      'add',
      { a: 1, b: 2 },
    )
    expect(typesOf(seen)).toEqual(['permission.evaluated', 'tool.denied'])
    expect(seen[1]).toMatchObject({ risk: 'low', used_declared_capability: false, error_code: 'rule-denied' })
  })
})

describe('hooks of a session', () => {
  test('stop the session if they object to its start', async () => {
    await expect(
      cordon({ hooks: [hook('no', 'session_start', () => ({ decision: 'deny', reason: 'not today' }))] }),
    ).rejects.toMatchObject({ code: 'hook-denied' })
    await expect(
      cordon({
        hooks: [
          hook('broken', 'session_start', () => {
            throw new Error('no')
          }),
        ],
      }),
    ).rejects.toMatchObject({ code: 'hook-failed' })
  })

  test('are called for prompts and samples of the host', async () => {
    const seen: unknown[] = []
    const runtime = await cordon({
      hooks: [
        hook('prompt', 'user_prompt_submit', ({ input }) => {
          seen.push(input)
          return { decision: 'block', reason: 'no' }
        }),
      ],
    })
    expect(await runtime.runHooks('user_prompt_submit', { input: 'hello' })).toMatchObject({ kind: 'denied' })
    expect(seen).toEqual(['hello'])
  })

  test('are not called if they cannot be recorded', async () => {
    const path = join(newFolder(), 'audit.jsonl')
    let asked = 0
    const runtime = await cordon({
      tools: TOOLS,
      audit: { path },
      hooks: [
        hook('count', 'pre_tool_use', () => {
          asked += 1
        }),
      ],
    })
    const { rmSync } = await import('node:fs')
    rmSync(path)
    await expect(runtime.call('add', { a: 1, b: 2 })).rejects.toMatchObject({ code: 'audit-broken' })
    expect(asked).toBe(0)
  })
})

describe('OpenTelemetry', () => {
  // Files of tests share a process, which has one of each.
  afterAll(() => {
    trace.disable()
    context.disable()
  })

  test(
    'gets one span of each call with the ids of call and decision, beneath that of the caller, with what ' +
      'happened within',
    async () => {
      const spans = new InMemorySpanExporter()
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
      trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
      const runtime = await cordon({ tools: TOOLS, hooks: [hook('guard', 'pre_tool_use', () => undefined)] })
      const callers = ['one', 'two'].map((name) => trace.getTracer('test').startSpan(name))
      const results = await Promise.all(
        callers.map((caller) =>
          context.with(trace.setSpan(context.active(), caller), () => runtime.call('add', { a: 1, b: 2 })),
        ),
      )
      await runtime.close()
      for (const [at, { facts }] of results.entries()) {
        const own = spans
          .getFinishedSpans()
          .find(({ attributes, name }) => name === 'cordon.call add' && attributes['cordon.call_id'] === facts.call_id)
        expect(own?.attributes).toMatchObject({
          'cordon.decision_id': facts.permission_decision.decision_id,
          'cordon.session_id': facts.session_id,
          'cordon.status': 'ok',
        })
        expect(own?.parentSpanContext?.spanId).toBe(callers[at]?.spanContext().spanId)
        const inner = spans
          .getFinishedSpans()
          .filter(({ parentSpanContext }) => parentSpanContext?.spanId === own?.spanContext().spanId)
        expect(inner.map(({ name }) => name).toSorted()).toEqual(['cordon.hook guard', 'cordon.process'])
      }
    },
  )
})
