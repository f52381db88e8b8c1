import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { CORDON } from '../../../../test/repository.js'
import type { Diagnosis } from '../cli/printed.js'
import { lastingFolder, snapshot } from '../attacks/playground.js'
import { compileAll, preparePrograms } from '../attacks/programs.js'
import { newMark, survivorsOf } from '../attacks/survivors.js'

import { furnish } from './furnish.js'
import { CHECKOUT, IS_ROOT, obstacleTo } from './place.js'
import { podmanContainer } from './podman.js'
import { LISTEN, TALK_OVER_LOOPBACK, TALK_TO_ITSELF } from './scripts.js'
import { describePlace, expectHeld, expectNotRun, ran } from './visit.js'
import type { Visit, VisitRequest } from './visit.js'

const programs = preparePrograms()
const room = furnish(lastingFolder(), (folder) =>
  execFileSync(programs.command('write-outside')[0], ['--seed', folder]),
)
const roomFolder = join(room.both, '..')
const mark = newMark()

const kind = IS_ROOT ? 'a podman container of root' : 'a rootless podman container'
const asRoot = podmanContainer(`${kind}, as its root`, { folders: [programs.folder, roomFolder] })
const asOrdinary = podmanContainer(`${kind}, as an ordinary user of it`, { user: 'ordinary' })

const attack = (name: string, ...args: readonly string[]): readonly string[] => [...programs.command(name), ...args]
const policy = { filesystem: { read: [programs.folder, room.both], write: [room.written] } }

const calls = (form: 'namespaces' | 'landlock'): NonNullable<VisitRequest['calls']> => ({
  'plain': { argv: ['/bin/echo', 'well'], form },
  'granted': { argv: ['/bin/cat', room.granted], policy, form },
  'written': { argv: ['/bin/sh', '-c', 'echo new > file && cat file'], policy, cwd: room.written, form },
  'read a secret': { argv: attack('read-path', room.secret, room.written), policy, cwd: room.written, form },
  'write elsewhere': {
    argv: attack('write-outside', room.outerWritten, room.written),
    policy,
    cwd: room.written,
    form,
  },
  'change elsewhere': {
    argv: attack('metadata', join(room.outerWritten, 'file'), room.written),
    policy,
    cwd: room.written,
    form,
  },
  'new namespaces': { argv: attack('new-namespaces'), policy, form },
  'the kernel': { argv: attack('kernel-interfaces', room.granted), policy, form },
  'its supervisor': {
    argv: attack('supervisor', form === 'namespaces' ? 'first' : 'parent'),
    policy: { ...policy, limits: { wall: '60s' } },
    form,
  },
  'own': { argv: TALK_TO_ITSELF, form },
  'listen': { argv: LISTEN, form },
  'exec': { argv: ['/bin/sh', '-c', '/bin/echo no; exit 3'], policy: { exec: 'none' }, form },
  'processes': {
    argv: ['/bin/sh', '-c', 'for i in 1 2 3 4 5 6; do sleep 1 & done; wait'],
    policy: { limits: { processes: 4 } },
    form,
  },
  'memory': {
    argv: ['/usr/bin/python3', '-c', 'x = bytearray(300 << 20); print("had it")'],
    policy: { limits: { memory: '50M', wall: '20s' } },
    form,
  },
  'wall': {
    argv: ['/bin/sh', '-c', 'sleep 40 & setsid sleep 40 & exec sleep 41', mark],
    policy: { limits: { wall: '700ms' } },
    form,
  },
  'background': { argv: ['/bin/sh', '-c', `(setsid /bin/sh -c 'sleep 300; :' "$1" &) ; echo left`, 'sh', mark], form },
  'observed': { argv: ['/bin/cat', room.secret], observe: 'everything', form },
})

let survivors: readonly string[] = ['nobody looked']
const request = (form: 'namespaces' | 'landlock'): VisitRequest => ({
  open: { form },
  calls: {
    ...calls(form),
    loopback: { argv: TALK_OVER_LOOPBACK, form },
    required: { argv: ['/bin/true'], policy: { require: ['cgroup'] }, form },
  },
  warm: true,
  whileThere: async () => {
    survivors = await survivorsOf(mark)
  },
})

