import { describe, expect, test } from 'vitest'

import { bubblewrap, departureIn } from '../../src/sandbox/walls/bubblewrap.js'
import { firejail } from '../../src/sandbox/walls/firejail.js'
import { mountsIn } from '../../src/sandbox/index.js'
import { probeWall } from '../../src/sandbox/host/probe-host.js'
import { outcomeOf } from '../../src/sandbox/host/try-wall.js'
import type { Step } from '../../src/sandbox/plan/plan.js'
import type { WalledCell } from '../../src/sandbox/walls/wall.js'
import { path } from '../policy/places.js'
import { hostWith } from './host-facts.js'

const STEPS: readonly Step[] = [
  { kind: 'bind', access: 'rd', path: path('/dev/null') },
  { kind: 'terminals', path: path('/dev/pts') },
  { kind: 'file', path: path('/etc/hosts'), content: '127.0.0.1 localhost' },
  { kind: 'proc', path: path('/proc') },
  { kind: 'scratch', path: path('/tmp') },
  { kind: 'bind', access: 'rx', path: path('/usr') },
  { kind: 'bind', access: 'rwx', path: path('/var/a b') },
  { kind: 'bind', access: 'rx', path: path('/var/a b/.git') },
]
const CELL: WalledCell = { steps: STEPS, temporary: path('/tmp'), network: 'own', scratch: 1 << 20 }

const wordsOf = (cell: WalledCell): readonly string[] =>
  Buffer.from(bubblewrap('/usr/bin/bwrap', '/opt/cordon-cell').command(cell).inputs[0] ?? [])
    .toString()
    .split('\0')

describe('bubblewrap', () => {
  test('gets its words by a descriptor, and the command after --', () => {
    const { words } = bubblewrap('/usr/bin/bwrap', '/opt/cordon-cell').command(CELL)
    expect(words).toEqual(['--args', '5', '--', '/dev/.cordon-cell', 'channel'])
  })
  test('unshares everything, and shares the network only if all of it is granted', () => {
    expect(wordsOf(CELL)).toEqual(expect.arrayContaining(['--unshare-all', '--unshare-user', '--die-with-parent']))
    expect(wordsOf(CELL)).not.toContain('--share-net')
    expect(wordsOf({ ...CELL, network: 'shared' })).toContain('--share-net')
  })
  test('binds what is granted for reading read-only, and a seal after its root', () => {
    const words = wordsOf(CELL).join(' ')
    expect(words).toContain('--ro-bind /usr /usr --bind /var/a b /var/a b --ro-bind /var/a b/.git /var/a b/.git')
  })
  test('copies a small file of the system into its root, from a descriptor', () => {
    expect(wordsOf(CELL).join(' ')).toContain('--perms 0444 --file 6 /etc/hosts')
    const [, content] = bubblewrap('/usr/bin/bwrap', '/opt/cordon-cell').command(CELL).inputs
    expect(Buffer.from(content ?? []).toString()).toBe('127.0.0.1 localhost')
  })
  test('refuses a grant of all devices', () => {
    const all: Step = { kind: 'bind', access: 'r', path: path('/dev') }
    expect(() => wordsOf({ ...CELL, steps: [all] })).toThrow(/\/dev/)
  })
  test('refuses more mounts than it takes', () => {
    const many = Array.from({ length: 3000 }, (_, at): Step => ({ kind: 'bind', access: 'r', path: path(`/x/${at}`) }))
    expect(() => wordsOf({ ...CELL, steps: many })).toThrow(/mounts/)
  })
})

describe('firejail', () => {
  test('starts a launcher whose path has plain words only', () => {
    const { words } = firejail('/usr/bin/firejail', '/opt/cordon-cell').command(CELL)
    expect(words.slice(-4)).toEqual(['--net=none', '--', '/opt/cordon-cell', 'channel'])
    expect(() => firejail('/usr/bin/firejail', '/opt/$(id)/cordon-cell').command(CELL)).toThrow(/otherwise/)
  })
  test('is not held, with the reason, where the path of the launcher has other words', async () => {
    const surroundings = { isRoot: false, temporaryFolder: path('/tmp'), identity: undefined }
    const launcher = '/opt/a b/cordon-cell'
    const { landlock } = await probeWall(launcher, surroundings, firejail('/usr/bin/firejail', launcher))
    expect(landlock).toMatchObject({
      held: false,
      problem: expect.stringContaining('could read "/opt/a b/cordon-cell" otherwise') as string,
    })
  })
})

describe('a tried wall', () => {
  const wall = bubblewrap('/usr/bin/bwrap', '/opt/cordon-cell')
  const reasonOf = (stage: string) => {
    const refused = { held: false, stage, problem: 'bwrap: no permission', abi: 0 } as const
    return outcomeOf(wall, hostWith({ landlock: refused }))
  }
  test('that fails itself has its own words as the reason, and otherwise the stage before them', () => {
    expect(reasonOf('bubblewrap')).toEqual({ held: false, reason: 'bwrap: no permission' })
    expect(reasonOf('landlock')).toEqual({ held: false, reason: 'landlock: bwrap: no permission' })
  })
})

describe('the mounts that a wall made', () => {
  const outside = mountsIn('25 1 8:1 / / rw - ext4 /dev/sda rw\n26 25 8:2 /vol /var rw - ext4 /dev/sdb rw')
  const line = (device: string, root: string, point: string, options: string) =>
    `1 0 ${device} ${root} ${point} ${options},nosuid - x x rw`
  const RIGHT = [
    line('0:1', '/', '/', 'ro'),
    line('0:2', '/', '/dev', 'rw'),
    line('0:3', '/', '/proc', 'ro'),
    line('0:4', '/', '/tmp', 'rw'),
    line('8:1', '/usr', '/usr', 'ro'),
    line('8:2', '/vol/a\\040b', '/var/a\\040b', 'rw'),
    line('8:2', '/vol/a\\040b/.git', '/var/a\\040b/.git', 'ro'),
  ]
  const steps = STEPS.slice(2)
  const departure = (lines: readonly string[]) => departureIn(steps, outside, mountsIn(lines.join('\n')))

  test('are right if each shows the planned object with the planned right', () => {
    expect(departure(RIGHT)).toBeUndefined()
  })
  test.each([
    ['is missing', RIGHT.slice(0, -1)],
    ['shows something else', RIGHT.with(5, line('8:1', '/etc', '/var/a\\040b', 'rw'))],
    ['can be written', RIGHT.with(6, line('8:2', '/vol/a\\040b/.git', '/var/a\\040b/.git', 'rw'))],
    ['not asked for', [...RIGHT, line('8:1', '/root', '/root', 'ro')]],
    ['not asked for: /etc/hosts', [...RIGHT, line('8:1', '/etc/hosts', '/etc/hosts', 'ro')]],
  ])('are refused if one %s', (problem, lines) => {
    expect(departure(lines)).toContain(problem)
  })
  test('may have those of the host below a granted folder, as far as it is granted', () => {
    expect(departure([...RIGHT, line('8:9', '/', '/usr/local', 'ro')])).toBeUndefined()
    expect(departure([...RIGHT, line('8:9', '/', '/usr/local', 'rw')])).toContain('not asked for')
  })
})
