// Mode, rules and tools that change while a runtime lives, and what a running call gives its caller.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { loadRules } from '../../src/gate/index.js'
import type { ApprovalGrant } from '../../src/gate/index.js'
import { parseAbsolutePath } from '../../src/policy/index.js'
import { createCordon, processTool, tool } from '../../src/runtime/index.js'
import type { CordonEvent, StreamPart } from '../../src/runtime/index.js'

import { asWritten, eventsOf, openStage } from './stage.js'

const stage = openStage()
const LIBRARY = new URL('../../dist/bundle/library/runtime.js', import.meta.url).href
const PLACES = { workspace: parseAbsolutePath(stage.workspace), home: parseAbsolutePath(stage.workspace) }

const add = tool({
  name: 'add',
  input: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  inProcess: true,
  policy: { risk: 'high' },
  run: ({ a }) => a + 1,
})
const double = tool({ name: 'double', inProcess: true, policy: { risk: 'low' }, run: ({ a }: { a: number }) => 2 * a })
const ALLOW = [{ effect: 'allow', tool: ['add'], because: 'test' }] as const
const DENY_ADD = [{ effect: 'deny', tool: 'add', because: 'not now' }] as const

const open = (options = {}) => stage.cordon({ tools: [add], mode: 'default', rules: [ALLOW], ...options })
const changesIn = (events: readonly CordonEvent[]) =>
  events.flatMap((event) => (event.type === 'policy.changed' ? [[event.change, event.because, event.tool]] : []))