for (const form of ['namespaces', 'landlock'] as const) {
  describePlace(
    { ...asRoot, title: `${asRoot.title}, ${form}` },
    () => request(form),
    (found) => {
      test('a cell runs, cold and warm', () => {
        expect(ran(found(), 'plain')).toMatchObject({
          status: 'exited',
          exitCode: 0,
          stdout: 'well\n',
          profile: { form },
        })
        expect(found().calls['warm']).toMatchObject({ exitCode: 0, stdout: 'warm\n' })
      })

      test('granted files can be read and written', () => {
        expect(ran(found(), 'granted').stdout).toBe('GRANTED\n')
        expect(ran(found(), 'written')).toMatchObject({ exitCode: 0, stdout: 'new\n' })
      })

      test('files without a grant can be neither read nor written nor changed', () => {
        expectHeld(found(), 'read a secret', { watch: 'tells when somebody uses the file, not what is in it' })
        expectHeld(found(), 'write elsewhere')
        expectHeld(found(), 'change elsewhere')
        expect(snapshot(room.outerWritten)).toEqual(room.before)
      })

      test('namespaces and other kernel powers are refused', () => {
        expectHeld(found(), 'new namespaces')
        expectHeld(found(), 'the kernel', {
          'ptrace-traceme': 'debuggers start their children so',
          'process_vm_readv-self': 'of itself and its own children',
          'personality': 'switches off randomisation for its own children, which gives nobody any right',
        })
        expectHeld(found(), 'its supervisor')
      })

      test('a tool can connect to itself, and cannot listen for others', () => {
        expect(ran(found(), 'own')).toMatchObject({ exitCode: 0, stdout: 'own\nown\n' })
        if (form === 'namespaces') expect(ran(found(), 'loopback')).toMatchObject({ exitCode: 0, stdout: 'own\n' })
        else expect(ran(found(), 'listen').stdout).toBe('refused\nrefused\n')
      })

      test('programs, processes, memory and time are limited, and refusals are reported', () => {
        expect(ran(found(), 'exec')).toMatchObject({
          exitCode: 3,
          stdout: '',
          violations: [expect.objectContaining({ kind: 'exec' })],
        })
        expect(ran(found(), 'processes').violations).toContainEqual(expect.objectContaining({ kind: 'processes' }))
        expect(ran(found(), 'memory')).toMatchObject({ status: 'limit', limit: 'memory', stdout: '' })
        expect(ran(found(), 'wall')).toMatchObject({ status: 'limit', limit: 'wall' })
        expect(ran(found(), 'observed').violations).toContainEqual(
          expect.objectContaining({ kind: 'file', path: room.secret }),
        )
      })

      test('nothing of a call is left running', () => {
        expect(ran(found(), 'background')).toMatchObject({ exitCode: 0, stdout: 'left\n' })
        expect(survivors).toEqual([])
      })

      test('the profile claims exactly what is enforced here', () => {
        const { enforced } = ran(found(), 'plain').profile
        expect(enforced).toMatchObject(
          form === 'namespaces'
            ? {
                file_names: ['mount-namespace'],
                network: ['network-namespace', 'seccomp'],
                end_of_call: ['pid-namespace'],
              }
            : { file_names: [] },
        )
        // The container masks parts of /proc, so that the kernel grants no fresh one.
        expect(enforced['process_list']).toEqual([])
        expectNotRun(found(), 'required', 'host-cannot-hold')
      })

      test('the facts name the missing /proc', () => {
        expect(found().host).toMatchObject({
          namespaces: { held: true },
          ownProc: { held: false, stage: 'proc' },
          landlock: { held: true },
          listener: { held: true },
          borrowing: { held: true },
          measuring: { held: true },
        })
      })
    },
  )
}

const OTHERS_CALLS = {
  plain: { argv: ['/bin/echo', 'well'] },
  landlock: { argv: ['/bin/echo', 'well'], form: 'landlock' },
  names: { argv: ['/bin/ls', CHECKOUT] },
} as const

