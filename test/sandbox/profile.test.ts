import { describe, expect, it } from 'vitest'

import type { Plan } from '../../src/sandbox/plan/plan.js'
import { describeProfile, enforcedBy } from '../../src/sandbox/plan/profile.js'
import { path } from '../policy/places.js'

import { hostWith, notHeld } from './host-facts.js'
import { planWith } from './plans.js'

const connecting = (changes: Partial<Plan> = {}): Plan => planWith({ traps: ['connect'], ...changes })

const landlock = (changes: Partial<Plan> = {}): Plan => connecting({ form: 'landlock', ...changes })
const older = (abi: number) => hostWith({ landlock: { held: true, abi } })

describe('what a profile claims', () => {
  it('names the version of Landlock that holds it', () => {
    expect(enforcedBy(landlock(), older(5))['filesystem_read']).toEqual(['landlock:5'])
  })

  it('does not claim hidden names, own lists of processes or the loopback without namespaces', () => {
    expect(enforcedBy(landlock(), hostWith())).toMatchObject({ file_names: [], process_list: [] })
    expect(enforcedBy(connecting(), hostWith())).toMatchObject({
      file_names: ['mount-namespace'],
      process_list: ['pid-namespace'],
    })
  })

  it("does not claim an own list of processes where /proc is the host's", () => {
    expect(enforcedBy(connecting(), hostWith({ ownProc: notHeld('masked') }))['process_list']).toEqual([])
  })

  it.each([
    ["truncation before ABI 3 is seccomp's", 2, 'filesystem_write', ['landlock:2', 'seccomp']],
    ["TCP before ABI 4 is not Landlock's", 3, 'network', ['seccomp', 'seccomp-listener']],
    ['TCP since ABI 4 is', 4, 'network', ['landlock:4', 'seccomp', 'seccomp-listener']],
    ['signals before ABI 6 are not', 5, 'processes', ['seccomp']],
    ['signals since ABI 6 are', 6, 'processes', ['landlock:6', 'seccomp']],
    ["the end of a call before ABI 6 is the supervisor's", 5, 'end_of_call', ['supervisor']],
  ])('%s', (_claim, abi, boundary, mechanisms) => {
    expect(enforcedBy(landlock(), older(abi))[boundary]).toEqual(mechanisms)
  })

  it('leaves empty what is granted: network all, exec all', () => {
    expect(enforcedBy(connecting({ network: 'all' }), hostWith())).toMatchObject({ network: [], exec: [] })
  })

  it('claims limits that are set, and by whom they are held', () => {
    const enforced = enforcedBy(
      connecting({
        traps: ['connect', 'fork'],
        limits: { memory: 1, processes: 1, cpu: 1, wall: 1, output: 1, openFiles: 1, fileSize: 1, scratch: 1 },
      }),
      hostWith(),
    )
    expect(Object.entries(enforced).filter(([name]) => name.startsWith('limits.'))).toEqual([
      ['limits.memory', ['supervisor']],
      ['limits.processes', ['seccomp-listener']],
      ['limits.cpu', ['rlimit', 'supervisor']],
      ['limits.wall', ['supervisor']],
      ['limits.output', ['supervisor']],
      ['limits.openFiles', ['rlimit']],
      ['limits.fileSize', ['rlimit']],
      ['limits.scratch', ['tmpfs']],
    ])
  })

  it('claims a cgroup where the plan makes one, before what also holds', () => {
    const plan = connecting({
      cgroup: path('/sys/fs/cgroup'),
      traps: ['connect', 'fork'],
      limits: { memory: 1, processes: 1 },
    })
    expect(enforcedBy(plan, hostWith())).toMatchObject({
      'limits.memory': ['cgroup', 'supervisor'],
      'limits.processes': ['cgroup', 'seccomp-listener'],
      'end_of_call': ['cgroup', 'pid-namespace'],
    })
    expect(enforcedBy({ ...plan, form: 'landlock', traps: [] }, hostWith({ measuring: notHeld('') }))).toMatchObject({
      'limits.memory': ['cgroup'],
      'limits.processes': ['cgroup'],
      'end_of_call': ['cgroup', 'landlock:7'],
    })
  })

  it('does not claim what would have to be measured where nothing can be', () => {
    const enforced = enforcedBy(
      landlock({ limits: { memory: 1, cpu: 1, scratch: 1 } }),
      hostWith({ measuring: notHeld('inside another cell') }),
    )
    expect(enforced).toMatchObject({ 'limits.memory': [], 'limits.cpu': ['rlimit'], 'limits.scratch': [] })
    expect(enforced['end_of_call']).toEqual(['landlock:7'])
  })

  it('holds the names of variables, sorted', () => {
    const profile = describeProfile(connecting(), hostWith(), { read: ['/usr'], write: [], sealed: [], closed: [] }, [
      'TOKEN',
      'PATH',
    ])
    expect(profile.environment_ref).toEqual(['PATH', 'TOKEN'])
  })
})
