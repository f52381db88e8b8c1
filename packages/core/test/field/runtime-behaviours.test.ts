import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { pathRead } from '../../src/gate/index.js'
import type { Hook, JsonValue } from '../../src/gate/index.js'
import { processTool, tool } from '../../src/runtime/index.js'
import type { CordonEvent } from '../../src/runtime/index.js'
import { READ, asWritten, eventsOf, openStage } from '../runtime/stage.js'

const { workspace, newFolder, cordon } = openStage()

const hook = (name: string, point: Hook['points'][number], run: Hook['run']): Hook => ({
  name,
  points: [point],
  source: 'session',
  run,
})
const ECHO = tool({
  name: 'echo',
  inProcess: true,
  policy: { risk: 'low', filesystem: { read: ['/granted/**'] } },
  run: (input: JsonValue) => input,
})

describe('hooks', () => {
  const edit = hook('edit', 'pre_tool_use', ({ input }) =>
    (input as { path: string }).path === '/granted/a' ? { updatedInput: { path: '/granted/b' } } : undefined,
  )
  const deny = hook('deny', 'pre_tool_use', ({ input }) =>
    (input as { path: string }).path === '/granted/b' ? { decision: 'deny', reason: 'not b' } : undefined,
  )

  test.each([
    ['first', [edit, deny]],
    ['last', [deny, edit]],
  ])('an edit by the first hook does not hide a denial by the second, in either order', async (_order, hooks) => {
    const runtime = await cordon({ tools: [ECHO], hooks })
    expect(await runtime.call('echo', { path: '/granted/a' })).toMatchObject({
      status: 'denied',
      facts: { error: { code: 'hook-denied' } },
    })
    expect(await runtime.call('echo', { path: '/granted/c' })).toMatchObject({ status: 'ok' })
  })

  test('a hook that replaces the tool gives the result, and nothing runs', async () => {
    let ran = 0
    const counted = tool({ name: 'counted', inProcess: true, policy: { risk: 'low' }, run: () => (ran += 1) })
    const runtime = await cordon({
      tools: [counted],
      hooks: [hook('cache', 'pre_tool_use', () => ({ result: 'kept' }))],
    })
    expect(await runtime.call('counted', {})).toMatchObject({
      status: 'ok',
      output: 'kept',
      facts: { sandbox_profile: null },
    })
    expect(ran).toBe(0)
  })

  test("the gate judges an approver's edit again", async () => {
    const rules = [[{ effect: 'ask', tool: 'echo', because: 'look' }]] as const
    const runtime = await cordon({
      tools: [ECHO],
      rules,
      approve: () => ({ kind: 'modify', by: 'ann', input: { path: '/etc/shadow' } }),
    })
    expect(await runtime.call('echo', { path: '/granted/a' })).toMatchObject({
      status: 'denied',
      facts: { error: { code: 'argument-path-denied' } },
    })
  })

  test('a denied call runs nothing, calls no result hook, and is reported as denied once', async () => {
    let ran = 0
    const asked: string[] = []
    const counted = tool({
      name: 'counted',
      inProcess: true,
      policy: { risk: 'low', filesystem: { read: ['/granted/**'] } },
      run: () => (ran += 1),
    })
    const runtime = await cordon({
      tools: [counted],
      hooks: (['pre_tool_use', 'post_tool_use', 'post_tool_failure'] as const).map((point) =>
        hook(point, point, () => void asked.push(point)),
      ),
    })
    const seen = eventsOf(runtime)
    await runtime.call('counted', { path: '/etc/passwd' })
    expect([ran, asked]).toEqual([0, []])
    expect(seen.filter(({ type }) => type === 'tool.denied')).toMatchObject([
      { risk: 'low', used_declared_capability: false },
    ])
    expect(seen.some(({ type }) => type === 'tool.called' || type === 'tool.completed')).toBe(false)
  })
})

describe('a boundary', () => {
  test('is violated when the kernel refuses a file to a program', async () => {
    const secret = join(newFolder(), 'secret')
    writeFileSync(secret, 'SECRET')
    const cat = processTool({
      name: 'cat',
      argumentGate: 'off',
      command: ({ path }: { readonly path: string }) => ['/bin/cat', path],
    })
    const runtime = await cordon({ tools: [cat] })
    expect(await runtime.call('cat', { path: secret })).toMatchObject({
      status: 'violated',
      facts: { violations: [{ kind: 'file', access: 'read', path: secret }] },
    })
    expect(await runtime.call('cat', { path: '/etc/hostname-that-does-not-exist' })).toMatchObject({ status: 'failed' })
  })

  test('passes no variable of the host to a tool that declares none', async () => {
    const print = processTool({ name: 'env', command: () => ['/usr/bin/env'] })
    const runtime = await cordon({ tools: [print], environment: { OPENAI_API_KEY: 'sk-secret', HOME: '/root' } })
    expect(JSON.stringify((await runtime.call('env', {})).output)).not.toMatch(/OPENAI|sk-secret|HOME=\/root/)
  })

  test('is never dropped because the host cannot enforce it', async () => {
    const impossible = tool({ name: 'impossible', policy: { require: ['broker'] }, run: () => 'ran' })
    const result = await (await cordon({ tools: [impossible] })).call('impossible', {})
    expect(result).toMatchObject({ status: 'not_started', facts: { sandbox_profile: null } })
    expect(result.output).toBeUndefined()
  })

  test('is recorded, and enforced, if a result says sandboxed', async () => {
    const runtime = await cordon({ tools: [tool({ name: 'add', run: ({ a }: { a: number }) => a })] })
    const seen = eventsOf(runtime)
    const { facts } = await runtime.call('add', { a: 1 })
    expect(facts.permission_decision.decision).toBe('sandboxed')
    expect(facts.sandbox_profile).toMatchObject({
      mode: 'sandboxed',
      read_roots: expect.any(Array) as unknown,
      enforced: expect.any(Object) as unknown,
    })
    const recorded = seen.find(
      (event): event is Extract<CordonEvent, { type: 'sandbox.applied' }> => event.type === 'sandbox.applied',
    )
    expect(recorded?.sandbox_profile.enforced).toEqual(facts.sandbox_profile?.enforced)
  })
})

