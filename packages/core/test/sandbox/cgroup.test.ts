import { describe, expect, it } from 'vitest'

import { cgroupPlace } from '../../src/sandbox/host/cgroup.js'

const MOUNT = '31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate'
const HYBRID = [
  '26 25 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
  '27 25 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
].join('\n')

const USER_MANAGER = '/user.slice/user-1000.slice/user@1000.service'

describe('the place for the cgroup of a call', () => {
  it.each([
    ['beneath the root of all, for whoever lives there', '0::/', '/sys/fs/cgroup'],
    ['beside its own', '0::/mine/host', '/sys/fs/cgroup/mine'],
    [
      'beside the unit, where the user has a manager of its own',
      `0::${USER_MANAGER}/app.slice/run-1.scope`,
      `/sys/fs/cgroup${USER_MANAGER}/app.slice`,
    ],
    [
      'in a delegated unit, for whoever lives in a part of it',
      '0::/system.slice/agent.service/host',
      '/sys/fs/cgroup/system.slice/agent.service',
    ],
    [
      'by its own line among those of version 1',
      '4:memory:/elsewhere\n1:name=systemd:/\n0::/mine/host',
      '/sys/fs/cgroup/mine',
    ],
  ])('%s', (_claim, own, path) => {
    expect(cgroupPlace(`${own}\n`, `1 1 0:1 / / rw - ext4 /dev/vda rw\n${MOUNT}\n`)).toEqual({ kind: 'folder', path })
  })

  it('is found if version 2 is mounted beside version 1', () => {
    expect(cgroupPlace('4:memory:/x\n0::/\n', HYBRID)).toEqual({ kind: 'folder', path: '/sys/fs/cgroup/unified' })
  })

  it('is found if only a part of the tree is mounted', () => {
    const part = MOUNT.replace(' / /sys', ' /box /sys')
    expect(cgroupPlace('0::/box/mine/host\n', part)).toEqual({ kind: 'folder', path: '/sys/fs/cgroup/mine' })
    expect(cgroupPlace('0::/boxes/mine\n', part)).toMatchObject({ kind: 'none' })
  })

  it.each([
    ["a slice, which is systemd's", '0::/system.slice/agent.service', 'systemd'],
    ["a login, whose slice is systemd's", '0::/user.slice/user-1000.slice/session-2.scope', 'systemd'],
    ['the root of a tree that systemd divides', '0::/init.scope', 'systemd'],
    ['a cgroup outside its namespace', '0::/../other/host', 'outside'],
  ])('is not found in %s', (_claim, own, problem) => {
    expect(cgroupPlace(`${own}\n`, MOUNT)).toEqual({
      kind: 'none',
      problem: expect.stringContaining(problem) as string,
    })
  })

  it('is not found without version 2', () => {
    expect(cgroupPlace('4:memory:/x\n', MOUNT)).toEqual({
      kind: 'none',
      problem: 'no cgroup file system of version 2 is mounted',
    })
    expect(cgroupPlace('0::/\n', '')).toMatchObject({ kind: 'none' })
  })
})
