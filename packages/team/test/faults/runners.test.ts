// Runners as processes on a real server, without faults: what they claim, run, report and leave to others.
import { readFileSync, writeFileSync } from 'node:fs'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { cancelInvocation } from '../../src/store/index.js'

import { IN_MATRIX } from '../../../../test/turns.js'
import { openTeam } from './team.js'
import type { RunningHost, Team } from './team.js'

let team: Team
let host: RunningHost
beforeAll(async () => {
  team = await openTeam()
  host = team.startHost('one')
  await host.until(({ kind }) => kind === 'ready')
})
afterAll(() => team.remove())
const statusOf = async (id: string) => (await team.find(id)).status

test('a runner claims an approved call, runs it, and completes it', async () => {
  const id = await team.ask('pay', { id: 'first', seconds: 0 })
  expect(await statusOf(id)).toBe('pending')
  await team.approve(id)
  await expect.poll(() => statusOf(id)).toBe('completed')
  expect(team.ledger()).toEqual(['pay first', 'done first'])
  expect(await team.find(id)).toMatchObject({
    output: { exit_code: 0 },
    fence: '1',
    usage: { status: 'ok', boundary: { enforced: expect.any(Object) as object } },
  })
})

test('a remote caller gets the output while the tool runs, and then the result', async () => {
  const caller = team.startCaller('look', { id: 'far', seconds: 1 })
  await expect.poll(() => caller.heard.join('')).toContain('far began')
  expect(team.ledger()).toContain('look far')
  expect(await caller.result).toMatchObject({
    status: 'ok',
    output: { stdout: 'far began\nfar ends\n' },
    registered: { runner: expect.stringMatching(/^one\//) as string },
  })
})

test('a call goes to the host that has its labels', IN_MATRIX, async () => {
  const id = await team.ask('rare', { id: 'rare', seconds: 0 })
  await host.until((news) => news.kind === 'left-to-others' && news.because.includes('rare-earth'))
  expect(await statusOf(id)).toBe('approved')
  const other = team.startHost('mine', { labels: ['rare-earth'] })
  try {
    // The whole entry, so that a failure says why.
    const done = { status: 'completed', runner: expect.stringMatching(/^mine\//) as string }
    await expect.poll(() => team.find(id)).toMatchObject(done)
  } finally {
    // It would claim the calls of the next tests.
    other.process.kill('SIGTERM')
  }
  expect(await other.exited).toBe(0)
})

test('a runner does not run a tool that differs from the registered one', async () => {
  const changed = `${team.tools}.changed.yaml`
  writeFileSync(changed, readFileSync(team.tools, 'utf8').replaceAll('>> ledger', '>> ledger; true'))
  const other = team.startHost('changed', { tools: changed, labels: ['rare-earth'] })
  await other.until(
    (news) => news.kind === 'left-to-others' && news.tool === 'team/rare' && news.because.includes('is another tool'),
  )
  const id = await team.ask('rare', { id: 'changed', seconds: 0 })
  other.process.kill('SIGTERM')
  expect(await other.exited).toBe(0)
  expect(await statusOf(id)).toBe('approved')
  expect(team.ledger()).not.toContain('rare changed')
})

test('cancelling kills a running call', async () => {
  const id = await team.ask('look', { id: 'long', seconds: 50 })
  await expect.poll(() => team.ledger()).toContain('look long')
  await cancelInvocation(team.as('cordon_operator', 'anna'), id, 'enough')
  await expect.poll(() => statusOf(id)).toBe('failed')
  expect(await team.find(id)).toMatchObject({ usage: { status: 'cancelled' } })
})

test('a pause holds approved calls while others run, and resuming starts them', IN_MATRIX, async () => {
  const anna = team.as('cordon_operator', 'anna')
  await anna.query(`select agents.fn_stop('team', 'pause', 'a look around', 'tool', 'look')`)
  const id = await team.ask('look', { id: 'paused', seconds: 0 })
  const caller = team.startCaller('look', { id: 'also paused', seconds: 0 })
  await caller.invocation
  // Asked for later, of a tool that is not paused, and run: the host has been at the queue since.
  const twin = await team.ask('pay', { id: 'not paused', seconds: 0 })
  await team.approve(twin)
  await expect.poll(() => statusOf(twin)).toBe('completed')
  // And it has looked for what it was not told of, as often as it beats.
  const heard = async () =>
    (
      await team.engine.query<{ at: string }>(
        `select last_seen::text as at from agents.runners where name like 'one/%'`,
      )
    )[0]?.at
  const seen = new Set([await heard()])
  await expect.poll(async () => seen.add(await heard()).size).toBeGreaterThan(3)
  expect(team.ledger()).toContain('done not paused')
  expect(team.ledger()).not.toContain('look paused')
  expect(team.ledger()).not.toContain('look also paused')
  expect(await statusOf(id)).toBe('approved')
  await anna.query(`select agents.fn_resume('team', 'tool', 'look')`)
  await expect.poll(() => statusOf(id)).toBe('completed')
  expect(await caller.result).toMatchObject({ status: 'ok' })
})

test(
  'on the first signal a runner finishes its calls and claims none, on the second it kills them',
  IN_MATRIX,
  async () => {
    const first = team.startHost('leaving', { labels: ['rare-earth'], concurrency: 2 })
    await first.until(({ kind }) => kind === 'ready')
    host.process.kill('SIGTERM')
    expect(await host.exited).toBe(0)
    const running = await team.ask('look', { id: 'finishes', seconds: 2 })
    await expect.poll(() => team.ledger()).toContain('look finishes')
    first.process.kill('SIGTERM')
    await first.until(({ kind }) => kind === 'draining')
    const later = await team.ask('look', { id: 'later', seconds: 0 })
    expect(await first.exited).toBe(0)
    expect([await statusOf(running), await statusOf(later)]).toEqual(['completed', 'approved'])

    const second = team.startHost('leaving at once', { labels: ['rare-earth'], concurrency: 2 })
    const long = await team.ask('look', { id: 'endless', seconds: 50 })
    await expect.poll(() => team.ledger()).toContain('look endless')
    await expect.poll(() => statusOf(later)).toBe('completed')
    second.process.kill('SIGTERM')
    await second.until(({ kind }) => kind === 'draining')
    second.process.kill('SIGTERM')
    expect(await second.exited).toBe(0)
    expect(await statusOf(long)).toBe('failed')
  },
)
