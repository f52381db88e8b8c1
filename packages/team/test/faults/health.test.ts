// What a runner tells its probes: that it lives, and whether it claims calls.
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { openTeam } from './team.js'
import type { RunningHost, Team } from './team.js'

let team: Team
let folder: string
let host: RunningHost | undefined
beforeAll(async () => {
  team = await openTeam()
})
afterAll(() => team.remove())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-health-'))
})
afterEach(async () => {
  host?.process.kill('SIGKILL')
  await host?.exited
  rmSync(folder, { recursive: true })
})

const start = async (): Promise<RunningHost> => {
  host = team.startHost('one', { options: ['--health', folder] })
  await host.until(({ kind }) => kind === 'ready')
  return host
}
const timeOf = (name: string): number => statSync(join(folder, name)).mtimeMs
const isReady = (): boolean => existsSync(join(folder, 'ready'))
const writtenAgain = async (name: string): Promise<void> => {
  const before = timeOf(name)
  await expect.poll(() => timeOf(name)).toBeGreaterThan(before)
}

test('a runner stays alive while its database is away, and is ready again when it answers', async () => {
  await start()
  await expect.poll(isReady).toBe(true)
  await writtenAgain('ready')
  team.server.stop()
  await expect.poll(isReady).toBe(false)
  await writtenAgain('alive')
  team.server.start()
  await expect.poll(isReady).toBe(true)
})

test('a runner that finishes its last calls is alive, and not ready', async () => {
  const { process, exited } = await start()
  await expect.poll(isReady).toBe(true)
  await team.ask('look', { id: 'last', seconds: 4 })
  await expect.poll(() => team.ledger()).toContain('look last')
  process.kill('SIGTERM')
  await expect.poll(isReady).toBe(false)
  await writtenAgain('alive')
  expect(await exited).toBe(0)
})

test('a runner does not begin with the files of an earlier process', async () => {
  writeFileSync(join(folder, 'ready'), '')
  const starting = team.startHost('one', {
    url: team.server.url('hosts', 'template1'),
    options: ['--health', folder],
  })
  await starting.exited
  expect(isReady()).toBe(false)
})

test('a folder that cannot be made is refused at the start', async () => {
  writeFileSync(join(folder, 'file'), '')
  const starting = team.startHost('one', { options: ['--health', join(folder, 'file', 'health')] })
  expect(await starting.exited).not.toBe(0)
  expect(starting.said()).toContain('file-unwritable')
})
