import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { CORDON } from '../../../../test/repository.js'
import { lastingFolder, snapshot } from '../attacks/playground.js'
import { preparePrograms } from '../attacks/programs.js'
import { newMark, survivorsOf } from '../attacks/survivors.js'

import { furnish } from './furnish.js'
import { insideCell, within } from './place.js'
import type { Place } from './place.js'
import { LISTEN, TALK_TO_ITSELF } from './scripts.js'
import { describePlace, expectHeld, expectNotRun, ran } from './visit.js'
import type { Visit, VisitRequest } from './visit.js'

const programs = preparePrograms()
const room = furnish(lastingFolder(), (folder) =>
  execFileSync(programs.command('write-outside')[0], ['--seed', folder]),
)
const mark = newMark()

const options = [
  '--read',
  programs.folder,
  '--read',
  room.outerOnly,
  '--read',
  room.both,
  '--write',
  room.written,
  '--write',
  room.outerWritten,
  '--cwd',
  room.written,
]
const attack = (name: string, ...args: readonly string[]): readonly string[] => [...programs.command(name), ...args]
const policy = { filesystem: { read: [programs.folder, room.both], write: [room.written] } }

const CALLS: NonNullable<VisitRequest['calls']> = {
  'plain': { argv: ['/bin/echo', 'well'] },
  'read what both grant': { argv: ['/bin/cat', room.granted], policy },
  'write what both grant': { argv: ['/bin/sh', '-c', 'echo new > file && cat file'], policy, cwd: room.written },
  'read what the outer grants': {
    argv: attack('read-path', room.outerSecret, room.written),
    policy,
    cwd: room.written,
  },
  'write what the outer grants': {
    argv: attack('write-outside', room.outerWritten, room.written),
    policy,
    cwd: room.written,
  },
  'change what the outer grants': {
    argv: attack('metadata', join(room.outerWritten, 'file'), room.written),
    policy,
    cwd: room.written,
  },
  'read what no one grants': { argv: attack('read-path', room.secret, room.written), policy, cwd: room.written },
  'ask for what the outer withholds': {
    argv: ['/bin/cat', room.secret],
    policy: { filesystem: { read: [room.secret] } },
  },
  'new namespaces': { argv: attack('new-namespaces'), policy },
  'the kernel': { argv: attack('kernel-interfaces', room.granted), policy },
  'its supervisor': { argv: attack('supervisor', 'parent'), policy: { ...policy, limits: { wall: '60s' } } },
  'no Unix sockets': { argv: TALK_TO_ITSELF },
  'listen': { argv: LISTEN },
  'network': { argv: ['/bin/true'], policy: { network: 'all' } },
  'exec': { argv: ['/bin/sh', '-c', 'exit 3'], policy: { exec: 'none' } },
  'processes': { argv: ['/bin/true'], policy: { limits: { processes: 4 } } },
  'wall': {
    argv: ['/bin/sh', '-c', `sleep 40 & setsid sleep 40 & exec sleep 41`, mark],
    policy: { limits: { wall: '700ms' } },
  },
  'memory': {
    argv: ['/usr/bin/python3', '-c', 'x = bytearray(300 << 20); print("had it")'],
    policy: { limits: { memory: '50M', wall: '20s' } },
  },
  'cpu': {
    argv: ['/bin/sh', '-c', 'for i in 1 2 3; do while :; do :; done & done; wait', mark],
    policy: { limits: { cpu: '500ms', wall: '30s' } },
  },
  'background': { argv: ['/bin/sh', '-c', `(setsid /bin/sh -c 'sleep 300; :' "$1" &) ; echo left`, 'sh', mark] },
}

let survivors: readonly string[] = ['nobody looked']
const request = (): VisitRequest => ({
  calls: CALLS,
  warm: true,
  whileThere: async () => {
    survivors = await survivorsOf(mark)
  },
})

