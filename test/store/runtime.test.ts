// A runtime whose calls are in the books of a team: real cells, a real database of either kind.
import { mkdtempSync, readFileSync, existsSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createCordon, processTool, tool } from '../../src/runtime/index.js'
import type { Cordon } from '../../src/runtime/index.js'
import { addMember, approveInvocation, assignTool, cancelInvocation, listQuestions, registerTool, rejectInvocation, requireInvocation, speakingAs } from '../../src/store/index.js'
import type { Engine, Role } from '../../src/store/index.js'

import { ENGINES, openEngine } from './engines.js'

describe.each(ENGINES)('calls in the books of a team, on %s', (name) => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-books-')))
  let engine: Engine
  let close: () => Promise<void>
  const as = (role: Role, actor: string) => speakingAs(engine, { kind: 'gateway', role, actor })
  const anna = () => as('cordon_operator', 'anna')
  const admin = () => as('cordon_admin', 'ada')

  beforeAll(async () => {
    ({ engine, close } = await openEngine(name))
    await addMember(as('service_role', 'founder'), 'team', 'ada', 'admin')
    for (const [actor, kind] of [['anna', 'operator'], ['agent-1', 'agent'], ['agent-1', 'runner']] as const) await addMember(admin(), 'team', actor, kind)
    for (const [key, egressClass, requiresApproval] of [['add', 'none', false], ['many', 'none', false], ['note', 'write', true]] as const)
      await assignTool(admin(), 'agent-1', await registerTool(admin(), { owner: 'team', key, egressClass, requiresApproval }))
  }, 120_000)
  afterAll(async () => {
    await close()
    rmSync(workspace, { recursive: true, force: true })
  })

  const open = (): Promise<Cordon> =>
    createCordon({
      workspace,
      mode: 'default',
      registry: { engine, owner: 'team', agent: 'agent-1', runner: 'runtime', speaks: 'gateway' },
      // What the registry allows is allowed here; what it asks about is asked there.
      rules: [{ rules: [{ effect: 'allow', tool: ['add', 'many', 'note', 'unlisted'], because: 'the registry decides' }] }],
      tools: [
        tool({ name: 'add', description: 'adds', input: { type: 'object' }, policy: {}, run: ({ a, b }: { a: number; b: number }) => a + b }),
        processTool({ name: 'note', description: 'writes', input: { type: 'object' }, policy: { filesystem: { write: ['.'] } }, command: ({ file }: { file: string }) => ['sh', '-c', 'echo noted > "$0"', file] }),
        tool({ name: 'many', description: 'answers a lot', input: { type: 'object' }, policy: {}, run: ({ count }: { count: number }) => Array.from({ length: count }, () => 1e300) }),
        tool({ name: 'unlisted', description: 'is in no registry', input: { type: 'object' }, policy: {}, run: () => 1 }),
      ],
    })
  const withCordon = async (work: (cordon: Cordon) => Promise<void>): Promise<void> => {
    const cordon = await open()
    try {
      await work(cordon)
    } finally {
      await cordon.close()
    }
  }
  test('a result that the books do not take ends the call as failed, and says so to its caller and in the books; a smaller one is kept', async () => {
    await withCordon(async (cordon) => {
      const ids: string[] = []
      const call = (count: number) => cordon.call('many', { count }, { onInvocation: (id) => ids.push(id) })
      // Some 400 KB, and 18 MB once every digit is written.
      expect(await call(60_000)).toMatchObject({ status: 'failed', reason: expect.stringContaining('could not be kept') as string })
      expect(await requireInvocation(admin(), ids[0] ?? '')).toMatchObject({ status: 'failed', output: null, error: expect.stringMatching(/^result-not-kept: .*larger than 16 MB/) as string })
      expect(await call(10)).toMatchObject({ status: 'ok' })
      expect(await requireInvocation(admin(), ids[1] ?? '')).toMatchObject({ status: 'completed', output: Array.from({ length: 10 }, () => 1e300) })
    })
  })

  const question = async (): Promise<{ readonly id: string; readonly hash: string }> => {
    await expect.poll(async () => (await listQuestions(anna())).length).toBe(1)
    const [asked] = await listQuestions(anna())
    return { id: asked?.subjectId ?? '', hash: asked?.argumentsHash ?? '' }
  }
  const rowsOf = (key: string) => engine.query<{ status: string; output: unknown; input: unknown; usage: Record<string, unknown> | null }>('select * from agents.tool_invocations where tool_key = $1 order by created_at', [key])

  test('one that needs nobody runs at once, and its result is there', async () => {
    await withCordon(async (cordon) => {
      expect(await cordon.call('add', { a: 2, b: 3 })).toMatchObject({ status: 'ok', output: 5 })
    })
    expect(await rowsOf('add')).toMatchObject([{ status: 'completed', output: 5, input: { a: 2, b: 3 }, usage: { status: 'ok' } }])
  })

  test('one that writes waits for a person, and runs when they say yes', async () => {
    await withCordon(async (cordon) => {
      const result = cordon.call('note', { file: 'yes.txt' })
      const { id, hash } = await question()
      expect(existsSync(join(workspace, 'yes.txt'))).toBe(false)
      await approveInvocation(anna(), id, hash)
      expect(await result).toMatchObject({ status: 'ok' })
      expect((await result).facts.permission_decision).toMatchObject({ decision: 'allow' })
      expect(readFileSync(join(workspace, 'yes.txt'), 'utf8')).toBe('noted\n')
      expect(await requireInvocation(anna(), id)).toMatchObject({ status: 'completed', approvalDecidedBy: 'anna' })
    })
  })

  test('one that is rejected does not run, and says why', async () => {
    await withCordon(async (cordon) => {
      const result = cordon.call('note', { file: 'no.txt' })
      await rejectInvocation(anna(), (await question()).id, 'not this file')
      expect(await result).toMatchObject({ status: 'denied', reason: expect.stringContaining('not this file') as string })
      expect(existsSync(join(workspace, 'no.txt'))).toBe(false)
    })
  })

  test('one of a tool that the team does not have is refused', async () => {
    await withCordon(async (cordon) => {
      expect(await cordon.call('unlisted', {})).toMatchObject({ status: 'denied' })
    })
  })

  test('one whose caller went away is gone on with by another, and runs once', async () => {
    const first = await open()
    void first.call('note', { file: 'later.txt' }).catch(() => undefined)
    const { id, hash } = await question()
    await approveInvocation(anna(), id, hash).catch(() => undefined)
    await expect.poll(() => existsSync(join(workspace, 'later.txt'))).toBe(true)
    await expect.poll(async () => (await requireInvocation(anna(), id)).status).toBe('completed')
    await first.close()
    await withCordon(async (second) => {
      // It is done: whoever goes on with it does not run it again.
      expect(await second.call('note', { file: 'later.txt' }, { invocation: id })).toMatchObject({ status: 'failed' })
      expect(await second.call('note', { file: 'other.txt' }, { invocation: id })).toMatchObject({ status: 'denied' })
    })
  })

  test('one that is cancelled while people are asked is not asked about any more', async () => {
    await withCordon(async (cordon) => {
      const given = new AbortController()
      const result = cordon.call('note', { file: 'never.txt' }, { signal: given.signal })
      await question()
      given.abort()
      expect(await result).toMatchObject({ status: 'denied' })
      await expect.poll(async () => (await listQuestions(anna())).length).toBe(0)
    })
  })

  test('a stop of the team reaches a runtime that is already open', async () => {
    await withCordon(async (cordon) => {
      await as('cordon_operator', 'anna').query(`select agents.fn_stop('team', 'kill', 'incident')`)
      expect(await cordon.call('add', { a: 1, b: 1 })).toMatchObject({ status: 'denied', reason: expect.stringContaining('stopped') as string })
      await as('cordon_operator', 'anna').query(`select agents.fn_resume('team')`)
      expect(await cordon.call('add', { a: 1, b: 1 })).toMatchObject({ status: 'ok' })
    })
  })

  test('trying a call asks nobody', async () => {
    const before = (await rowsOf('note')).length
    await withCordon(async (cordon) => {
      await cordon.evaluate('note', { file: 'tried.txt' })
    })
    expect((await rowsOf('note')).length).toBe(before)
    await expect(cancelInvocation(anna(), '00000000-0000-0000-0000-000000000000')).rejects.toMatchObject({ code: 'store-missing' })
  })
})