describe('a change of a session', () => {
  test('of its mode holds for the next call, and is an event', async () => {
    const cordon = await open({ rules: [], approve: () => ({ kind: 'deny', by: 'ann', reason: 'no' }) })
    const events = eventsOf(cordon)
    const first = await cordon.evaluate('add', { a: 1 })
    await cordon.setMode('plan')
    const second = await cordon.evaluate('add', { a: 1 })
    expect([first.decision.decision, second.decision.decision]).toEqual(['ask', 'deny'])
    expect(cordon.state().mode).toBe('plan')
    expect(changesIn(events)).toEqual([['mode', 'the host set the mode plan', null]])
  })

  test('of its mode is refused if managed rules do not permit it, and nothing changes', async () => {
    const cordon = await open({
      rules: [loadRules('modes: [default]', 'managed.yaml', { source: 'managed', places: PLACES })],
    })
    const events = eventsOf(cordon)
    await expect(cordon.setMode('on_request')).rejects.toMatchObject({ code: 'mode-not-permitted' })
    expect(cordon.state().mode).toBe('default')
    expect(events).toEqual([])
  })

  test('of its rules adds and removes them by name', async () => {
    const cordon = await open()
    const events = eventsOf(cordon)
    expect((await cordon.call('add', { a: 1 })).status).toBe('ok')
    await cordon.addRules('evening', DENY_ADD)
    expect(await cordon.call('add', { a: 1 })).toMatchObject({ status: 'denied' })
    await cordon.removeRules('evening')
    expect((await cordon.call('add', { a: 1 })).status).toBe('ok')
    expect(changesIn(events).map(([, because]) => because)).toEqual([
      'the host added the rules "evening"',
      'the host removed the rules "evening"',
    ])
  })

  test('that names a tool or rules that are not there is refused with a hint', async () => {
    const cordon = await open()
    const misspelt = [{ effect: 'deny', tool: 'ad', because: 'x' }] as const
    await expect(cordon.addRules('a', misspelt)).rejects.toMatchObject({ code: 'tool-unknown-here' })
    await expect(cordon.removeRules('evenin')).rejects.toMatchObject({ code: 'change-refused' })
    await expect(cordon.removeTool('ad')).rejects.toMatchObject({ fix: 'did you mean "add"?' })
    await expect(cordon.addTool(add)).rejects.toMatchObject({ code: 'tool-name-invalid' })
    expect((await cordon.call('add', { a: 1 })).status).toBe('ok')
  })

  test('of its tools adds one that can be called and listed, and removes it', async () => {
    const cordon = await open()
    const name: string = 'double'
    expect(await cordon.call(name, { a: 2 })).toMatchObject({ status: 'denied' })
    await cordon.addTool(double)
    await cordon.addRules('more', [{ effect: 'allow', tool: 'double', because: 'test' }])
    expect(await cordon.call(name, { a: 2 })).toMatchObject({ status: 'ok', output: 4 })
    expect(cordon.listTools().map((each) => each.name)).toEqual(['add', 'double'])
    await cordon.removeTool('double')
    expect(await cordon.call(name, { a: 2 })).toMatchObject({ status: 'denied' })
    expect(cordon.listTools().map((each) => each.name)).toEqual(['add'])
  })

  test('of a tool with another policy uses a cell of that policy, and not one that was ready for the old tool', async () => {
    const folder = stage.newFolder()
    const list = (policy: object) => processTool({ name: 'list', policy, command: () => ['/bin/ls', folder] })
    const cordon = await stage.cordon({ tools: [list({ filesystem: { read: [folder] } })] })
    for (let i = 0; i < 2; i++) expect((await cordon.call('list')).status).toBe('ok')
    await cordon.removeTool('list')
    await cordon.addTool(list({}))
    for (let i = 0; i < 2; i++) expect((await cordon.call('list')).status).not.toBe('ok')
  })

  test('refuses a call that was being decided, so that no decision by old rules lets it run', async () => {
    let answer = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    let reached = (): void => undefined
    const waiting = new Promise<void>((resolve) => {
      reached = resolve
    })
    const cordon = await open({
      rules: [],
      approve: async () => {
        reached()
        await asked
        return { kind: 'approve_once', by: 'ann' } as const
      },
    })
    const call = cordon.call('add', { a: 1 })
    await waiting
    await cordon.addRules('late', DENY_ADD)
    answer()
    const result = await call
    expect(result).toMatchObject({ status: 'denied', facts: { error: { code: 'call-outdated' } } })
    expect(result.reason).toBe('The rules have changed. Make the call again.')
  })

  test('refuses a call that is decided and has not begun, so that nothing starts after the change', async () => {
    const cordon = await stage.cordon({ tools: [processTool({ name: 'true', command: () => ['/bin/true'] })] })
    const events = eventsOf(cordon)
    let changed: Promise<void> | undefined
    cordon.on('tool.called', () => {
      changed ??= cordon.addRules('late', [{ effect: 'deny', tool: 'true', because: 'not now' }])
    })
    const result = await cordon.call('true')
    await changed
    expect(result).toMatchObject({ status: 'not_started', facts: { error: { code: 'call-outdated' } } })
    expect(events.map(({ type }) => type)).not.toContain('process.completed')
  })

  test('of a tool forgets the approvals for the old one', async () => {
    let asked = 0
    const approve = () => {
      asked += 1
      return { kind: 'approve_for_scope', by: 'ann' } as const
    }
    const cordon = await open({ rules: [], approve })
    for (let i = 0; i < 2; i++) await cordon.call('add', { a: 1 })
    expect(asked).toBe(1)
    await cordon.removeTool('add')
    await cordon.addTool(tool({ name: 'add', inProcess: true, policy: { risk: 'high' }, run: () => 'other code' }))
    await cordon.call('add', { a: 1 })
    expect(asked).toBe(2)
  })

  test('refuses a mode that does not exist', async () => {
    const cordon = await open()
    await expect(cordon.setMode('nonsense' as 'plan')).rejects.toMatchObject({ code: 'option-invalid' })
  })

  test('that cannot be recorded does not take place', async () => {
    const folder = stage.newFolder()
    const cordon = await open({ audit: { path: join(folder, 'audit.jsonl') } })
    rmSync(folder, { recursive: true })
    await expect(cordon.addRules('late', DENY_ADD)).rejects.toMatchObject({ code: 'audit-unwritable' })
    await expect(cordon.setMode('plan')).rejects.toMatchObject({ code: 'audit-unwritable' })
    expect((await cordon.evaluate('add', { a: 1 })).decision.decision).toBe('allow')
  })

  test('does not let an approval for one call be used twice', async () => {
    const cordon = await open({ rules: [], approve: () => ({ kind: 'deny', by: 'ann', reason: 'no' }) })
    const { decision } = await cordon.evaluate('add', { a: 1 })
    const approvals: ApprovalGrant[] = [
      {
        approval_action_id: 'one',
        tool: 'add',
        scope: 'call',
        status: 'active',
        approved_by: 'ann',
        arguments_hash: decision.arguments_hash ?? '',
        policy_hash: decision.policy_hash ?? '',
        expires_at: Date.now() + 60_000,
      },
    ]
    expect((await cordon.call('add', { a: 1 }, { approvals })).status).toBe('ok')
    await cordon.setMode('untrusted')
    expect((await cordon.call('add', { a: 1 }, { approvals })).status).toBe('denied')
  })
})

describe('a result', () => {
  test('has the rules that took part in its decision, and session.started has all', async () => {
    let all = 0
    const cordon = await open({
      rules: [[...ALLOW, { effect: 'deny', tool: 'add', arguments: { a: 99 }, because: 'x' }]],
      onEvent: (event: CordonEvent) => {
        if (event.type === 'session.started') all = event.permission_state.rules.length
      },
    })
    const { facts } = await cordon.call('add', { a: 1 })
    expect(facts.permission_state.rules.map(({ because }) => because)).toEqual(['test'])
    expect(all).toBe(2)
  })
})

