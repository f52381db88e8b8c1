// Calls survive kills, stops, full disks and wrong clocks. No call is lost, no call of the class write runs twice,
// and nothing runs without approval. The tools write a ledger as proof.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { openPostgres } from '../../src/store/index.js'
import type { Queryable } from '../../src/store/index.js'

import { needs } from '../../../../test/requirement.js'

import { IN_MATRIX } from '../../../../test/turns.js'
import { openTeam } from './team.js'
import type { HostSettings, RunningHost, Team } from './team.js'

/** No host may be taken for silent while the server restarts or its disk is full, however busy the machine is. */
const PATIENT: HostSettings = { silentMs: 20_000 }
/** Calls that were in the queue when the server died are queued again after that silence. */
const QUEUED_AGAIN_MS = 150_000

let team: Team
beforeAll(async () => {
  team = await openTeam()
})
afterAll(() => team.remove())
afterEach(() => end(started.splice(0)))

const statusOf = async (id: string) => (await team.find(id)).status
const approveAs = (person: Queryable, id: string, inputHash: string) =>
  person.query('select agents.fn_approve_tool_invocation($1, null, $2)', [id, inputHash])
const timesOf = (line: string) => team.ledger().filter((each) => each === line).length
const started: RunningHost[] = []
const begin = (...names: readonly string[]) => beginWith({}, ...names)
const beginWith = async (settings: HostSettings, ...names: readonly string[]): Promise<readonly RunningHost[]> => {
  const hosts = names.map((name) => team.startHost(name, settings))
  started.push(...hosts)
  await Promise.all(hosts.map((host) => host.until(({ kind }) => kind === 'ready')))
  return hosts
}
const end = async (hosts: readonly RunningHost[]): Promise<void> => {
  for (const { process } of hosts) process.kill('SIGKILL')
  await Promise.all(hosts.map(({ exited }) => exited))
}
const recordIsWhole = async () => {
  expect(await team.engine.query('select * from agents.fn_verify_audit()')).toEqual([])
}

test(
  'each of 200 calls runs once and returns its result, although the server is killed and restarted',
  IN_MATRIX,
  async () => {
    await beginWith(PATIENT, 'first', 'second')
    const ids = Array.from({ length: 200 }, (_, at) => `call-${String(at)}`)
    const asked = await Promise.all(ids.map((id, at) => team.ask(at % 4 === 0 ? 'pay' : 'look', { id, seconds: 0 })))
    await Promise.all(
      asked.map(async (id, at) => {
        if (at % 4 === 0) await team.approve(id)
      }),
    )
    await expect.poll(() => team.ledger().length, { interval: 10 }).toBeGreaterThan(10)
    team.server.stop('immediate')
    team.server.start()
    const open = async () =>
      (
        await team.engine.query<{ open: string }>(
          `select concat_ws(' ', tool_key, status, runner) as open from agents.tool_invocations
          where id = any ($1) and status <> 'completed'`,
          [asked],
        )
      ).map((row) => row.open)
    await expect.poll(() => open().catch(String), { interval: 100, timeout: QUEUED_AGAIN_MS }).toEqual([])
    expect(
      ids.flatMap((id, at) =>
        timesOf(`${at % 4 === 0 ? 'pay' : 'look'} ${id}`) === 1
          ? []
          : [`${id}: ${String(timesOf(`${at % 4 === 0 ? 'pay' : 'look'} ${id}`))}`],
      ),
    ).toEqual([])
    await recordIsWhole()
  },
)

test('after a runner is killed, another runs its reading calls, and people are asked about its writing calls', async () => {
  const [first] = await begin('killed')
  const reads = await team.ask('look', { id: 'reads', seconds: 4 })
  const writes = await team.ask('pay', { id: 'writes', seconds: 4 })
  await team.approve(writes)
  await expect.poll(() => [timesOf('look reads'), timesOf('pay writes')]).toEqual([1, 1])
  first?.process.kill('SIGKILL')
  await begin('survivor')
  await expect.poll(() => statusOf(writes)).toBe('pending')
  await expect.poll(() => statusOf(reads)).toBe('completed')
  // Its cell went with it.
  expect([timesOf('look reads'), timesOf('pay writes'), timesOf('done writes')]).toEqual([2, 1, 0])
  expect(
    (
      await team.engine.query<{ why: string }>(
        `select why from agents.approvals where subject_id = $1 and status = 'pending'`,
        [writes],
      )
    )[0]?.why,
  ).toContain('may have happened')
  // A person who looked says that it has to be done.
  await team.approve(writes)
  await expect.poll(() => statusOf(writes)).toBe('completed')
  expect(timesOf('done writes')).toBe(1)
  await recordIsWhole()
})

test(
  'after a caller is killed during an approval, another process resumes the call by its id, and it runs once',
  IN_MATRIX,
  async () => {
    await begin('host')
    const caller = team.startCaller('pay', { id: 'resumed', seconds: 0 })
    const id = await caller.invocation
    caller.process.kill('SIGKILL')
    expect(await statusOf(id)).toBe('pending')
    expect(timesOf('pay resumed')).toBe(0)
    const second = team.startCaller('pay', { id: 'resumed', seconds: 0 }, id)
    await second.invocation
    await team.approve(id)
    expect(await second.result).toMatchObject({ status: 'ok', registered: { invocation: id } })
    expect(timesOf('pay resumed')).toBe(1)
  },
)

