// `runUnconfined`: the only way to a process without a cell. Decided like a call, and shown in every record.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { containerTool, processTool, tool } from '../../src/runtime/index.js'
import type { Approve, CordonOptions, ToolDefinition } from '../../src/runtime/index.js'
import { cordonProcess } from '../cli/cordon.js'

import { asWritten, eventsOf, openStage } from './stage.js'

const stage = openStage()
const approve: Approve = () => Promise.resolve({ kind: 'approve_once', by: 'ann' })

type Policy = NonNullable<Parameters<typeof processTool>[0]['policy']>

const shell = (policy: Policy = {}) =>
  processTool({
    name: 'shell',
    policy,
    argumentGate: 'off',
    command: (input: { readonly script: string }) => ['sh', '-c', input.script],
  })

const opened = (options: Partial<CordonOptions> = {}) => stage.cordon({ tools: [shell()], approve, ...options })

/** The warnings of Node while something runs. */
const warningsDuring = async (run: () => Promise<unknown>): Promise<readonly string[]> => {
  const heard: string[] = []
  const listen = ({ name, message }: Error): void => void heard.push(`${name}: ${message}`)
  process.on('warning', listen)
  await run()
  await wait(0)
  process.off('warning', listen)
  return heard
}

const NOTHING = { filesystem_read: [], filesystem_write: [], network: [], environment: [], exec: [] }

