// A call from its caller to its runner, through the operations that Cordon itself uses.
import { afterAll, beforeAll, expect, test } from 'vitest'

import {
  addMember,
  appendOutput,
  assignTool,
  cancelInvocation,
  claimInvocations,
  completeInvocation,
  invokeTool,
  isFinal,
  maintainRegistry,
  listTools,
  registerTool,
  requireInvocation,
  requireTool,
  sendHeartbeat,
  speakingAs,
  watchChanges,
  watchInvocations,
  watchOutput,
} from '../../src/store/index.js'
import type { Changes, Engine, InvocationWatch, OutputChunk, Role } from '../../src/store/index.js'

import { describeEngines, openEngine } from './engines.js'
import { perform } from './perform.js'

describeEngines(
  'a call',
  (name) => {
    let engine: Engine
    let changes: Changes
    let watch: InvocationWatch
    let closeEngine: () => Promise<void>
    let tool = ''
    const as = (role: Role, actor: string) => speakingAs(engine, { kind: 'gateway', role, actor })
    const admin = () => as('cordon_admin', 'ada')
    const agent = () => as('cordon_agent', 'agent-1')
    const anna = () => as('cordon_operator', 'anna')
    const runner = () => as('cordon_runner', 'host-1')

    beforeAll(async () => {
      ;({ engine, close: closeEngine } = await openEngine(name))
      // So long that nothing here passes by asking again: what is told is heard.
      changes = watchChanges(engine, { askAgainMs: 600_000 })
      watch = watchInvocations(changes)
      await addMember(as('service_role', 'founder'), 'team', 'ada', 'admin')
      for (const [actor, kind] of [
        ['anna', 'operator'],
        ['agent-1', 'agent'],
        ['host-1', 'runner'],
      ] as const)
        await addMember(admin(), 'team', actor, kind)
      tool = await registerTool(admin(), {
        owner: 'team',
        key: 'send',
        inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
        definition: { kind: 'process', command: ['true'] },
      })
      await assignTool(admin(), 'agent-1', tool)
      await sendHeartbeat(runner(), { name: 'runner', labels: [], holds: [], isDraining: false })
    })
    afterAll(async () => {
      await changes.close()
      await closeEngine()
    })
    const approve = async (id: string) =>
      perform(anna(), 'approve', { id, shownHash: (await requireInvocation(anna(), id)).inputHash })
    const ask = (to = 'bob') => invokeTool(agent(), { toolId: tool, agent: 'agent-1', input: { to } })

    test('that is refused is recorded with the reason, but not for strangers', async () => {
      const refusals = () =>
        engine.query<{ actor: string; by: string }>(
          `select actor, line::jsonb -> 'details' ->> 'by' as by from agents.audit_events where type = ` +
            `'invocation.refused' order by at`,
        )
      for (let round = 0; round < 3; round += 1)
        await expect(invokeTool(agent(), { toolId: tool, agent: 'agent-1', input: { to: 7 } })).rejects.toMatchObject({
          code: 'store-state',
        })
      await addMember(admin(), 'team', 'agent-2', 'agent')
      await expect(
        invokeTool(as('cordon_agent', 'agent-2'), { toolId: tool, agent: 'agent-2', input: { to: 'bob' } }),
      ).rejects.toMatchObject({ code: 'store-refused' })
      await expect(
        invokeTool(as('cordon_agent', 'stranger'), { toolId: tool, agent: 'stranger', input: { to: 'bob' } }),
      ).rejects.toMatchObject({ code: 'store-refused' })
      expect(await refusals()).toEqual([
        { actor: 'agent-1', by: 'schema' },
        { actor: 'agent-2', by: 'assignment' },
      ])
      expect(
        await engine.query(`select verdict, reason from agents.policy_evaluations where agent = 'agent-2'`),
      ).toMatchObject([{ verdict: 'deny', reason: expect.stringContaining('is not assigned') as string }])
    })

    test('waits for a person, runs, and returns its result to the caller', async () => {
      const id = await ask()
      const approved = watch.wait(agent(), id, { until: ({ status }) => status !== 'pending' })
      const [question] = await perform(anna(), 'listQuestions', { team: 'team' })
      expect(question).toMatchObject({ subjectId: id, askedBy: 'agent-1', needed: 1, agreed: 0 })
      await perform(anna(), 'approve', { id, shownHash: question?.argumentsHash ?? '' })
      expect(await approved).toMatchObject({ status: 'approved', approvalDecidedBy: 'anna' })
      const done = watch.wait(agent(), id, { until: ({ status }) => isFinal(status) })
      const [claimed] = await claimInvocations(runner(), 'runner', { most: 5 })
      expect(claimed).toMatchObject({ id, status: 'running', input: { to: 'bob' }, fence: '1' })
      if (claimed !== undefined)
        await completeInvocation(runner(), claimed, {
          status: 'completed',
          output: { sent: true },
          usage: { wallMs: 3 },
        })
      expect(await done).toMatchObject({ status: 'completed', output: { sent: true } })
      expect(await perform(anna(), 'listQuestions', { team: 'team' })).toEqual([])
    })

    test('that is rejected returns the reason', async () => {
      const id = await ask()
      const over = watch.wait(agent(), id, { until: ({ status }) => isFinal(status) })
      await perform(anna(), 'reject', { id, reason: 'not today' })
      expect(await over).toMatchObject({ status: 'rejected', approvalReason: 'not today' })
    })

    test('can be withdrawn by its caller, and the runner is told', async () => {
      const waiting = await ask()
      expect(await cancelInvocation(agent(), waiting)).toBe('cancelled')
      const running = await ask()
      await approve(running)
      await claimInvocations(runner(), 'runner', { id: running })
      const told = watch.wait(runner(), running, { until: ({ isCancelRequested }) => isCancelRequested })
      expect(await cancelInvocation(agent(), running)).toBe('running')
      await told
    })

    test('can be awaited by another process after the first one is gone', async () => {
      const id = await ask()
      const gone = new AbortController()
      const first = watch.wait(agent(), id, { until: ({ status }) => isFinal(status), signal: gone.signal })
      gone.abort(new Error('gone'))
      await expect(first).rejects.toThrow('gone')
      const others = watchChanges(engine, { askAgainMs: 600_000 })
      const other = watchInvocations(others)
      const second = other.wait(agent(), id, { until: ({ status }) => isFinal(status) })
      await perform(anna(), 'reject', { id, reason: 'no' })
      expect(await second).toMatchObject({ status: 'rejected' })
      await others.close()
    })

    test('is noticed also without a notification', async () => {
      const id = await ask()
      const deaf: Engine = { ...engine, listen: () => Promise.reject(new Error('no listener')) }
      const asking = watchInvocations(watchChanges(deaf, { askAgainMs: 20 }))
      const over = asking.wait(agent(), id, { until: ({ status }) => isFinal(status) })
      await perform(anna(), 'reject', { id, reason: 'no' })
      expect(await over).toMatchObject({ status: 'rejected' })
    })

    test('has output while it runs, which arrives also without a notification', async () => {
      const id = await ask()
      await approve(id)
      await sendHeartbeat(runner(), { name: 'speaker', labels: [], holds: [], isDraining: false })
      const [claimed] = await claimInvocations(runner(), 'speaker', { id })
      const deaf: Engine = { ...engine, listen: () => Promise.reject(new Error('no listener')) }
      for (const [listens, askAgainMs] of [
        [engine, 600_000],
        [deaf, 20],
      ] as const) {
        const hearing = watchChanges(listens, { askAgainMs })
        const heard: string[] = []
        const stop = watchOutput(hearing).follow(agent(), id, ({ content }: OutputChunk) => heard.push(content))
        // What it said before is told as well, so this is said once that is.
        await expect.poll(() => heard.length).toBe(listens === deaf ? 1 : 0)
        await hearing.listening()
        if (claimed !== undefined)
          await appendOutput(runner(), claimed, { stream: 'stdout', content: String(askAgainMs), skipped: 0 })
        await expect.poll(() => heard.at(-1)).toBe(String(askAgainMs))
        await stop()
        await hearing.close()
      }
    })

    test('uses a standing approval', async () => {
      await perform(anna(), 'approveInAdvance', {
        team: 'team',
        tool: 'send',
        arguments: {
          type: 'object',
          properties: { to: { const: 'carol' } },
          required: ['to'],
          additionalProperties: false,
        },
        uses: 1,
        validSeconds: 60,
        reason: 'the weekly mail',
      })
      expect(await requireInvocation(agent(), await ask('carol'))).toMatchObject({
        status: 'approved',
        approvalReason: 'approved in advance',
      })
      expect(await requireInvocation(agent(), await ask('carol'))).toMatchObject({ status: 'pending' })
    })

    test('of a tool that was registered again has its new version', async () => {
      const again = await registerTool(admin(), { owner: 'team', key: 'send', description: 'now with attachments' })
      expect(again).toBe(tool)
      expect(await requireTool(agent(), 'team', 'send')).toMatchObject({
        version: 2,
        egressClass: 'write',
        requiresApproval: true,
      })
      expect((await listTools(agent(), 'team')).map(({ key }) => key)).toEqual(['send'])
      expect(await requireInvocation(agent(), await ask())).toMatchObject({ toolVersion: 2 })
    })

    test('expires if nobody answers in time', async () => {
      const id = await invokeTool(agent(), { toolId: tool, agent: 'agent-1', input: { to: 'dora' }, validMs: 1 })
      await expect.poll(async () => (await maintainRegistry(as('cordon_admin', 'ada'))).expired).toBeGreaterThan(0)
      expect(await requireInvocation(agent(), id)).toMatchObject({ status: 'expired' })
    })

    test('is refused after its tool was revoked', async () => {
      await perform(admin(), 'revokeTool', { team: 'team', agent: 'agent-1', tool: 'send' })
      await expect(ask()).rejects.toMatchObject({ code: 'store-refused' })
      await assignTool(admin(), 'agent-1', tool)
      await ask()
    })
  },
  'every time',
)
