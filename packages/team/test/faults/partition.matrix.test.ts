// Several hosts with addresses of their own. One loses its connection while it runs calls, and neither it nor the
// others are told.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { needs } from '../../../../test/requirement.js'
import { startServer } from '../store/server.js'

import { openNetworks } from './networks.js'
import type { Networks } from './networks.js'
import { openTeam } from './team.js'
import type { Team } from './team.js'

let networks: Networks | undefined
let team: Team | undefined
beforeAll(async () => {
  networks = openNetworks(2)
  if (networks === undefined) return
  const server = startServer({ addresses: networks.address })
  appendFileSync(join(server.folder, 'data', 'pg_hba.conf'), `host all all ${networks.address}/24 trust\n`)
  team = await openTeam(server)
  await team.engine.query('select pg_reload_conf()')
})
afterAll(async () => {
  await team?.remove()
  networks?.remove()
})

test(
  'a host that is cut off ends what it runs; others take over what reads, a person is asked about what writes, ' +
    'and its late word is not taken',
  async (context) => {
    needs(context, networks !== undefined, 'networks of its own cannot be made here (ip netns and bridges need root)')
    if (networks === undefined || team === undefined) return
    const { cut, join: rejoin, within, address } = networks
    const { ask, approve, find, ledger, startHost, engine } = team
    const url = `postgres://hosts@${address}/postgres`
    const far = startHost('far', { within: within(0), url })
    await far.until(({ kind }) => kind === 'ready')
    const reads = await ask('look', { id: 'reads', seconds: 12 })
    const writes = await ask('pay', { id: 'writes', seconds: 12 })
    await approve(writes)
    await expect.poll(ledger).toEqual(expect.arrayContaining(['look reads', 'pay writes']))
    const near = startHost('near', { within: within(1), url })
    await near.until(({ kind }) => kind === 'ready')
    expect(
      (
        await engine.query<{ client_addr: string }>(
          `select distinct client_addr from pg_stat_activity where usename = 'hosts'`,
        )
      ).length,
    ).toBe(2)

    cut(0)
    await far.until(({ kind }) => kind === 'lost')
    await expect.poll(async () => (await find(writes)).status).toBe('pending')
    await expect.poll(async () => (await find(reads)).runner ?? '').toMatch(/^near\//)
    rejoin(0)
    await expect
      .poll(() => far.news.filter(({ kind }) => kind === 'refused' || kind === 'ended').length)
      .toBeGreaterThanOrEqual(2)
    expect(await find(writes)).toMatchObject({ status: 'pending', output: null })
    await expect.poll(async () => (await find(reads)).status).toBe('completed')
    expect(await find(reads)).toMatchObject({ fence: '2', runner: expect.stringMatching(/^near\//) as string })
    expect(ledger().filter((line) => line === 'pay writes')).toHaveLength(1)
    expect(ledger()).not.toContain('done writes')
    expect(await engine.query('select * from agents.fn_verify_audit()')).toEqual([])
  },
)