test('of two simultaneous approvals one decides, and the call runs once', async () => {
  await begin('one', 'two')
  const people = ['anna', 'otto'].map((name) => openPostgres({ url: team.server.url(name) }))
  const ids = Array.from({ length: 20 }, (_, at) => `raced-${String(at)}`)
  const asked = await Promise.all(ids.map((id) => team.ask('pay', { id, seconds: 0 })))
  for (const id of asked) {
    const { inputHash } = await team.find(id)
    const outcomes = await Promise.allSettled(people.map((person) => approveAs(person, id, inputHash)))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  }
  await expect.poll(async () => new Set(await Promise.all(asked.map(statusOf)))).toEqual(new Set(['completed']))
  for (const id of ids) expect(timesOf(`pay ${id}`)).toBe(1)
  await Promise.all(people.map((person) => person.close()))
})

const FAKETIME = ['aarch64', 'x86_64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path))

test('only the clock of the database counts, even if hosts are a month apart', IN_MATRIX, async (context) => {
  needs(context, FAKETIME !== undefined, 'libfaketime is not installed: apt-get install libfaketime')
  const skewed = (name: string, by: string) =>
    team.startHost(name, {
      ...PATIENT,
      environment: { LD_PRELOAD: FAKETIME ?? '', FAKETIME: by, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
    })
  const hosts = [skewed('early', '-30d'), skewed('late', '+30d')]
  started.push(...hosts)
  await Promise.all(hosts.map((host) => host.until(({ kind }) => kind === 'ready')))
  const ids = Array.from({ length: 12 }, (_, at) => `skewed-${String(at)}`)
  const asked = await Promise.all(ids.map((id) => team.ask('pay', { id, seconds: 0.5 })))
  for (const id of asked) await team.approve(id)
  await expect.poll(async () => new Set(await Promise.all(asked.map(statusOf)))).toEqual(new Set(['completed']))
  for (const id of ids) expect(timesOf(`pay ${id}`)).toBe(1)
  // Both took some, and neither was taken for silent.
  expect(new Set((await Promise.all(asked.map(team.find))).map(({ runner }) => runner?.split('/')[0]))).toEqual(
    new Set(['early', 'late']),
  )
  expect((await Promise.all(asked.map(team.find))).every(({ fence }) => fence === '1')).toBe(true)
})

test('with a full disk of the database nothing runs unrecorded, and nothing is lost', IN_MATRIX, async (context) => {
  const disk = join(team.server.folder, 'small-disk')
  mkdirSync(disk)
  const canMount = (() => {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0777', 'tmpfs', disk], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })()
  needs(context, canMount, 'a small disk cannot be mounted here (needs root)')
  const place = join(disk, 'space')
  mkdirSync(place)
  execFileSync('chown', ['postgres', place])
  const fill = join(disk, 'fill')
  try {
    await team.engine.execute(`create tablespace small location '${place}'`)
    const partitions = await team.engine.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'agents.audit_events'::regclass`,
    )
    for (const { name } of partitions)
      await team.engine.execute(
        `alter table ${name} disable trigger user; truncate ${name}; alter table ${name} enable trigger ` +
          `user; alter table ${name} set tablespace small`,
      )
    await team.engine.execute(`update agents.audit_chains set sequence = 0, hash = ''`)
    const [host] = await beginWith(PATIENT, 'full')
    const before = await team.ask('pay', { id: 'before', seconds: 2 })
    await team.approve(before)
    await expect.poll(() => timesOf('pay before')).toBe(1)
    const waiting = await team.ask('pay', { id: 'waiting', seconds: 0 })
    // To the last byte: what the tables have already is theirs, so that they are full as well.
    try {
      writeFileSync(fill, Buffer.alloc(8 << 20))
    } catch {
      // That is what it is for.
    }
    await expect
      .poll(
        () =>
          team.ask('look', { id: 'unrecorded', seconds: 0 }).then(
            () => 'asked',
            (error: unknown) => (error as { code?: string }).code,
          ),
        { interval: 5 },
      )
      .toBe('store-full')
    const { inputHash } = await team.find(waiting)
    const approve = () => approveAs(team.as('cordon_operator', 'anna'), waiting, inputHash)
    await approve().catch(() => undefined)
    await expect.poll(() => timesOf('done before')).toBe(1)
    expect(host?.news.some((news) => news.kind === 'ended' && news.invocation === before)).toBe(false)
    rmSync(fill)
    await expect.poll(() => statusOf(before)).toBe('completed')
    if ((await statusOf(waiting)) === 'pending') await approve()
    await expect.poll(() => statusOf(waiting)).toBe('completed')
    expect([timesOf('pay before'), timesOf('pay waiting')]).toEqual([1, 1])
    await recordIsWhole()
  } finally {
    team.server.stop('immediate')
    execFileSync('umount', ['-l', disk])
  }
})

test('killed hosts leave no cells behind', () => {
  expect(readdirSync(team.workspace).sort()).toEqual(['ledger'])
})
