// Runs of a team and costs of tools, at the command line, through a server: opening a store takes a command seconds.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openRemoteAccess } from '../../src/store/index.js'

import { CORDON, NODE_OPTIONS, cordon, temporaryFolder } from '../../../core/test/cli/cordon.js'
import type { Ran } from '../../../core/test/cli/cordon.js'

const folder = temporaryFolder()
const as = (actor: string, ...words: readonly string[]): Ran =>
  cordon([...words, '--store', join(folder, 'store'), '--as', actor])
const accessOf = (actor: string) => openRemoteAccess({ server: `unix:${join(folder, 'store', 'socket')}`, actor })
const json = (ran: Ran): Readonly<Record<string, unknown>> =>
  ran.status === 0 ? (JSON.parse(ran.stdout) as Readonly<Record<string, unknown>>) : expect.fail(ran.stderr)
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
let plan = ''
let server: ChildProcess

beforeAll(async () => {
  server = spawn(
    process.execPath,
    [...NODE_OPTIONS, CORDON, 'serve', '--store', join(folder, 'store'), '--as', 'ada', '--json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await once(server.stdout ?? expect.fail('it has no output'), 'data')
  expect(as('ada', 'team', 'create', 'acme').status).toBe(0)
  for (const words of [
    ['anna', 'operator'],
    ['bot', 'agent', 'operator', 'runner'],
  ])
    expect(as('ada', 'team', 'add', ...words).status).toBe(0)
  plan = file('plan.yaml', 'steps:\n  - build\n  - publish\n')
})
afterAll(async () => {
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
})

describe('cordon runs', () => {
  test(
    'starts a run that waits among the approvals, is shown with its plan, and is approved by its hash, not by ' +
      'who started it',
    () => {
      const { id, planHash } = json(as('bot', 'team', 'runs', 'start', 'release 7', '--plan', plan, '--json')) as {
        readonly id: string
        readonly planHash: string
      }
      expect(as('anna', 'approvals', 'list').stdout).toContain('run release 7')
      expect(as('anna', 'approvals', 'show', id).stdout).toContain('"publish"')
      const shown = as('anna', 'team', 'runs', 'show', id.slice(-12)).stdout
      for (const text of ['release 7, pending', '"publish"', planHash, 'you can see no calls'])
        expect(shown).toContain(text)
      expect(as('bot', 'team', 'runs', 'approve', id, '--hash', planHash)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('cannot decide it') as string,
      })
      expect(as('anna', 'team', 'runs', 'approve', id, '--hash', `sha256:${'0'.repeat(64)}`).status).toBe(1)
      expect(as('anna', 'team', 'runs', 'approve', id, '--hash', planHash)).toMatchObject({
        status: 0,
        stdout: `approved ${id}\n`,
      })
      expect(as('ada', 'team', 'runs', 'list', '--status', 'approved').stdout).toContain('release 7')
      expect(json(as('bot', 'team', 'runs', 'cancel', id, '--reason', 'not today', '--json'))).toEqual({
        id,
        status: 'cancelled',
      })
      expect(as('bot', 'team', 'runs', 'cancel', id)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('is cancelled') as string,
      })
    },
  )

  test('is rejected with a reason, and refuses a plan that is not a mapping', () => {
    const { id } = json(
      as('bot', 'team', 'runs', 'start', 'cleanup', '--plan', plan, '--needed', '2', '--for', '8h', '--json'),
    ) as { readonly id: string }
    expect(as('anna', 'team', 'runs', 'reject', id).status).toBe(2)
    expect(as('anna', 'team', 'runs', 'reject', id, '--reason', 'why?')).toMatchObject({
      status: 0,
      stdout: `rejected ${id}\n`,
    })
    expect(as('bot', 'team', 'runs', 'start', 'cleanup', '--plan', file('list.yaml', '- a\n'))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('not a mapping') as string,
    })
    expect(as('bot', 'team', 'runs', 'start', 'cleanup').status).toBe(2)
    expect(as('bot', 'team', 'runs', 'list', '--status', 'open').status).toBe(2)
  })
})

