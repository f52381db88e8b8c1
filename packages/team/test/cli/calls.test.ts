// `cordon calls`: lists and cancels calls of a team, and what `cordon team stop` does not end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CORDON, NODE_OPTIONS } from '../../../core/test/cli/cordon.js'
import { openServedTeam } from './served-team.js'
import type { ServedTeam } from './served-team.js'

let team: ServedTeam
beforeAll(async () => {
  team = await openServedTeam()
  await team.register('look')
  await team.register('send', { egressClass: 'write' })
})
afterAll(() => team.close())

const complete = (id: string, fence: string, status: 'completed' | 'failed', more: object = {}) =>
  team.by('bot').ask('complete', { id, fence, status, ...more })

/** What a command says about a call that runs, whose runner ends it when it is told to. */
const endedWhenTold = async (id: string, ...words: readonly string[]): Promise<unknown> => {
  const { fence } = await team.claim(id)
  const typed = spawn(process.execPath, [...NODE_OPTIONS, CORDON, ...words, '--server', team.server, '--as', 'anna'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = once(typed.stdout.setEncoding('utf8'), 'data')
  await expect.poll(async () => (await team.by('bot').ask('findInvocation', { id })).isCancelRequested).toBe(true)
  await complete(id, fence, 'failed', { error: 'cancelled' })
  return (await said)[0]
}

describe('cordon calls', () => {
  test('lists calls with state, tool, agent and time, filters them, and shows one by a part of its id', async () => {
    const done = await team.invoke('look', { place: 'cellar' })
    await complete(done, (await team.claim(done)).fence, 'completed', {
      output: { found: 'cheese' },
      usage: {
        wall_ms: 1234,
        cpu_ms: 6,
        output_bytes: 66,
        boundary: { form: 'namespaces', network: 'none', enforced: { processes: ['pid-namespace'] } },
      },
    })
    const waiting = await team.invoke('send')
    const all = team.as('anna', 'team', 'calls', 'list').stdout
    expect(all).toMatch(/^CALL +TOOL +STATE +AGENT +AGE +TOOK +RUNNER\n/)
    expect(all).toMatch(new RegExp(`${done} +look 1 +completed +bot +\\d+s .* host`))
    expect(all).toMatch(new RegExp(`${waiting} +send 1 +pending +bot`))
    const ids = (...words: readonly string[]) =>
      (team.json('anna', 'team', 'calls', 'list', ...words) as readonly { readonly id: string }[]).map(({ id }) => id)
    expect(ids('--status', 'completed')).toEqual([done])
    expect(ids('--tool', 'send', '--agent', 'bot')).toEqual([waiting])
    expect(ids('--limit', '1')).toEqual([waiting])
    expect(team.as('anna', 'team', 'calls', 'list', '--tool', 'nope').stdout).toBe('you can see no such calls\n')
    const shown = team.as('anna', 'team', 'calls', 'show', done.slice(-12)).stdout
    for (const text of [
      'look, version 1',
      'completed',
      '1.2 s wall, 6 ms cpu, 66 bytes out',
      'processes: pid-namespace',
      '"place": "cellar"',
      '"found": "cheese"',
      `cordon why ${done} --server`,
    ])
      expect(shown).toContain(text)
  })

  test('cancels pending calls, waits for running ones to end, and names those that were over', async () => {
    const [waiting, running] = [await team.invoke('send'), await team.invoke('look')]
    const { fence } = await team.claim(running)
    expect(team.as('anna', 'team', 'calls', 'cancel', waiting, '--reason', 'not today')).toMatchObject({
      status: 0,
      stdout: `cancelled ${waiting}\n`,
    })
    expect(team.as('anna', 'team', 'calls', 'cancel', waiting)).toMatchObject({
      status: 1,
      stdout: `over before ${waiting}: cancelled\n`,
    })
    expect(team.as('anna', 'team', 'calls', 'cancel', running, '--wait', '100ms')).toMatchObject({
      status: 1,
      stdout: `still runs ${running}; it was told to end\n`,
    })
    expect(team.as('anna', 'team', 'calls', 'list', '--status', 'running').stdout).toContain('running (told to end)')
    await complete(running, fence, 'failed', { error: 'cancelled' })
    const another = await team.invoke('look')
    expect(await endedWhenTold(another, 'team', 'calls', 'cancel', another)).toBe(`ended ${another}: failed\n`)
  })

  test.each([
    [['list', '--status', 'open'], '--status is one of'],
    [['list', '--limit', 'many'], '--limit is a number'],
    [['show'], 'no call is named'],
    [['cancel'], 'name calls'],
    [['cancel', 'x', '--wait', 'long'], '--wait needs a time'],
    [['show', 'ffff'], 'no call has the id ffff'],
    [['cancel', ''], 'write at least 4 letters'],
    [['cancel', '019'], 'write at least 4 letters'],
  ])('refuses %j', (words, problem) => {
    expect(team.as('anna', 'team', 'calls', ...words)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(problem) as string,
    })
  })
})

describe('a pending call whose caller is gone', () => {
  const ask = async (agent: string): Promise<string> =>
    (await team.by(agent).ask('invoke', { team: 'acme', tool: 'send', agent, input: {}, dispatch: 'caller' })).id
  const goneOf = async (id: string) => (await team.by('anna').ask('showQuestion', { id })).question.callerGoneSince

  test('is marked, and skipped without an ID in favour of one whose caller is alive', async () => {
    // Questions of other tests would be first.
    for (const { id } of await team.by('anna').ask('listInvocations', { team: 'acme', status: 'pending' }))
      await team.by('anna').ask('cancelInvocation', { id })
    await team.by('ada').ask('addMember', { team: 'acme', actor: 'courier', kind: 'agent' })
    await team.by('ada').ask('assignTool', { team: 'acme', agent: 'courier', tool: 'send' })
    await team.by('courier').ask('heartbeat', { runner: 'first', leaseMs: 1000 })
    const dead = await ask('courier')
    // Nobody has to wait for a call that runners run.
    const forRunners = await team.invoke('send')
    await expect.poll(() => goneOf(dead)).not.toBeNull()
    expect(await goneOf(forRunners)).toBeNull()
    await team.by('bot').ask('cancelInvocation', { id: forRunners })

    const refused = team.as('anna', 'approvals', 'approve')
    expect(refused.stderr).toMatch(
      new RegExp(
        `no caller waits for an answer: the process that asked about ${dead} is gone, not heard for \\d+[sm]\n`,
      ),
    )
    expect(refused.stderr).toContain(
      `fix: cancel the call: cordon team calls cancel ${dead} --server ${team.server} --as anna; `,
    )
    expect(refused.status).toBe(2)

    await team.by('courier').ask('heartbeat', { runner: 'second', leaseMs: 3_600_000 })
    const living = await ask('courier')
    expect(await goneOf(living)).toBeNull()
    expect(team.as('anna', 'approvals', 'list').stdout).toMatch(
      new RegExp(`${dead} .* gone, not heard for \\d+[sm]\n${living} .*[sm] +\n`),
    )
    expect(team.as('anna', 'approvals', 'show', dead).stdout).toMatch(/ caller +gone, not heard for/)
    expect(team.as('anna', 'approvals', 'show').stdout).toContain(`call       ${living}`)
    expect(team.as('anna', 'approvals', 'approve').stderr).toContain(
      `fix: look at it: cordon approvals show ${living} `,
    )

    // By its ID it can be approved: another process may resume it.
    const {
      question: { argumentsHash },
    } = await team.by('anna').ask('showQuestion', { id: dead })
    expect(team.as('anna', 'approvals', 'approve', dead, '--hash', argumentsHash)).toMatchObject({
      status: 0,
      stdout: `approved ${dead}\n`,
    })
    for (const id of [dead, living]) await team.by('courier').ask('cancelInvocation', { id })
    expect(team.as('anna', 'approvals', 'approve')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('fix: wait for a question: cordon approvals watch ') as string,
    })
  })
})

describe('cordon team stop', () => {
  test('names running calls with the command that cancels them, and with --cancel cancels them and waits', async () => {
    const running = await team.invoke('look')
    const { fence } = await team.claim(running)
    expect(team.as('anna', 'team', 'stop', '--tool', 'send', '--reason', 'fire').stdout).toBe('stopped: tool send\n')
    const { stdout } = team.as('anna', 'team', 'stop', '--tool', 'look', '--reason', 'fire')
    expect(stdout).toMatch(/^stopped: tool look\none call still runs, which this does not end:\nCALL/)
    expect(stdout).toContain(`to end it: cordon team calls cancel ${running} --server ${team.server} --as anna\n`)
    await complete(running, fence, 'completed')
    for (const part of [
      ['--tool', 'send'],
      ['--tool', 'look'],
    ])
      expect(team.as('anna', 'team', 'resume', ...part).status).toBe(0)
    const another = await team.invoke('look')
    expect(await endedWhenTold(another, 'team', 'stop', '--reason', 'fire', '--cancel')).toBe(
      `stopped: all\nended ${another}: failed\n`,
    )
    expect(team.as('anna', 'team', 'resume').status).toBe(0)
  })
})