describe('a function tool', () => {
  const context = asWritten(`async ({ a }, { callId, session, logger, progress }) => {
    progress(a); logger.warn('careful', { a }); logger.info('plain'); return { callId, session }
  }`)

  test.each([
    ['in a cell', {}],
    ['in process', { inProcess: true }],
  ])('%s gets the id of its call, its session, which is recorded, and a logger', async (_, where) => {
    const cordon = await stage.cordon({ tools: [tool({ name: 'tell', run: context, ...where })], mode: 'bypass' })
    const lines: unknown[] = []
    const sessions: unknown[] = []
    cordon.on('tool.called', ({ session }) => sessions.push(session))
    const result = await cordon.call(
      'tell',
      { a: 1 },
      {
        session: 'evening',
        onLog: (line) => {
          lines.push(line)
        },
      },
    )
    expect(result).toMatchObject({ status: 'ok', output: { callId: result.facts.call_id, session: 'evening' } })
    expect(sessions).toEqual(['evening'])
    expect(lines).toEqual([
      { level: 'warn', message: 'careful', data: { a: 1 } },
      { level: 'info', message: 'plain' },
    ])
    expect(result.facts.printed).toBe('[warn] careful {"a":1}\n[info] plain\n')
  })
})

describe('a stream of a call', () => {
  const speak = processTool({ name: 'speak', command: () => ['/bin/sh', '-c', 'echo one; echo two >&2'] })

  test('gives output and the result last', async () => {
    const cordon = await stage.cordon({ tools: [speak] })
    const parts: StreamPart[] = []
    for await (const part of cordon.callStream('speak')) parts.push(part)
    expect(parts.at(-1)).toMatchObject({ kind: 'result', result: { status: 'ok' } })
    const text = parts.map((part) => (part.kind === 'output' ? part.text : '')).join('')
    expect([...text.split('\n')].sort()).toEqual(['', 'one', 'two'])
  })

  test('cancels the call if its reader leaves early, and begins it only when it is read', async () => {
    const slow = processTool({ name: 'slow', command: () => ['/bin/sh', '-c', 'echo begun; sleep 60'] })
    const cordon = await stage.cordon({ tools: [slow] })
    const events = eventsOf(cordon)
    cordon.callStream('slow')
    expect(events).toEqual([])
    for await (const part of cordon.callStream('slow')) if (part.kind === 'output') break
    expect(events.find(({ type }) => type === 'tool.completed')).toMatchObject({ status: 'cancelled' })
  })

  test('throws the error that call would throw', async () => {
    const cordon = await stage.cordon({ tools: [speak] })
    await cordon.close()
    await expect(cordon.callStream('speak').next()).rejects.toMatchObject({ code: 'runtime-closed' })
  })
})

describe('a process tool with base64', () => {
  test('gives the bytes of its output, also while it runs', async () => {
    const raw = processTool({ name: 'raw', encoding: 'base64', command: () => ['printf', '\\377\\000x'] })
    const cordon = await stage.cordon({ tools: [raw] })
    const pieces: Buffer[] = []
    const result = await cordon.call('raw', {}, { onOutput: ({ text }) => pieces.push(Buffer.from(text, 'base64')) })
    const bytes = Buffer.from([255, 0, 120])
    expect(result.output).toMatchObject({ stdout: bytes.toString('base64') })
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true)
  })
})

describe('a runtime', () => {
  test('that nobody closed does not keep its program alive', () => {
    const program = `
      import { createCordon, processTool, tool } from ${JSON.stringify(LIBRARY)}
      const cordon = await createCordon({
        tools: [processTool({ name: 'true', command: () => ['/bin/true'] }), tool({ name: 'one', run: () => 1 })],
        workspace: process.cwd(), mode: 'on_request', audit: { path: process.cwd() + '/log/audit.jsonl' },
      })
      await cordon.prewarm()
      await cordon.prewarm('one')
      await cordon.prewarm('true', {})
      for (const name of ['true', 'one', 'true', 'one']) console.log((await cordon.call(name)).status)`
    const folder = stage.newFolder()
    writeFileSync(join(folder, 'program.mjs'), program)
    const ran = spawnSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8', timeout: 120_000 })
    expect(ran).toMatchObject({ status: 0, signal: null, stdout: 'ok\n'.repeat(4) })
  })

  test('has a cell ready after prewarm, and refuses to prewarm a tool that it does not have', async () => {
    const cordon = await stage.cordon({ tools: [add, processTool({ name: 'true', command: () => ['/bin/true'] })] })
    await cordon.prewarm('true', {})
    expect((await cordon.call('true')).status).toBe('ok')
    await expect(cordon.prewarm('tru')).rejects.toMatchObject({ fix: 'did you mean "true"?' })
  })

  test('tells onEvent of its start', async () => {
    const seen: string[] = []
    await open({
      onEvent: (event: CordonEvent) => {
        seen.push(event.type)
      },
    })
    expect(seen).toEqual(['session.started'])
  })

  test('closes at the end of its scope with await using', async () => {
    const seen: string[] = []
    {
      await using cordon = await createCordon({
        tools: [add],
        workspace: stage.workspace,
        ruleFiles: 'none',
        onEvent: ({ type }) => {
          seen.push(type)
        },
      })
      expect(cordon.listTools()).toHaveLength(1)
    }
    expect(seen.at(-1)).toBe('session.ended')
  })
})