describe('runUnconfined', () => {
  test('runs a tool outside of every grant, which a call of the same tool cannot leave', async () => {
    const file = join(stage.newFolder(), 'outside')
    writeFileSync(file, 'before')
    const cordon = await opened()
    const script = `printf after > ${file}; cat; echo error >&2; exit 3`
    expect((await cordon.call('shell', { script })).status).not.toBe('ok')
    expect(readFileSync(file, 'utf8')).toBe('before')
    const result = await cordon.runUnconfined('shell', { script })
    expect(result).toMatchObject({ status: 'failed', output: { exit_code: 3, stdout: '', stderr: 'error\n' } })
    expect(readFileSync(file, 'utf8')).toBe('after')
  })

  test('warns each time, and a call does not', async () => {
    const cordon = await opened()
    const input = { script: 'true' }
    expect(await warningsDuring(() => cordon.call('shell', input))).toEqual([])
    const twice = async () => {
      await cordon.runUnconfined('shell', input)
      await cordon.runUnconfined('shell', input)
    }
    const warning = expect.stringMatching(/^UNCONFINED: the tool "shell" runs without a sandbox/) as string
    expect(await warningsDuring(twice)).toEqual([warning, warning])
  })

  test('shows in the result, the decision, the events, the audit log and cordon why', async () => {
    const folder = stage.newFolder()
    const audit = { path: join(folder, 'audit.jsonl') }
    const cordon = await opened({ audit, record: { arguments: 'redacted' } })
    const events = eventsOf(cordon)
    const { facts, status } = await cordon.runUnconfined('shell', { script: 'true' })
    const profile = { mode: 'none', backend: 'unconfined', network: 'all', enforced: NOTHING }
    const widening = { after: 'unconfined', reason: expect.stringContaining('without a sandbox') as string }
    expect(status).toBe('ok')
    expect(facts).toMatchObject({ sandbox_profile: profile, permission_decision: { widening } })
    expect(events.map(({ type }) => type)).toContain('sandbox.unconfined')
    expect(events.map(({ type }) => type)).not.toContain('sandbox.applied')
    await cordon.call('shell', { script: 'true' })
    expect(events.filter(({ type }) => type === 'sandbox.unconfined')).toHaveLength(1)
    await cordon.close()
    const log = readFileSync(audit.path, 'utf8')
    expect(log).toContain('"backend":"unconfined"')
    const why = (id: string) => cordonProcess(['why', id, '--log', audit.path]).stdout
    expect(why(facts.call_id)).toMatch(/boundary +UNCONFINED/)
    expect(why('last')).not.toContain('UNCONFINED')
  })

  test('needs the approval of a person, whatever rules, earlier approvals and a classifier allow', async () => {
    const input = { script: 'true' }
    const rules = [{ rules: [{ effect: 'allow', tool: 'shell', because: 'it is in a sandbox' } as const] }]
    const nobody = await stage.cordon({ tools: [shell()], rules })
    expect((await nobody.call('shell', input)).status).toBe('ok')
    const refused = await nobody.runUnconfined('shell', input)
    expect(refused).toMatchObject({ status: 'denied', facts: { error: { code: 'approval-unavailable' } } })
    const asked: string[] = []
    const scoped: Approve = ({ reason }) => {
      asked.push(reason)
      return Promise.resolve({ kind: 'approve_for_scope', by: 'ann' })
    }
    const classify = () => Promise.resolve({ decision: 'allow', reason: 'harmless' } as const)
    const cordon = await stage.cordon({ tools: [shell()], approve: scoped, mode: 'untrusted' })
    await cordon.call('shell', input)
    await cordon.call('shell', input)
    expect(asked).toHaveLength(1)
    await cordon.runUnconfined('shell', input)
    await cordon.runUnconfined('shell', input)
    expect(asked).toHaveLength(3)
    expect(asked[1]).toContain('runUnconfined')
    const auto = await stage.cordon({ tools: [shell()], classify, mode: 'auto' })
    expect((await auto.call('shell', input)).status).toBe('ok')
    expect((await auto.runUnconfined('shell', input)).status).toBe('denied')
  })

  test.for(['bypass', 'never', 'plan'] as const)('is refused in the mode %s', async (mode) => {
    const cordon = await opened({ mode })
    expect((await cordon.call('shell', { script: 'true' })).status).toBe('ok')
    expect((await cordon.runUnconfined('shell', { script: 'true' })).status).toBe('denied')
  })

  test('is denied by a rule, a hook and a constraint, as a call is', async () => {
    const marker = join(stage.newFolder(), 'ran')
    const input = { script: `touch ${marker}` }
    const byRule = await opened({ rules: [{ rules: [{ effect: 'deny', tool: 'shell', because: 'no' }] }] })
    expect(await byRule.runUnconfined('shell', input)).toMatchObject({ facts: { error: { code: 'rule-denied' } } })
    const run = () => ({ decision: 'deny', reason: 'no' }) as const
    const byHook = await opened({ hooks: [{ name: 'no', points: ['pre_tool_use'], run }] })
    expect((await byHook.runUnconfined('shell', input)).status).toBe('denied')
    const forbidden = processTool({ name: 'once', constraints: { maxInvocations: 1 }, command: () => ['true'] })
    const counted = await opened({ tools: [forbidden] })
    expect((await counted.runUnconfined('once')).status).toBe('ok')
    expect((await counted.runUnconfined('once')).status).toBe('denied')
    expect((await counted.runUnconfined('unknown')).status).toBe('denied')
    expect(existsSync(marker)).toBe(false)
  })

  test('ends at the limits of time and output, and when it is cancelled or closed', async () => {
    const cordon = await opened({
      tools: [shell({ limits: { wall: '300ms' } }), { ...shell({ limits: { output: '1K' } }), name: 'loud' }],
    })
    expect((await cordon.runUnconfined('shell', { script: 'sleep 600' })).status).toBe('timeout')
    const loud = await cordon.runUnconfined('loud', { script: 'while :; do echo line; done' })
    expect(loud).toMatchObject({ status: 'violated', facts: { error: { code: 'tool-violated' } } })
    const free = await opened()
    const given = new AbortController()
    const onOutput = () => {
      given.abort()
    }
    const script = 'echo started; sleep 600'
    const cancelled = await free.runUnconfined('shell', { script }, { signal: given.signal, onOutput })
    expect(cancelled).toMatchObject({ status: 'cancelled', facts: { sandbox_profile: { backend: 'unconfined' } } })
    let hasStarted = (): void => undefined
    const started = new Promise<void>((resolve) => {
      hasStarted = resolve
    })
    const running = free.runUnconfined('shell', { script }, { onOutput: hasStarted })
    await started
    await free.close()
    expect((await running).status).toBe('cancelled')
  })

  test('ends with its program, and what that left in its process group is killed', async () => {
    const cordon = await opened()
    const { status, output } = await cordon.runUnconfined('shell', { script: 'sleep 600 & echo $!' })
    expect(status).toBe('ok')
    const { stdout } = output as { readonly stdout: string }
    expect(stdout).toMatch(/^\d+\n$/)
    await expect.poll(() => existsSync(`/proc/${stdout.trim()}/exe`)).toBe(false)
  })

  test('gets the variables of its policy, and no source of a credential', async () => {
    const cordon = await opened({
      tools: [shell({ environment: ['GIVEN'] })],
      environment: { GIVEN: 'one', WITHHELD: 'two', SOURCE: 'secret' },
      egress: { secrets: { token: 'env:SOURCE' } },
    })
    const { output } = await cordon.runUnconfined('shell', { script: 'env' })
    expect(output).toMatchObject({ stdout: expect.stringContaining('GIVEN=one\n') as string })
    expect(JSON.stringify(output)).not.toMatch(/WITHHELD|SOURCE|secret/)
  })
})

