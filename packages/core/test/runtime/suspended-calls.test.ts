// Calls that wait for an approval outside of memory, and go on with a ticket in this or another process.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createCordon, processTool, tool } from '../../src/runtime/index.js'
import type { Cordon, CordonOptions, PendingResult, ToolResult } from '../../src/runtime/index.js'

let workspace: string
const open: Cordon[] = []
const key = randomBytes(32)

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'cordon-suspended-'))
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
  rmSync(workspace, { recursive: true, force: true })
})

const note = (policy = {}) =>
  tool({
    name: 'note',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    policy: { risk: 'high', ...policy },
    run: ({ text }) => `noted ${text}`,
  })

const cordonWith = async (options: Partial<CordonOptions> = {}): Promise<Cordon> => {
  const cordon = await createCordon({
    workspace,
    home: workspace,
    ruleFiles: 'none',
    telemetry: 'off',
    tools: [note()],
    tickets: { key, folder: join(workspace, 'tickets') },
    audit: { path: join(workspace, 'audit.jsonl') },
    ...options,
  })
  open.push(cordon)
  return cordon
}

const pending = (result: ToolResult): PendingResult => {
  if (result.status !== 'pending') throw new Error(`${result.status}: ${String(result.reason)}`)
  return result
}

const suspended = async (cordon: Cordon, text = 'a'): Promise<PendingResult> =>
  pending(await cordon.call('note', { text }, { onAsk: 'suspend' }))

const YES = { kind: 'approve_once', by: 'ann' } as const
const NO = { kind: 'deny', by: 'ann', reason: 'not today' } as const

describe('a suspended call', () => {
  test('returns a ticket at once, and runs nothing', async () => {
    const result = await suspended(await cordonWith())
    expect(result.facts.permission_decision.decision).toBe('ask')
    expect(result.approval.invocation).toBeNull()
    expect(Date.parse(result.approval.expires_at)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    expect(result.facts.sandbox_profile).toBeNull()
  })

  test('runs when somebody approves it', async () => {
    const cordon = await cordonWith()
    const { ticket, facts } = await suspended(cordon)
    const result = await cordon.resume(ticket, YES)
    expect(result).toMatchObject({ status: 'ok', output: 'noted a' })
    expect(result.facts.call_id).toBe(facts.call_id)
  })

  test('goes on in another runtime that has the key and the folder', async () => {
    const first = await cordonWith()
    const { ticket } = await suspended(first)
    await first.close()
    const second = await cordonWith()
    expect(await second.resume(ticket, YES)).toMatchObject({ status: 'ok', output: 'noted a' })
  })

  test('goes on in another process', async () => {
    const { ticket } = await suspended(await cordonWith())
    const script = join(workspace, 'resume.mjs')
    writeFileSync(
      script,
      `import { createCordon, tool } from ${JSON.stringify(join(import.meta.dirname, '../../dist/runtime/index.js'))}
       const cordon = await createCordon({
         workspace: ${JSON.stringify(workspace)}, home: ${JSON.stringify(workspace)}, ruleFiles: 'none', telemetry: 'off',
         tickets: { key: Buffer.from(process.argv[3], 'hex'), folder: ${JSON.stringify(join(workspace, 'tickets'))} },
         tools: [tool({
           name: 'note',
           input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
           policy: { risk: 'high' },
           run: ({ text }) => \`noted \${text}\`,
         })],
       })
       const result = await cordon.resume(process.argv[2], { kind: 'approve_once', by: 'ann' })
       await cordon.close()
       console.log(JSON.stringify([result.status, result.output]))`,
    )
    const out = execFileSync(process.execPath, [script, ticket, key.toString('hex')], { encoding: 'utf8' })
    expect(JSON.parse(out)).toEqual(['ok', 'noted a'])
  })

  test('does not run when somebody denies it, and not afterwards either', async () => {
    const cordon = await cordonWith()
    const { ticket } = await suspended(cordon)
    expect(await cordon.resume(ticket, NO)).toMatchObject({ status: 'denied' })
    await expect(cordon.resume(ticket, YES)).rejects.toMatchObject({ code: 'ticket-refused' })
  })

  test('is recorded from the question to the answer under one call id', async () => {
    const cordon = await cordonWith()
    const { ticket, facts, approval } = await suspended(cordon)
    await cordon.resume(ticket, YES)
    const events = readFileSync(join(workspace, 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: Record<string, unknown> }).event)
      .filter(({ call_id }) => call_id === facts.call_id)
    expect(events.map(({ type }) => type)).toEqual([
      ...['permission.evaluated', 'permission.requested', 'permission.resolved'],
      ...['permission.evaluated', 'tool.called'],
      ...events.map(({ type }) => type).slice(5),
    ])
    expect(events[2]).toMatchObject({ resolution: 'allowed', by: 'ann', approval_action_id: approval.id })
  })

  test('may be approved with another input, which is judged again', async () => {
    const cordon = await cordonWith()
    const { ticket } = await suspended(cordon)
    const result = await cordon.resume(ticket, { kind: 'modify', by: 'ann', input: { text: 'b' } })
    expect(result).toMatchObject({ status: 'ok', output: 'noted b' })
  })

  test('counts in the session in which it was made', async () => {
    const cordon = await cordonWith({
      tools: [{ ...note(), constraints: { maxInvocations: 1, onlyAfter: [], forbidden: false } }],
    })
    const first = pending(await cordon.call('note', { text: 'a' }, { onAsk: 'suspend', session: 's' }))
    const second = pending(await cordon.call('note', { text: 'b' }, { onAsk: 'suspend', session: 's' }))
    expect((await cordon.resume(first.ticket, YES)).status).toBe('ok')
    expect((await cordon.resume(second.ticket, YES)).status).toBe('denied')
  })

  test('keeps an approval for the session', async () => {
    const cordon = await cordonWith()
    const { ticket } = await suspended(cordon)
    await cordon.resume(ticket, { kind: 'approve_for_scope', by: 'ann' })
    expect((await cordon.call('note', { text: 'a' }, { onAsk: 'suspend' })).status).toBe('ok')
    expect((await cordon.call('note', { text: 'b' }, { onAsk: 'suspend' })).status).toBe('pending')
  })
})