test('cordon team tools register accepts expected cost and prices, and shows them', () => {
  const tool = (prices: string) =>
    file('tool.yaml', `key: resize\negress_class: none\nexpected_cost: 0.02\nprices: ${prices}\n`)
  expect(
    json(as('ada', 'team', 'tools', 'register', tool('{ call: 0.01, cpu_second: 0.002 }'), '--json')),
  ).toMatchObject({
    expectedCost: 0.02,
    prices: { call: 0.01, cpu_second: 0.002 },
  })
  expect(as('ada', 'team', 'tools', 'show', 'resize').stdout).toMatch(
    /it costs 0.02[\s\S]*0.01 a call, 0.002 a cpu_second/,
  )
  expect(as('ada', 'team', 'tools', 'register', tool('{ minute: 1 }'))).toMatchObject({
    stderr: expect.stringContaining('minute') as string,
  })
})

test('cordon team tools says what a version may newly do, and an operator approves it', () => {
  const reading = (...read: string[]) => file('look.yaml', yaml(read))
  const yaml = (read: readonly string[]) =>
    `key: look\negress_class: none\ndefinition: { kind: process, policy: { filesystem: { read: [${read.join(', ')}] } } }\n`
  as('ada', 'team', 'tools', 'register', reading('src'))
  expect(as('ada', 'team', 'tools', 'register', reading('src/lib')).stdout).not.toContain('approve')
  expect(as('ada', 'team', 'tools', 'register', reading('src/lib', '/etc')).stdout).toMatch(
    /may do more[^]*\/etc[^]*cordon team tools approve look 3/,
  )
  expect(as('ada', 'team', 'tools', 'list').stdout).toMatch(/look +3 .*not approved/)
  expect(as('anna', 'team', 'tools', 'show', 'look').stdout).toMatch(/may do more[^]*\/etc/)
  expect(as('bot', 'team', 'tools', 'approve', 'look', '3').status).not.toBe(0)
  expect(as('anna', 'team', 'tools', 'approve', 'look', '3', '--reason', 'seen')).toMatchObject({ status: 0 })
  expect(as('ada', 'team', 'tools', 'list').stdout).not.toContain('not approved')
})

test(
  'cordon approvals show says what a call is expected to cost, and cordon why what it cost and that this is ' +
    'far from it',
  async () => {
    const stores = { ada: accessOf('ada'), bot: accessOf('bot') }
    const ask = async (key: string, requiresApproval: boolean): Promise<string> => {
      await stores.ada.ask('registerTool', {
        team: 'acme',
        key,
        egressClass: 'none',
        requiresApproval,
        expectedCost: 1,
        prices: { call: 3, cpu_second: 2 },
      })
      await stores.ada.ask('assignTool', { team: 'acme', agent: 'bot', tool: key })
      return (await stores.bot.ask('invoke', { team: 'acme', tool: key, agent: 'bot', input: {} })).id
    }
    const done = await ask('shrink', false)
    const waiting = await ask('grow', true)
    await stores.bot.ask('heartbeat', { runner: 'host', labels: [], holds: [], isDraining: false })
    const [claimed] = await stores.bot.ask('claim', { id: done, runner: 'host' })
    await stores.bot.ask('complete', {
      id: done,
      fence: claimed?.fence ?? expect.fail('nothing was claimed'),
      status: 'completed',
      usage: { wall_ms: 1, cpu_ms: 500 },
    })
    await Promise.all([stores.ada.close(), stores.bot.close()])
    expect(as('ada', 'why', done).stdout.replace(/\s+/g, ' ')).toContain('4 measured, 1 estimated; it deviates')
    expect(json(as('ada', 'why', done, '--json'))).toMatchObject({
      invocation: { costMeasured: 4, costEstimate: 1, costReported: null, costDeviates: true },
    })
    const shown = as('anna', 'approvals', 'show', waiting).stdout
    for (const text of ['1 estimated', 'it costs 1', '3 a call, 2 a cpu_second']) expect(shown).toContain(text)
  },
)
