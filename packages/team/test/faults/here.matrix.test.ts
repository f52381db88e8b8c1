// Processes that run their own calls on a real server, killed and restarted, or disconnected. As with runners, no
// call is lost, and no call of the class write runs twice.
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { maintainRegistry } from '../../src/store/index.js'

import { openRelay } from './relay.js'
import { openTeam } from './team.js'
import type { Team } from './team.js'

let team: Team
beforeAll(async () => {
  team = await openTeam()
})
afterAll(() => team.remove())

const timesOf = (line: string) => team.ledger().filter((each) => each === line).length
const doubtOf = async (id: string) =>
  (
    await team.engine.query<{ why: string }>(
      `select why from agents.approvals where subject_id = $1 and status = 'pending'`,
      [id],
    )
  )[0]?.why ?? ''

test(
  'a process that is killed while it runs its call, and started again by the same name: what reads is run ' +
    'again, once',
  async () => {
    const input = { id: 'reads', seconds: 6 }
    const first = team.startOwnCaller('look', input)
    const id = await first.invocation
    await expect.poll(() => timesOf('look reads')).toBe(1)
    const before = await team.find(id)
    expect(before).toMatchObject({
      status: 'running',
      runner: expect.stringMatching(/^laptop\/[0-9a-f]{8}$/) as string,
    })
    first.process.kill('SIGKILL')
    // Nobody but itself keeps this database up.
    const second = team.startOwnCaller('look', input, { invocation: id })
    expect(await second.result).toMatchObject({ status: 'ok', registered: { invocation: id } })
    const after = await team.find(id)
    expect(after).toMatchObject({
      status: 'completed',
      fence: '2',
      runner: expect.stringMatching(/^laptop\//) as string,
    })
    expect(after.runner).not.toBe(before.runner)
    expect(timesOf('look reads')).toBe(2)
  },
)

// These two wait for the same silences, at the same time. The one before has the database to itself.
test.concurrent(
  'asks again about a writing call of a killed process, and not about its twin that was not killed',
  async () => {
    const input = { id: 'writes', seconds: 6 }
    const twin = team.startOwnCaller('pay', { id: 'twin', seconds: 6 })
    const first = team.startOwnCaller('pay', input)
    const [id, twinId] = await Promise.all([first.invocation, twin.invocation])
    await team.approve(id)
    await team.approve(twinId)
    await expect.poll(() => timesOf('pay writes')).toBe(1)
    first.process.kill('SIGKILL')
    const second = team.startOwnCaller('pay', input, { invocation: id })
    await second.invocation
    await expect.poll(() => doubtOf(id)).toContain('may have happened')
    expect([timesOf('pay writes'), timesOf('done writes')]).toEqual([1, 0])
    await team.approve(id)
    expect(await second.result).toMatchObject({ status: 'ok' })
    expect([timesOf('pay writes'), timesOf('done writes')]).toEqual([2, 1])
    expect(await twin.result).toMatchObject({ status: 'ok' })
    expect(await team.find(twinId)).toMatchObject({ status: 'completed', fence: '1' })
  },
)

test.concurrent(
  'a disconnected process kills its cells before others may run its calls, and its late result is refused',
  async () => {
    const relay = await openRelay(join(team.server.folder, '.s.PGSQL.5432'))
    try {
      const input = { id: 'cut', seconds: 12 }
      const far = team.startOwnCaller('pay', input, {
        url: `postgres://laptop@127.0.0.1:${String(relay.port)}/postgres`,
      })
      const id = await far.invocation
      await team.approve(id)
      await expect.poll(() => timesOf('pay cut')).toBe(1)
      relay.cut()
      await expect
        .poll(async () => {
          await maintainRegistry(team.engine)
          return doubtOf(id)
        })
        .toContain('may have happened')
      const near = team.startOwnCaller('pay', input, { invocation: id })
      await near.invocation
      await team.approve(id)
      expect(await near.result).toMatchObject({ status: 'ok' })
      relay.join()
      expect(await far.result).toMatchObject({ status: 'failed' })
      // The second one did it; the first one began it, and did not end it.
      expect([timesOf('pay cut'), timesOf('done cut')]).toEqual([2, 1])
      expect(await team.find(id)).toMatchObject({ status: 'completed', fence: '2' })
      expect(await team.engine.query('select * from agents.fn_verify_audit()')).toEqual([])
    } finally {
      relay.close()
    }
  },
)
