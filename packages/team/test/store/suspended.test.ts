// Suspended calls whose approval is in the registry of a team, on a real database of either kind.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import type { Mode } from 'cordon/gate'
import { createCordon, processTool } from 'cordon'
import type { Approve, Cordon, PendingResult, ToolResult } from 'cordon'
import { teamRegistry } from '@cordon/team'
import { addMember, assignTool, registerTool, requireInvocation, speakingAs } from '../../src/store/index.js'
import type { Engine, Role } from '../../src/store/index.js'

import { describeEngines, openEngine } from './engines.js'
import { perform } from './perform.js'

describeEngines('a suspended call in the registry of a team', (name) => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-suspended-')))
  const key = randomBytes(32)
  const outside = join(realpathSync(mkdtempSync(join(tmpdir(), 'cordon-outside-'))), 'secret')
  writeFileSync(outside, 'secret')
  let engine: Engine
  let close: () => Promise<void>
  const open: Cordon[] = []
  const as = (role: Role, actor: string) => speakingAs(engine, { kind: 'gateway', role, actor })
  const [admin, anna] = [() => as('cordon_admin', 'ada'), () => as('cordon_operator', 'anna')]

  beforeAll(async () => {
    ;({ engine, close } = await openEngine(name))
    await addMember(as('service_role', 'founder'), 'team', 'ada', 'admin')
    for (const [actor, kind] of [
      ['anna', 'operator'],
      ['agent-1', 'agent'],
      ['agent-1', 'runner'],
    ] as const)
      await addMember(admin(), 'team', actor, kind)
    const note = { owner: 'team', key: 'note', egressClass: 'write', requiresApproval: true } as const
    await assignTool(admin(), 'agent-1', await registerTool(admin(), note))
    for (const key of ['look', 'peek']) {
      const free = { owner: 'team', key, egressClass: 'none', requiresApproval: false } as const
      await assignTool(admin(), 'agent-1', await registerTool(admin(), free))
    }
  })
  afterAll(async () => {
    await Promise.all(open.map((each) => each.close()))
    await close()
    for (const folder of [workspace, dirname(outside)]) rmSync(folder, { recursive: true, force: true })
  })

  /** Each one stands for another process of the agent. */
  const start = async (
    effectOfLook: 'allow' | 'ask' = 'allow',
    mode: Mode = 'default',
    approve?: Approve,
  ): Promise<Cordon> => {
    const cordon = await createCordon({
      ...(approve === undefined ? {} : { approve }),
      workspace,
      home: workspace,
      ruleFiles: 'none',
      telemetry: 'off',
      tickets: { key },
      mode,
      registry: teamRegistry({ engine, owner: 'team', agent: 'agent-1', runner: 'runtime', speaks: 'gateway' }),
      rules: [
        [
          { effect: 'allow', tool: 'note', because: 'the registry decides' },
          { effect: effectOfLook, tool: 'look', because: 'the test says so' },
        ],
      ],
      tools: [
        processTool({ name: 'look', command: () => ['true'] }),
        processTool({ name: 'peek', command: () => ['cat', outside] }),
        processTool({
          name: 'note',
          input: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
          policy: { filesystem: { write: ['.'] } },
          command: ({ file }) => ['sh', '-c', 'echo noted >> "$0"', file],
        }),
      ],
    })
    open.push(cordon)
    return cordon
  }
  const suspend = async (file: string): Promise<PendingResult> => {
    const result: ToolResult = await (await start()).call('note' as string, { file }, { onAsk: 'suspend' })
    return result.status === 'pending' ? result : expect.fail(`${result.status}: ${String(result.reason)}`)
  }
  const decide = async ({ approval: { invocation } }: PendingResult, isYes: boolean): Promise<void> => {
    const id = invocation ?? ''
    const asked = (await perform(anna(), 'listQuestions', { team: 'team' })).find(({ subjectId }) => subjectId === id)
    if (isYes) await perform(anna(), 'approve', { id, shownHash: asked?.argumentsHash ?? '' })
    else await perform(anna(), 'reject', { id, reason: 'not today' })
  }

  test('waits there without a process, and runs once in another one after somebody approved it', async () => {
    const pending = await suspend('yes')
    expect(pending.approval.invocation).not.toBeNull()
    const other = await start()
    expect(await other.resume(pending.ticket)).toMatchObject({ status: 'pending' })
    expect(existsSync(join(workspace, 'yes'))).toBe(false)
    await decide(pending, true)
    expect(await other.resume(pending.ticket)).toMatchObject({ status: 'ok' })
    // The result is in the registry. Whoever shows the ticket again gets that, and nothing runs.
    await (await start()).resume(pending.ticket)
    expect(readFileSync(join(workspace, 'yes'), 'utf8')).toBe('noted\n')
    expect(await requireInvocation(admin(), pending.approval.invocation ?? '')).toMatchObject({ status: 'completed' })
  })

  test.each(['on_request', 'on_failure', 'bypass'] as const)('waits for people in the mode %s, too', async (mode) => {
    const cordon = await start('allow', mode)
    const result: ToolResult = await cordon.call('note' as string, { file: mode }, { onAsk: 'suspend' })
    expect(result.status).toBe('pending')
    if (result.status === 'pending') await decide(result, true)
    expect(await cordon.resume((result as PendingResult).ticket)).toMatchObject({ status: 'ok' })
    expect(readFileSync(join(workspace, mode), 'utf8')).toBe('noted\n')
  })

  test('runs once if its ticket is resumed twice at the same time', async () => {
    const pending = await suspend('twice')
    await decide(pending, true)
    const other = await start()
    const outcomes = await Promise.allSettled([other.resume(pending.ticket), other.resume(pending.ticket)])
    expect(
      outcomes.map((each) => (each.status === 'fulfilled' ? each.value.status : (each.reason as unknown))),
    ).toMatchObject(['ok', { code: 'ticket-refused' }])
    expect(readFileSync(join(workspace, 'twice'), 'utf8')).toBe('noted\n')
    expect(await requireInvocation(admin(), pending.approval.invocation ?? '')).toMatchObject({ status: 'completed' })
  })

  test('never runs again with a wider policy, which is not the registered one', async () => {
    let questions = 0
    const cordon = await start('allow', 'on_failure', () => {
      questions += 1
      return { kind: 'approve_once', by: 'ann' }
    })
    expect(await cordon.call('peek' as string)).toMatchObject({ status: 'violated' })
    expect(questions).toBe(0)
  })

  test('does not run after somebody rejected it', async () => {
    const pending = await suspend('no')
    await decide(pending, false)
    expect(await (await start()).resume(pending.ticket)).toMatchObject({ status: 'denied' })
    expect(existsSync(join(workspace, 'no'))).toBe(false)
  })

  test('takes no answer from the agent, whose approvals are given in the registry', async () => {
    const pending = await suspend('own')
    const resumed = (await start()).resume(pending.ticket, { kind: 'approve_once', by: 'agent-1' })
    await expect(resumed).rejects.toMatchObject({ code: 'ticket-refused' })
    expect(existsSync(join(workspace, 'own'))).toBe(false)
    await decide(pending, false)
  })

  test('is denied if only a rule of the runtime asks, because the registry has nobody who answers that', async () => {
    const asking = await start('ask')
    expect(await asking.call('look' as string, {}, { onAsk: 'suspend' })).toMatchObject({
      status: 'denied',
      reason: expect.stringContaining('there is nobody to ask') as string,
    })
    const allowing = await start('allow')
    expect(await allowing.call('look' as string, {}, { onAsk: 'suspend' })).toMatchObject({ status: 'ok' })
  })
})