describe('a ticket runs nothing', () => {
  test('when it is shown a second time, here or elsewhere', async () => {
    const cordon = await cordonWith()
    const { ticket } = await suspended(cordon)
    expect((await cordon.resume(ticket, YES)).status).toBe('ok')
    await expect(cordon.resume(ticket, YES)).rejects.toMatchObject({ code: 'ticket-refused' })
    await expect((await cordonWith()).resume(ticket, YES)).rejects.toThrow('used before')
  })

  test('more than once when it is shown twenty times at once', async () => {
    const hosts = [await cordonWith(), await cordonWith()]
    const { ticket } = await suspended(await cordonWith())
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) => (hosts[at % 2] as Cordon).resume(ticket, YES)),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('when any part of it was changed', async () => {
    const cordon = await cordonWith()
    const { ticket } = await suspended(cordon)
    const [form = '', payload = '', seal = ''] = ticket.split('.')
    const contents = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    const changed = Buffer.from(JSON.stringify({ ...contents, input: { text: 'rm -rf' } })).toString('base64url')
    for (const forged of [
      `${form}.${changed}.${seal}`,
      `${form}.${payload}.${seal.slice(1)}a`,
      ticket.slice(0, -4),
      '',
      'x.y.z',
    ])
      await expect(cordon.resume(forged, YES)).rejects.toMatchObject({ code: 'ticket-refused' })
    expect((await cordon.resume(ticket, YES)).status).toBe('ok')
  })

  test('that another key has sealed', async () => {
    const other = await cordonWith({ tickets: { key: randomBytes(32), folder: join(workspace, 'tickets') } })
    const { ticket } = await suspended(other)
    await expect((await cordonWith()).resume(ticket, YES)).rejects.toThrow('another key')
  })

  test('when it has expired', async () => {
    const cordon = await cordonWith({ tickets: { key, folder: join(workspace, 'tickets'), lifetime: 1 } })
    const { ticket } = await suspended(cordon)
    await new Promise((resolve) => setTimeout(resolve, 10))
    await expect(cordon.resume(ticket, YES)).rejects.toThrow('expired')
  })

  test('when somebody else shows it', async () => {
    const { ticket } = await suspended(await cordonWith({ requestedBy: 'alice' }))
    await expect((await cordonWith({ requestedBy: 'mallory' })).resume(ticket, YES)).rejects.toThrow('somebody else')
    expect((await (await cordonWith({ requestedBy: 'alice' })).resume(ticket, YES)).status).toBe('ok')
  })

  test('when the policy of the tool has changed since', async () => {
    const { ticket } = await suspended(await cordonWith())
    const wider = await cordonWith({ tools: [note({ filesystem: { read: ['/etc/**'] } })] })
    expect(await wider.resume(ticket, YES)).toMatchObject({ status: 'denied' })
  })

  test('when a rule denies the call by now', async () => {
    const { ticket } = await suspended(await cordonWith())
    const stricter = await cordonWith({ rules: [[{ effect: 'deny', tool: 'note', because: 'no notes' }]] })
    expect(await stricter.resume(ticket, YES)).toMatchObject({ status: 'denied' })
  })

  test('when another rule asks by now, and its twin with the same rule runs', async () => {
    const rules = [[{ id: 'ask-notes', effect: 'ask', tool: 'note', because: 'look at notes' }]] as const
    const { ticket } = await suspended(await cordonWith())
    expect(await (await cordonWith({ rules })).resume(ticket, YES)).toMatchObject({ status: 'denied' })
    const twin = await suspended(await cordonWith({ rules }))
    expect((await (await cordonWith({ rules })).resume(twin.ticket, YES)).status).toBe('ok')
  })

  test('without an answer, or with one that decides nothing; it stays good for one that does', async () => {
    const cordon = await cordonWith()
    const { ticket } = await suspended(cordon)
    await expect(cordon.resume(ticket)).rejects.toThrow('needs an answer')
    await expect(cordon.resume(ticket, { kind: 'approve_once' } as never)).rejects.toMatchObject({
      code: 'approval-refused',
      message: expect.stringContaining('"by"') as string,
      fix: expect.stringContaining('answer { kind, by }') as string,
    })
    await expect(cordon.resume(ticket, { kind: 'escalate', by: 'ann', reason: 'ask bob' })).rejects.toThrow('decision')
    await expect(cordon.resume(ticket, 'yes' as never)).rejects.toThrow()
    expect((await cordon.resume(ticket, YES)).status).toBe('ok')
  })
})

