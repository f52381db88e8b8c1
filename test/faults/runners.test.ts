// Runners as processes of their own, on a real server, without faults: what they take, run, tell and leave to others.
import { afterAll, beforeAll, expect, test } from 'vitest'

import { openTeam } from './team.js'
import type { Team } from './team.js'

let team: Team
beforeAll(async () => { team = await openTeam() }, 120_000)
afterAll(() => team.remove())

test('a runner takes an approved call, runs it, and completes it', async () => {
  const host = team.startHost('one')
  await host.until(({ kind }) => kind === 'ready')
  const id = await team.ask('pay', { id: 'first', seconds: 0 })
  expect((await team.find(id)).status).toBe('pending')
  await team.approve(id)
  await expect.poll(async () => (await team.find(id)).status, { timeout: 20_000 }).toBe('completed')
  expect(team.ledger()).toEqual(['pay first', 'done first'])
  expect(await team.find(id)).toMatchObject({ output: { exit_code: 0 }, fence: '1', usage: { status: 'ok', boundary: { mode: expect.any(String) as string } } })
  host.process.kill('SIGTERM')
  expect(await host.exited).toBe(0)
})