const claimsOfBoth = (found: () => Visit): void => {
  test('a cell inside it takes the landlock form, cold and warm', () => {
    expect(ran(found(), 'plain')).toMatchObject({ exitCode: 0, stdout: 'well\n', profile: { form: 'landlock' } })
    expect(found().calls['warm']).toMatchObject({ exitCode: 0, stdout: 'warm\n' })
  })

  test('the facts name what the outer cell withholds', () => {
    expect(found().host.namespaces).toMatchObject({ held: false, stage: 'user-namespace' })
    expect(found().host.listener).toMatchObject({
      held: false,
      stage: 'seccomp-listener',
      problem: expect.stringContaining('busy') as string,
    })
  })

  test('files that both grant can be read and written', () => {
    expect(ran(found(), 'read what both grant').stdout).toBe('GRANTED\n')
    expect(ran(found(), 'write what both grant').stdout).toBe('new\n')
  })

  test('files that only the outer cell grants are absent for the inner one', () => {
    expectHeld(found(), 'read what the outer grants', { watch: 'tells when somebody uses the file, not what is in it' })
    expectHeld(found(), 'write what the outer grants')
    expectHeld(found(), 'change what the outer grants')
    expect(snapshot(room.outerWritten)).toEqual(room.before)
  })

  test('files that the outer cell withholds cannot be granted inside', () => {
    expectHeld(found(), 'read what no one grants', { watch: 'tells when somebody uses the file, not what is in it' })
    const asked = found().calls['ask for what the outer withholds']
    expect(JSON.stringify(asked)).not.toContain('SECRET')
    expect(asked?.kind === 'ran' ? asked.exitCode : asked?.code).not.toBe(0)
  })

  test('namespaces and other kernel powers are refused', () => {
    expectHeld(found(), 'new namespaces')
    expectHeld(found(), 'the kernel', {
      'personality': 'switches off randomisation for its own children, which gives nobody any right',
      'ptrace-traceme': 'debuggers start their children so',
      'process_vm_readv-self': 'the same: of itself and its own children',
    })
    expectHeld(found(), 'its supervisor')
  })

  test('what the outer cell makes impossible is refused, not promised', () => {
    expectNotRun(found(), 'network', 'network-grant-unsupported')
    expectNotRun(found(), 'exec', 'host-cannot-hold')
    expectNotRun(found(), 'processes', 'limit-unsupported')
    expect(ran(found(), 'no Unix sockets').exitCode).not.toBe(0)
    expect(ran(found(), 'listen').stdout).toBe('refused\nrefused\n')
  })

  test('the wall clock ends a call, and nothing of it is left', () => {
    expect(ran(found(), 'wall')).toMatchObject({ status: 'limit', limit: 'wall' })
    expect(ran(found(), 'background')).toMatchObject({ exitCode: 0, stdout: 'left\n' })
    expect(survivors).toEqual([])
  })
}

describePlace(insideCell('namespaces', options), request, (found) => {
  claimsOfBoth(found)

  test('limits over all processes work, because the outer /proc shows them', () => {
    expect(found().host.measuring).toEqual({ held: true })
    expect(ran(found(), 'memory')).toMatchObject({ status: 'limit', limit: 'memory' })
    expect(ran(found(), 'cpu')).toMatchObject({ status: 'limit', limit: 'cpu' })
  })
})

describePlace(insideCell('landlock', options), request, (found) => {
  claimsOfBoth(found)

  test('limits over all processes are refused, because the outer /proc does not show them', () => {
    expect(found().host.measuring).toMatchObject({ held: false, stage: 'supervise' })
    expectNotRun(found(), 'memory', 'limit-unsupported')
    expectNotRun(found(), 'cpu', 'limit-unsupported')
    expect(ran(found(), 'plain').profile.enforced).toMatchObject({
      'limits.processes': [],
      'limits.scratch': [],
      'end_of_call': [expect.stringMatching(/^landlock:/) as string],
    })
  })
})

// Its own folder for the record: Cordon tells of a file that the host has in /tmp and the cell has not.
const ownRecord = ['--env', `XDG_STATE_HOME=/tmp/${mark}`]
const NESTS: readonly Place[] = [
  within(insideCell('namespaces', ownRecord), insideCell('landlock', [])),
  within(insideCell('landlock', []), insideCell('landlock', []), insideCell('landlock', [])),
]

test.each(NESTS)('the command line works in $title', ({ enter }) => {
  const [program = '', ...args] = enter(['/bin/sh', '-c', 'echo nested; exit 7'])
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 200_000 })
  expect({ status, stdout, stderr }).toEqual({ status: 7, stdout: 'nested\n', stderr: '' })
})

test('the outer keeper does not write for a cell inside', () => {
  const [kept, own] = [lastingFolder(), lastingFolder()]
  // With something protected in it, the outer keeper carries out all that changes this folder.
  writeFileSync(join(kept, '.bashrc'), 'original\n')
  writeFileSync(join(kept, 'file'), 'original\n')
  const script =
    'echo planted > file; echo planted > new; mkdir folder; mv file moved; ln file second; rm file; cd "$1" ' +
    '&& echo own > file && cat file'
  const inner = [
    process.execPath,
    CORDON,
    'run',
    '--read',
    kept,
    '--write',
    own,
    '--cwd',
    kept,
    '--',
    '/bin/sh',
    '-c',
    script,
    'sh',
    own,
  ]
  const [program = '', ...args] = insideCell('landlock', ['--write', kept, '--write', own]).enter(inner)
  const before = snapshot(kept)
  expect(spawnSync(program, args, { encoding: 'utf8', timeout: 200_000 }).stdout).toBe('own\n')
  expect(snapshot(kept)).toEqual(before)
  const [outer = '', ...words] = insideCell('landlock', ['--write', kept, '--cwd', kept]).enter([
    '/bin/sh',
    '-c',
    'echo outer > file && cat file',
  ])
  expect(spawnSync(outer, words, { encoding: 'utf8', timeout: 200_000 }).stdout).toBe('outer\n')
})
