// Limits by cgroups, and core handlers, in a machine whose kernel has them all: as root, and as an ordinary user in a
// delegated part of the tree.
import { beforeAll, describe, expect, test } from 'vitest'

import { lastingFolder } from '../attacks/playground.js'
import { needs } from '../../../../test/requirement.js'

import type { Fact } from './emulator.js'
import { obstacleToMachine, runMachine } from './machine.js'

const obstacle = obstacleToMachine()
const folder = lastingFolder()
let facts: readonly Fact[] = []
let noise = ''

beforeAll(async () => {
  if (obstacle === undefined) ({ facts, noise } = await runMachine(folder, ['memory-bomb']))
}, 1_500_000)

const fact = (place: string, name: string): unknown =>
  facts.find((told) => told.place === place && told.name === name)?.value

test('the machine starts, and ends by itself', (context) => {
  needs(context, obstacle === undefined, String(obstacle))
  expect(
    facts.filter(({ name }) => name === 'failure'),
    noise,
  ).toEqual([])
  expect(fact('machine', 'end'), noise).toBe(true)
})

const PLACES = [
  {
    place: 'root',
    title: 'as root, in the root of the tree',
    form: 'landlock',
    parent: '/sys/fs/cgroup',
    second: 'supervisor',
  },
  {
    place: 'delegated',
    title: 'as an ordinary user, in a delegated part of the tree',
    form: 'namespaces',
    parent: '/sys/fs/cgroup/delegated',
    second: 'pid-namespace',
  },
] as const

const HELD = {
  'limits.memory': ['cgroup', 'supervisor'],
  'limits.processes': expect.arrayContaining(['cgroup']) as string[],
}
const ENDED_BY_MEMORY = { status: 'limit', limit: 'memory', stdout: '' }

describe.runIf(obstacle === undefined).each(PLACES)('$title ($form)', ({ place, form, parent, second }) => {
  const ofCall = (name: string) => fact(place, name)

  test('detects cgroups by making one', () => {
    expect(fact(place, 'host')).toEqual({ held: true, parent })
  })

  test('gives a call with limits a cgroup and says so, and a call without limits none', () => {
    expect(ofCall('with a limit')).toMatchObject({
      exitCode: 0,
      enforced: { ...HELD, end_of_call: ['cgroup', second] },
      usage: { peakMemoryBytes: expect.any(Number) as number },
    })
    expect(JSON.stringify(ofCall('without limits'))).toContain('"stdout":"well')
    expect(JSON.stringify(ofCall('without limits'))).not.toContain('cgroup')
  })

  test('sets the limits of the policy in the kernel, plus room for the keeper', () => {
    expect(ofCall('its files')).toEqual({
      'memory.max': String((24 + 8) << 20),
      'memory.swap.max': '0',
      'memory.oom.group': '1',
      'pids.max': '17',
    })
  })

  test('limits and reports the memory of all processes together', () => {
    expect(ofCall('memory')).toMatchObject({
      ...ENDED_BY_MEMORY,
      violations: [{ kind: 'memory', limit: 24 << 20, effect: 'ended' }],
    })
  })

  test('limits kernel memory that belongs to no process', () => {
    expect(ofCall('memory in the kernel')).toMatchObject(ENDED_BY_MEMORY)
  })

  test('enforces the limit in the kernel when the supervisor does not check', () => {
    expect(ofCall('while its supervisor is stopped')).toEqual({
      emptied: true,
      events: expect.stringMatching(/^oom_group_kill 1$/m) as string,
    })
    expect(ofCall('once its supervisor goes on')).toMatchObject(ENDED_BY_MEMORY)
  })

  test('hides the cgroup tree from the tool, which cannot change it', () => {
    expect(ofCall('its own tree')).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    const { stderr } = ofCall('its own tree') as { stderr: string }
    expect(stderr.trim().split('\n')).toHaveLength(3)
    if (form === 'namespaces') expect(ofCall('with a limit')).toMatchObject({ stdout: '0::/\n' })
  })

  test('kills leftover processes of a call and removes its cgroup', () => {
    expect(ofCall('left behind')).toMatchObject({ exitCode: 0, stdout: 'left\n' })
    expect(ofCall('nothing stays')).toBe(true)
  })

  test('starts no core handler of the host for a crash in a cell, but for one outside', () => {
    for (const each of ['namespaces', 'landlock'])
      expect(fact(place, `a crash in a cell (${each})`)).toMatchObject({ signal: 11 })
    expect(fact(place, 'handlers started')).toEqual({ outside: 1, cells: 0 })
  })

  test('can be required without a limit, also for a warm cell', () => {
    expect(fact(place, 'required')).toMatchObject({
      exitCode: 0,
      stdout: 'well\n',
      enforced: { 'limits.processes': expect.arrayContaining(['cgroup']) as string[] },
    })
    expect(fact(place, 'warm')).toMatchObject({ status: 'limit', limit: 'memory', enforced: HELD })
  })

  test('leaves no process after a killed supervisor, and a later sandbox removes its cgroup but no others', () => {
    expect(fact(place, 'a killed supervisor')).toMatchObject({ status: 'refused', code: 'launcher-died' })
    expect(fact(place, 'nobody is left')).toBe(true)
    expect(fact(place, 'sweep')).toEqual({ before: true, after: false, others: true })
  })
})

describe.runIf(obstacle === undefined)('as an ordinary user in a cgroup with other processes', () => {
  test('the facts say why there are no cgroups', () => {
    expect(fact('crowded', 'host')).toMatchObject({
      held: false,
      stage: 'cgroup',
      problem: expect.stringContaining('busy') as string,
    })
  })

  test('regular checks enforce a limit, and the profile claims nothing else', () => {
    expect(fact('crowded', 'with a limit')).toMatchObject({
      exitCode: 0,
      stdout: 'well\n',
      enforced: { 'limits.memory': ['supervisor'], 'end_of_call': ['pid-namespace'] },
    })
  })

  test('refuses a call that requires cgroups, with a fix', () => {
    expect(fact('crowded', 'required')).toMatchObject({
      status: 'refused',
      code: 'host-cannot-hold',
      fix: expect.stringContaining('cordon doctor') as string,
    })
  })
})
