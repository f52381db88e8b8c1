// Limits by cgroups, and core handlers, in a machine whose kernel has them all: as root, and as an ordinary user in a
// delegated part of the tree.
import { beforeAll, describe, expect, test } from 'vitest'

import { lastingFolder } from '../attacks/playground.js'
import { needs } from '../requirement.js'

import { obstacleToMachine, runMachine } from './machine.js'
import type { Fact } from './machine.js'

const obstacle = obstacleToMachine()
const folder = lastingFolder()
let facts: readonly Fact[] = []
let noise = ''

beforeAll(async () => {
  if (obstacle === undefined) ({ facts, noise } = await runMachine(folder, ['memory-bomb']))
}, 450_000)

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

  test('cgroups are found by making one', () => {
    expect(fact(place, 'host')).toEqual({ held: true, parent })
  })

  test('a call with limits has one and says so; a call without has none', () => {
    expect(ofCall('with a limit')).toMatchObject({
      exitCode: 0,
      enforced: { ...HELD, end_of_call: ['cgroup', second] },
      usage: { peakMemoryBytes: expect.any(Number) as number },
    })
    expect(JSON.stringify(ofCall('without limits'))).toContain('"stdout":"well')
    expect(JSON.stringify(ofCall('without limits'))).not.toContain('cgroup')
  })

  test('the kernel is told what the policy says, and room for the keeper', () => {
    expect(ofCall('its files')).toEqual({
      'memory.max': String((24 + 8) << 20),
      'memory.swap.max': '0',
      'memory.oom.group': '1',
      'pids.max': '17',
    })
  })

  test('memory of all processes together is bounded, and reported', () => {
    expect(ofCall('memory')).toMatchObject({
      ...ENDED_BY_MEMORY,
      violations: [{ kind: 'memory', limit: 24 << 20, effect: 'ended' }],
    })
  })

  test('memory that no process has, but the kernel for it, is bounded, too', () => {
    expect(ofCall('memory in the kernel')).toMatchObject(ENDED_BY_MEMORY)
  })

  test('the kernel holds the limit when the supervisor does not look', () => {
    expect(ofCall('while its supervisor is stopped')).toEqual({
      emptied: true,
      events: expect.stringMatching(/^oom_group_kill 1$/m) as string,
    })
    expect(ofCall('once its supervisor goes on')).toMatchObject(ENDED_BY_MEMORY)
  })

  test('the tool can neither see nor change the tree', () => {
    expect(ofCall('its own tree')).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    const { stderr } = ofCall('its own tree') as { stderr: string }
    expect(stderr.trim().split('\n')).toHaveLength(3)
    if (form === 'namespaces') expect(ofCall('with a limit')).toMatchObject({ stdout: '0::/\n' })
  })

  test('what a call leaves running dies with it, and its cgroup goes', () => {
    expect(ofCall('left behind')).toMatchObject({ exitCode: 0, stdout: 'left\n' })
    expect(ofCall('nothing stays')).toBe(true)
  })

  test('a crash in a cell starts no core handler of the host; one outside does', () => {
    for (const each of ['namespaces', 'landlock'])
      expect(fact(place, `a crash in a cell (${each})`)).toMatchObject({ signal: 11 })
    expect(fact(place, 'handlers started')).toEqual({ outside: 1, cells: 0 })
  })

  test('one can be required without a limit, and a warm cell has one', () => {
    expect(fact(place, 'required')).toMatchObject({
      exitCode: 0,
      stdout: 'well\n',
      enforced: { 'limits.processes': expect.arrayContaining(['cgroup']) as string[] },
    })
    expect(fact(place, 'warm')).toMatchObject({ status: 'limit', limit: 'memory', enforced: HELD })
  })

  test('a killed supervisor leaves nobody, and its cgroup is removed by a later sandbox; those of others stay', () => {
    expect(fact(place, 'a killed supervisor')).toMatchObject({ status: 'refused', code: 'launcher-died' })
    expect(fact(place, 'nobody is left')).toBe(true)
    expect(fact(place, 'sweep')).toEqual({ before: true, after: false, others: true })
  })
})

describe.runIf(obstacle === undefined)(
  'as an ordinary user, where others live in the cgroup that would have to be divided',
  () => {
    test('the facts say why there are no cgroups', () => {
      expect(fact('crowded', 'host')).toMatchObject({
        held: false,
        stage: 'cgroup',
        problem: expect.stringContaining('busy') as string,
      })
    })

    test('a limit is held by looking, and nothing else is claimed', () => {
      expect(fact('crowded', 'with a limit')).toMatchObject({
        exitCode: 0,
        stdout: 'well\n',
        enforced: { 'limits.memory': ['supervisor'], 'end_of_call': ['pid-namespace'] },
      })
    })

    test('a call that requires cgroups is refused, with the way out', () => {
      expect(fact('crowded', 'required')).toMatchObject({
        status: 'refused',
        code: 'host-cannot-hold',
        fix: expect.stringContaining('cordon doctor') as string,
      })
    })
  },
)
