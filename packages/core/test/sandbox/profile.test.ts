import { describe, expect, it } from 'vitest'

import type { Plan } from '../../src/sandbox/plan/plan.js'
import { describeProfile, enforcedBy } from '../../src/sandbox/plan/profile.js'
import { path } from '../policy/places.js'

import { hostWith, notHeld } from './host-facts.js'
import { planWith } from './plans.js'

const connecting = (changes: Partial<Plan> = {}): Plan => planWith({ traps: ['connect'], ...changes })

const landlock = (changes: Partial<Plan> = {}): Plan => connecting({ form: 'landlock', ...changes })
const older = (abi: number) => hostWith({ landlock: { held: true, abi } })

describe('the claims of a profile', () => {
  it('name the version of Landlock', () => {
    expect(enforcedBy(landlock(), older(5))['filesystem_read']).toEqual(['landlock:5'])
  })

  it('lack hidden names, own process lists and the loopback without namespaces', () => {
    expect(enforcedBy(landlock(), hostWith())).toMatchObject({ file_names: [], process_list: [] })
    expect(enforcedBy(connecting(), hostWith())).toMatchObject({
      file_names: ['mount-namespace'],
      process_list: ['pid-namespace'],
    })
  })

  it('lack an own process list if /proc belongs to the host', () => {
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

  it('are empty for network all and exec all', () => {
    expect(enforcedBy(connecting({ network: 'all' }), hostWith())).toMatchObject({ network: [], exec: [] })
  })

  it('name the limits that are set, and what enforces them', () => {
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

  it('name a cgroup if the plan makes one, before the other mechanisms', () => {
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

  it('lack limits that need measuring, if nothing can be measured', () => {
    const enforced = enforcedBy(
      landlock({ limits: { memory: 1, cpu: 1, scratch: 1 } }),
      hostWith({ measuring: notHeld('inside another cell') }),
    )
    expect(enforced).toMatchObject({ 'limits.memory': [], 'limits.cpu': ['rlimit'], 'limits.scratch': [] })
    expect(enforced['end_of_call']).toEqual(['landlock:7'])
  })

  it('list the names of variables, sorted', () => {
    const profile = describeProfile(connecting(), hostWith(), { read: ['/usr'], write: [], sealed: [], closed: [] }, [
      'TOKEN',
      'PATH',
    ])
    expect(profile.environment_ref).toEqual(['PATH', 'TOKEN'])
  })
})