describePlace(
  asOrdinary,
  () => ({ calls: OTHERS_CALLS, warm: true }),
  (found: () => Visit) => {
    test('a cell takes the strongest form, and the landlock form works too', () => {
      expect(ran(found(), 'plain')).toMatchObject({ exitCode: 0, stdout: 'well\n', profile: { form: 'namespaces' } })
      expect(ran(found(), 'landlock')).toMatchObject({ exitCode: 0, stdout: 'well\n', profile: { form: 'landlock' } })
      expect(found().calls['warm']).toMatchObject({ exitCode: 0, stdout: 'warm\n' })
    })

    test('files without a grant are absent', () => {
      expect(ran(found(), 'names')).toMatchObject({ exitCode: 2, stdout: '' })
    })
  },
)

// Where the container cannot be entered the claims above say so.
const canEnter = obstacleTo(asRoot) === undefined

const enter = (...argv: readonly string[]) => {
  const [program = '', ...args] = asRoot.enter([process.execPath, ...argv])
  return spawnSync(program, args, { encoding: 'utf8', timeout: 300_000, maxBuffer: 64 << 20 })
}

describe.runIf(canEnter)(`the command line in ${kind}`, () => {
  const cordon = (...argv: readonly string[]) => enter(CORDON, ...argv)

  test('doctor chooses the strongest form, and says what the container withholds and how to get it', () => {
    const { status, stdout } = cordon('doctor', '--json')
    const diagnosis = JSON.parse(stdout) as Diagnosis
    expect({ status, form: diagnosis.form, container: diagnosis.host.container }).toEqual({
      status: 0,
      form: 'namespaces',
      container: 'podman',
    })
    expect(diagnosis.forms).toMatchObject({ namespaces: { held: true }, landlock: { held: true } })
    expect(diagnosis.findings).toContainEqual(
      expect.objectContaining({
        what: expect.stringContaining('a private /proc') as string,
        fix: expect.stringContaining('unmask=ALL') as string,
      }),
    )
  })

  test.each([
    { what: 'an end of its own', argv: ['--', '/bin/sh', '-c', 'echo said; exit 7'], status: 7, stdout: 'said\n' },
    { what: 'a signal', argv: ['--', '/bin/sh', '-c', 'kill -TERM $$'], status: 143, stdout: '' },
    { what: 'too long a run', argv: ['--timeout', '300ms', '--', '/bin/sleep', '30'], status: 124, stdout: '' },
    {
      what: 'a mechanism that is missing',
      argv: ['--require', 'cgroup', '--', '/bin/echo', 'said'],
      status: 125,
      stdout: '',
    },
    { what: 'a program that is missing', argv: ['--', '/no/such/program'], status: 127, stdout: '' },
  ])('the exit status of $what is $status', ({ argv, ...expected }) => {
    const { status, stdout } = cordon('run', ...argv)
    expect({ status, stdout }).toEqual({ status: expected.status, stdout: expected.stdout })
  })
})

// Those that are quick; of the others, one or two routes each are among the calls above.
const SUITES = ['files-carve-outs', 'files-paths', 'files-metadata', 'processes-environment', 'processes-exec'].map(
  (name) => `packages/core/test/attacks/${name}.test.ts`,
)

interface SuiteReport {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

// Root's checkout may lie where the user of a rootless container cannot look; an ordinary user has one of its own.
if (!IS_ROOT)
  describe.runIf(canEnter)(`suites in ${kind}`, () => {
    test('every attack of the quick suites is refused there, and every allowed twin works', () => {
      compileAll()
      const { stdout, stderr } = enter(
        join('node_modules', 'vitest', 'vitest.mjs'),
        'run',
        '--configLoader=runner',
        '--reporter=json',
        ...SUITES,
      )
      const { numPassedTests, testResults } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as SuiteReport
      const failed = testResults.flatMap(({ name, message, assertionResults }) => [
        ...(assertionResults.length === 0 ? [`${name}: ${message}`] : []),
        ...assertionResults
          .filter(({ status }) => status === 'failed')
          .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join()}`),
      ])
      expect(failed, stderr).toEqual([])
      expect(testResults).toHaveLength(SUITES.length)
      expect(numPassedTests).toBeGreaterThan(50)
    }, 300_000)
  })