describe('runUnconfined refuses', () => {
  const HELD = { network: ['api.test'], egress_class: 'read_only' } as const
  const token = { id: 'token', inject: { host: 'api.test', as: 'bearer' } } as const
  test.for<[string, ToolDefinition, Partial<CordonOptions>]>([
    ['a tool with a credential', shell({ ...HELD, credentials: [token] }), { egress: { secrets: { token: 'env:T' } } }],
    ['a tool that requires a mechanism', shell({ require: ['seccomp'] }), {}],
    ['a function', tool({ name: 'shell', run: asWritten('() => 1') }), {}],
    ['a program of an image', containerTool({ name: 'shell', image: 'any', command: () => ['true'] }), {}],
  ])('%s', async ([, each, options]) => {
    const cordon = await opened({ tools: [each], environment: { T: 'value' }, ...options })
    await expect(cordon.runUnconfined('shell', { script: 'true' })).rejects.toMatchObject({
      code: 'unconfined-refused',
      fix: expect.stringMatching(/^use call/) as string,
    })
  })

  test('a tool with granted hosts and no credential is not refused', async () => {
    const cordon = await opened({ tools: [shell(HELD)] })
    expect((await cordon.runUnconfined('shell', { script: 'true' })).status).toBe('ok')
  })

  test('every tool where a bound is set, because a bound allows only what is in a cell', async () => {
    const workspace = stage.newFolder()
    const cordon = await opened({ workspace, ruleFiles: 'all' })
    expect((await cordon.runUnconfined('shell', { script: 'true' })).status).toBe('ok')
    const bounded = stage.newFolder()
    mkdirSync(join(bounded, '.cordon'))
    writeFileSync(join(bounded, '.cordon/bound.yaml'), 'filesystem: { read: [./**] }\nexec: all\n')
    const held = await opened({ workspace: bounded, ruleFiles: 'all' })
    expect((await held.call('shell', { script: 'true' })).status).toBe('ok')
    await expect(held.runUnconfined('shell', { script: 'true' })).rejects.toMatchObject({ code: 'policy-beyond-bound' })
  })
})

test('where no sandbox can be built a call runs nothing, and only runUnconfined does', async () => {
  const marker = join(stage.newFolder(), 'ran')
  const cordon = await opened({ sandbox: { launcher: '/nonexistent/cordon-cell' } })
  const input = { script: `echo ran >> ${marker}` }
  expect((await cordon.call('shell', input)).status).toBe('not_started')
  expect(existsSync(marker)).toBe(false)
  expect((await cordon.runUnconfined('shell', input)).status).toBe('ok')
  expect(readFileSync(marker, 'utf8')).toBe('ran\n')
})
