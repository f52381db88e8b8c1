import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'

export const records: Area = area('Records', [
  {
    claim: 'the profile has the grants and where the call ran',
    given: { '@/r/': '', '@/w/': '' },
    tell: async ({ run, at }) => {
      const { profile } = await run('true', {
        policy: {
          filesystem: { read: ['@/r'], write: ['@/w'] },
          environment: ['A=secret value'],
          limits: { wall: '10s' },
        },
        cwd: '@/w',
      })
      expect(profile).toMatchObject({
        mode: 'sandboxed',
        cwd: at('@/w'),
        write_roots: [at('@/w')],
        network: 'none',
        process_limits: { wall: 10_000 },
      })
      expect(profile.read_roots).toContain(at('@/r'))
      expect(profile.environment_ref).toContain('A')
      expect(JSON.stringify(profile)).not.toContain('secret value')
    },
  },
  {
    claim: 'the profile names what enforces each closed boundary',
    tell: async ({ run }) => {
      const { profile } = await run('true', {
        policy: { exec: 'none', limits: { memory: '1G', cpu: '60s', wall: '60s' } },
      })
      const closed = [
        'filesystem_read',
        'filesystem_write',
        'network',
        'environment',
        'exec',
        'syscalls',
        'end_of_call',
        'limits.memory',
        'limits.cpu',
        'limits.wall',
        'limits.scratch',
      ]
      expect(closed.filter((name) => (profile.enforced[name] ?? []).length === 0)).toEqual([])
    },
  },
  {
    claim: 'the profile claims nothing about open sections',
    tell: async ({ run }) => {
      const { profile } = await run('true', { policy: { network: 'all', exec: 'all' } })
      expect(profile.enforced).toMatchObject({ network: [], exec: [] })
      expect(Object.keys(profile.enforced).filter((name) => /memory|cpu|wall/.test(name))).toEqual([])
    },
  },
  {
    claim: 'the profile refers to each violation',
    tell: async ({ run }) => {
      const { profile, violations } = await run('/bin/ls / 2> /dev/null; /bin/cat 2> /dev/null; true', {
        policy: { exec: 'none' },
      })
      expect(violations).toHaveLength(2)
      expect(profile.violation_refs).toEqual(['violations/0', 'violations/1'])
    },
  },
  {
    claim: 'a refused change of a file is reported, and a missing file is not',
    given: { '@/r/file': 'f', '@/w/': '' },
    policy: { filesystem: { read: ['@/r'], write: ['@/w'] } },
    run: 'exec 2> /dev/null; cat @/r/missing; : > @/w/file; rm @/w/file; mkdir -p @/r; (: >> @/r/file); (: > @/r/new)',
    then: {
      exitCode: 2,
      violations: [
        { kind: 'file', access: 'write', path: '@/r/file' },
        { kind: 'file', access: 'write', path: '@/r/new' },
      ],
    },
    leaves: { '@/r/file': 'f', '@/r/new': null },
  },
  {
    claim: 'a required mechanism that the host has lets the call run',
    policy: { require: ['seccomp', 'landlock'] },
    run: 'echo held',
    then: { stdout: 'held\n' },
  },
  {
    claim: 'a missing required mechanism refuses the call',
    policy: { require: ['broker'] },
    run: ['/bin/true'],
    then: { refused: 'host-cannot-hold' },
  },
  {
    claim: 'a call can require a mount namespace',
    policy: { require: ['mount-namespace', 'pid-namespace', 'network-namespace'] },
    run: 'echo held',
    then: { stdout: 'held\n' },
  },
  {
    claim: 'names of ungranted files are hidden',
    given: { '@/secret-name': '' },
    can: [['see', '/etc/passwd']],
    cannot: [['see', '@/secret-name']],
  },
  {
    claim: 'the list of processes shows only the cell',
    run: 'cd /proc; set -- [0-9]*; echo $#',
    then: { stdout: '2\n' },
  },
  {
    claim: 'no process of the host can be read',
    tell: async ({ run }) => {
      const { stdout } = await run([
        '/bin/sh',
        '-c',
        'exec 2> /dev/null; cd /proc/$1 || exit; for f in cmdline environ maps status; do cat $f; done; ls fd cwd root',
        'sh',
        String(process.pid),
      ])
      expect(textOf(stdout)).toBe('')
    },
  },
  {
    claim: 'a child of the program can read its own entry in /proc',
    run: 'grep -c ^Pid: /proc/self/status; true',
    then: { stdout: '1\n' },
  },
])