describe('around suspended calls', () => {
  test('evaluate says ask where a call could be suspended, and unavailable where it could not', async () => {
    expect((await (await cordonWith()).evaluate('note', { text: 'a' })).decision.decision).toBe('ask')
    const { tickets: _, ...without } = { tickets: undefined }
    const cordon = await createCordon({ ...without, workspace, home: workspace, ruleFiles: 'none', tools: [note()] })
    open.push(cordon)
    expect((await cordon.evaluate('note', { text: 'a' })).decision.decision).toBe('unavailable')
  })

  test('a call that does not ask to be suspended is unavailable without an approver', async () => {
    expect((await (await cordonWith()).call('note', { text: 'a' })).facts.permission_decision.decision).toBe(
      'unavailable',
    )
  })

  test('a call that needs no approval runs at once', async () => {
    const cordon = await cordonWith({ mode: 'on_request' })
    expect((await cordon.call('note', { text: 'a' }, { onAsk: 'suspend' })).status).toBe('ok')
  })

  test('a tool reads nothing of the folder of used tickets, and reads the rest of its grant', async () => {
    const cat = processTool({
      name: 'cat',
      policy: { filesystem: { read: ['./**'] } },
      command: ({ path }: { path: string }) => ['cat', path],
    })
    const cordon = await cordonWith({ tools: [note(), cat], mode: 'default' })
    const { ticket } = await suspended(cordon)
    await cordon.resume(ticket, YES)
    writeFileSync(join(workspace, 'seen'), 'seen')
    expect((await cordon.call('cat', { path: join(workspace, 'seen') })).status).toBe('ok')
    expect((await cordon.call('cat', { path: join(workspace, 'tickets') })).status).not.toBe('ok')
  })

  test('a short key, and a folder that nobody named, are refused at once', async () => {
    await expect(cordonWith({ tickets: { key: randomBytes(8), folder: workspace } })).rejects.toThrow('short key')
    await expect(cordonWith({ tickets: { key } })).rejects.toThrow('twice')
    await expect(
      (await cordonWith({ mode: 'default' })).call('note', {} as never, { onAsk: 'later' as never }),
    ).rejects.toThrow()
  })
})
