import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { processTool, tool } from '../../src/runtime/index.js'
import type { ApprovalRequest, Approve } from '../../src/runtime/index.js'

import { READ, WRITE, asWritten, eventsOf, openStage } from './stage.js'

const { newFolder, cordon } = openStage()

const secretFile = (): string => {
  const path = join(newFolder(), 'secret')
  writeFileSync(path, 'SECRET')
  return path
}
const TOOLS = [
  tool({ name: 'read', argumentGate: 'off', run: READ }),
  tool({ name: 'write', argumentGate: 'off', run: WRITE }),
  tool({ name: 'once', argumentGate: 'off', constraints: { maxInvocations: 1 }, run: READ }),
  processTool({
    name: 'cat',
    argumentGate: 'off',
    command: ({ path }: { readonly path: string }) => ['/bin/cat', path],
  }),
]
const approving =
  (asked: ApprovalRequest[] = []): Approve =>
  (request) => {
    asked.push(request)
    return { kind: 'approve_once', by: 'ann' }
  }
const inMode = (approve?: Approve) =>
  cordon({ tools: TOOLS, mode: 'on_failure', ...(approve === undefined ? {} : { approve }) })

describe('on_failure: a call that met its boundary', () => {
  test.each(['read', 'cat'])('runs again with the missing grant if somebody approves (%s)', async (name) => {
    const path = secretFile()
    const asked: ApprovalRequest[] = []
    const result = await (await inMode(approving(asked))).call(name, { path })
    expect(result).toMatchObject({ status: 'ok', output: name === 'cat' ? { stdout: 'SECRET' } : 'SECRET' })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.decision.widening).toMatchObject({
      after: 'violation',
      retry_of: result.facts.first_attempt?.call_id,
      added: [`filesystem.read ${path}`],
    })
    expect(result.facts.first_attempt).toMatchObject({ violations: [{ kind: 'file', access: 'read', path }] })
  })

  test.each(['bypass', 'never', 'on_failure'] as const)(
    'is offered the missing grant only if the mode is on_failure after it ran (%s)',
    async (mode) => {
      const path = secretFile()
      const asked: ApprovalRequest[] = []
      const runtime = await inMode(approving(asked))
      runtime.on('process.completed', () => void runtime.setMode(mode))
      const result = await runtime.call('cat', { path })
      expect({ status: result.status, questions: asked.length }).toEqual(
        mode === 'on_failure' ? { status: 'ok', questions: 1 } : { status: 'violated', questions: 0 },
      )
    },
  )

  test('is offered starting a program, but not writing to it', async () => {
    const run = asWritten(
      "async () => (await import('node:child_process')).execFileSync('/usr/bin/env', ['-i', '/usr/bin/true']).length",
    )
    const asked: ApprovalRequest[] = []
    const runtime = await cordon({
      tools: [tool({ name: 'start', policy: { exec: 'none' }, run })],
      mode: 'on_failure',
      approve: (request) => {
        asked.push(request)
        return { kind: 'deny', by: 'ann', reason: 'no' }
      },
    })
    await runtime.call('start', {})
    expect(asked[0]?.decision.widening?.added).toEqual(['exec /usr/bin/env'])
  })

  test('has its own decision, permit and record the second time', async () => {
    const runtime = await inMode(approving())
    const seen = eventsOf(runtime)
    const { facts } = await runtime.call('read', { path: secretFile() })
    const { first_attempt: first, permission_decision: second } = facts
    expect(second.decision_id).not.toBe(first?.permission_decision.decision_id)
    expect(second.policy_hash).not.toBe(first?.permission_decision.policy_hash)
    expect(second).toMatchObject({
      decision: 'allow',
      decision_source: 'approver',
      widening: { retry_of: first?.call_id },
    })
    const typesOf = (id: string | undefined) => seen.filter(({ call_id }) => call_id === id).map(({ type }) => type)
    expect(typesOf(first?.call_id)).toEqual([
      'permission.evaluated',
      'tool.called',
      'process.started',
      'sandbox.applied',
      'sandbox.violation',
      'process.completed',
      'tool.completed',
    ])
    expect(typesOf(facts.call_id)).toEqual([
      'permission.evaluated',
      'permission.requested',
      'permission.resolved',
      'permission.evaluated',
      'tool.called',
      'process.started',
      'sandbox.applied',
      'process.completed',
      'tool.completed',
    ])
  })

  test('writes only where it was refused', async () => {
    const folder = newFolder()
    const runtime = await inMode(approving())
    expect(await runtime.call('write', { path: join(folder, 'made'), text: 'x' })).toMatchObject({ status: 'ok' })
    expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('x')
  })

  test.each([
    ['at once', "async () => { (await import('node:fs')).writeFileSync('data/f', 'x') }"],
    ['by a promise', "async () => { await (await import('node:fs/promises')).writeFile('data/f', 'x') }"],
    ['at its end', "async () => { (await import('node:fs')).appendFileSync('data/f', 'x') }"],
  ])('is offered the folder that it tried to write, relative to its own folder (%s)', async (_, source) => {
    const folder = newFolder()
    for (const name of ['out', 'data']) mkdirSync(join(folder, name))
    const asked: ApprovalRequest[] = []
    const write = tool({
      name: 'write',
      cwd: folder,
      policy: { filesystem: { write: [join(folder, 'out')] } },
      run: asWritten(source),
    })
    const result = await (
      await cordon({ tools: [write], mode: 'on_failure', approve: approving(asked) })
    ).call('write', {})
    expect(asked[0]?.decision.widening?.added).toEqual([`filesystem.write ${join(folder, 'data')}`])
    expect(result).toMatchObject({
      status: 'ok',
      facts: { first_attempt: { violations: [{ kind: 'file', access: 'write', path: join(folder, 'data', 'f') }] } },
    })
    expect(readFileSync(join(folder, 'data', 'f'), 'utf8')).toBe('x')
  })

  test('is offered nothing if it tried to read a missing file', async () => {
    const asked: ApprovalRequest[] = []
    expect(await (await inMode(approving(asked))).call('read', { path: join(newFolder(), 'missing') })).toMatchObject({
      status: 'failed',
      facts: { violations: [] },
    })
    expect(asked).toEqual([])
  })

  test('is not offered writing a folder because a readable file is missing', async () => {
    const folder = newFolder()
    const asked: ApprovalRequest[] = []
    const read = tool({ name: 'read', policy: { filesystem: { read: [folder] } }, run: READ })
    const runtime = await cordon({ tools: [read], mode: 'on_failure', approve: approving(asked) })
    expect(await runtime.call('read', { path: join(folder, 'missing') })).toMatchObject({
      status: 'failed',
      facts: { violations: [] },
    })
    expect(asked).toEqual([])
  })

  test('gets no grant for the next call', async () => {
    const path = secretFile()
    const asked: ApprovalRequest[] = []
    const runtime = await inMode(approving(asked))
    await runtime.call('read', { path })
    await runtime.call('read', { path })
    expect(asked).toHaveLength(2)
  })

  test('stays violated if nobody approves', async () => {
    const path = secretFile()
    const result = await (await inMode(() => ({ kind: 'deny', by: 'ann', reason: 'no' }))).call('read', { path })
    expect(result).toMatchObject({
      status: 'violated',
      facts: { retry: { permission_decision: { decision: 'deny', error_code: 'approval-rejected' } } },
    })
    expect(result.output).toBeUndefined()
  })

  test('stays violated at once if nobody can be asked', async () => {
    expect(await (await inMode()).call('read', { path: secretFile() })).toMatchObject({
      status: 'violated',
      facts: { retry: { permission_decision: { decision: 'unavailable' } } },
    })
  })

  test('is asked about once', async () => {
    const [one, other] = [secretFile(), secretFile()]
    const asked: ApprovalRequest[] = []
    const both = tool({
      name: 'both',
      argumentGate: 'off',
      run: (0, eval)(
        "(async ({ paths }) => { const { readFileSync } = await import('node:fs'); return paths.map((path) " +
          "=> readFileSync(path, 'utf8')) })",
      ) as () => unknown,
    })
    const result = await (
      await cordon({ tools: [both], mode: 'on_failure', approve: approving(asked) })
    ).call('both', { paths: [one, other] })
    expect(result.status).toBe('violated')
    expect(asked).toHaveLength(1)
  })

  test('that may run once does not run twice', async () => {
    expect(await (await inMode(approving())).call('once', { path: secretFile() })).toMatchObject({
      status: 'violated',
      facts: { retry: { permission_decision: { error_code: 'tool-exhausted' } } },
    })
  })

  test('never gets the audit log', async () => {
    const folder = newFolder()
    const path = join(folder, 'audit.jsonl')
    const asked: ApprovalRequest[] = []
    const runtime = await cordon({ tools: TOOLS, mode: 'on_failure', approve: approving(asked), audit: { path } })
    expect(await runtime.call('write', { path, text: 'x' })).toMatchObject({ status: 'violated' })
    expect(asked).toEqual([])
  })

  test('is asked about only in this mode', async () => {
    const asked: ApprovalRequest[] = []
    const runtime = await cordon({ tools: TOOLS, mode: 'on_request', approve: approving(asked) })
    expect(await runtime.call('read', { path: secretFile() })).toMatchObject({ status: 'violated' })
    expect(asked).toEqual([])
  })

  test('does not run again if a rule denies the grant', async () => {
    const path = secretFile()
    const rules = [[{ effect: 'deny', tool: 'cat', paths: [path], because: 'private' }]] as const
    const runtime = await cordon({ tools: TOOLS, mode: 'on_failure', approve: approving(), rules })
    expect(await runtime.call('cat', { path })).toMatchObject({ status: 'denied' })
    expect(existsSync(path)).toBe(true)
  })
})