describe('a file that is not granted', () => {
  const folder = newFolder()
  const granted = join(workspace, 'granted')
  mkdirSync(granted, { recursive: true })
  writeFileSync(join(granted, 'open'), 'OPEN')
  writeFileSync(join(folder, 'secret'), 'SECRET')
  symlinkSync(folder, join(granted, 'link'))
  const secret = join(folder, 'secret')
  const up = '../'.repeat(12)
  const spellings = [
    secret,
    `${secret}\0`,
    `${granted}/open\0/../../..${secret}`,
    `\0${secret}`,
    `/${secret}`,
    `//${secret}`,
    `${granted}/../${up}${secret}`,
    `${granted}/./link/secret`,
    `./granted/link/secret`,
    `granted/link/../link/secret`,
    `file://${secret}`,
    `file://localhost${secret}`,
    `FILE:${secret}`,
    encodeURI(secret),
    secret.replaceAll('/', '%2f'),
    secret.replaceAll('/', '%252f'),
    ` ${secret} `,
    `${secret}\n`,
    `\u200b${secret}`,
    `~/../${up}${secret}`,
    `~root/../..${secret}`,
    `/proc/self/root${secret}`,
    `/proc/1/root${secret}`,
    `/dev/fd/../../..${secret}`,
    `${secret}/`,
    `${secret}/.`,
    `${'/'.repeat(5000)}${secret}`,
  ]

  test('cannot be read by any spelling of its path', async () => {
    const policy = { filesystem: { read: [granted] } }
    const raw = asWritten(
      "async ({ path }) => { const { readFileSync } = await import('node:fs'); const tries = [path, " +
        'path.trim(), decodeURIComponent(path)]; for (const each of tries) { try { return readFileSync(each, ' +
        "'utf8') } catch {} try { return readFileSync(new URL(each), 'utf8') } catch {} } return 'nothing' }",
    )
    const runtime = await cordon({
      tools: [
        tool({ name: 'read', policy, run: raw }),
        tool({ name: 'marked', input: { type: 'object', properties: { path: pathRead() } }, policy, run: raw }),
        tool({ name: 'held', argumentGate: 'off', policy, run: raw }),
      ],
    })
    for (const path of spellings) {
      for (const name of ['read', 'marked', 'held'])
        expect(
          JSON.stringify(await runtime.call(name, { path })),
          `${name} ${JSON.stringify(path.slice(-80))}`,
        ).not.toContain('SECRET')
    }
    expect(await runtime.call('marked', { path: 'granted/open' })).toMatchObject({ status: 'ok', output: 'OPEN' })
  })
})

describe('isolation', () => {
  test('concurrent calls of one tool share neither memory, files, input nor progress', async () => {
    const run = asWritten(
      "async ({ n }, { progress }) => { const { writeFileSync, readdirSync } = await import('node:fs'); " +
        "globalThis.seen = [...(globalThis.seen ?? []), n]; writeFileSync('/tmp/' + n, ''); progress(n); await " +
        'new Promise((resolve) => setTimeout(resolve, 100)); return { seen: globalThis.seen, files: ' +
        "readdirSync('/tmp').filter((name) => /^\\d+$/.test(name)) } }",
    )
    const runtime = await cordon({ tools: [tool({ name: 'busy', run })] })
    const results = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const heard: unknown[] = []
        return { n, heard, result: await runtime.call('busy', { n }, { onProgress: (value) => heard.push(value) }) }
      }),
    )
    for (const { n, heard, result } of results) {
      expect(result).toMatchObject({ status: 'ok', output: { seen: [n], files: [String(n)] } })
      expect(heard).toEqual([n])
    }
    expect(new Set(results.map(({ result }) => result.facts.call_id)).size).toBe(8)
  })

  test('two runtimes with a tool of the same name share neither code, sessions, events nor closing', async () => {
    const named = (text: string) =>
      tool({ name: 'same', constraints: { maxInvocations: 1 }, run: asWritten(`() => '${text}'`) })
    const [one, two] = await Promise.all([cordon({ tools: [named('one')] }), cordon({ tools: [named('two')] })])
    const heard = eventsOf(two)
    expect((await one.call('same', {})).output).toBe('one')
    expect(heard).toEqual([])
    await one.close()
    expect((await two.call('same', {})).output).toBe('two')
    await expect(one.call('same', {})).rejects.toMatchObject({ code: 'runtime-closed' })
  })

  test("the record has the host's description of itself, the risk, and whether a declared capability was used", async () => {
    const path = join(newFolder(), 'audit.jsonl')
    const context = {
      request_id: 'r1',
      agent: 'coder',
      skill: 'review',
      provider: 'example',
      model: 'model-1',
    }
    writeFileSync(join(workspace, 'readable'), 'text')
    const runtime = await cordon({
      tools: [tool({ name: 'read', policy: { risk: 'medium', filesystem: { read: ['.'] } }, run: READ })],
      audit: { path },
      context,
    })
    expect(await runtime.call('read', { path: join(workspace, 'readable') })).toMatchObject({
      status: 'ok',
      output: 'text',
    })
    const events = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly event: CordonEvent }).event)
    const decided = events.find((event) => event.type === 'permission.evaluated')
    expect(decided).toMatchObject({ context, permission_decision: { risk: 'medium', used_declared_capability: true } })
  })
})
