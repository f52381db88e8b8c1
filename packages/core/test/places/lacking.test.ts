// Kernels and settings that lack something: what a cell needs is refused with its stage, and the rest works without
// it.
import { expect, test } from 'vitest'

import { lastingFolder } from '../attacks/playground.js'
import { newMark, survivorsOf } from '../attacks/survivors.js'

import { imitated, olderKernel } from './place.js'
import { describePlace, expectNotRun, ran } from './visit.js'
import type { VisitRequest } from './visit.js'

const PLAIN: VisitRequest = { calls: { plain: { argv: ['/bin/true'] } }, warm: true }

const NEEDED = [
  { place: imitated('a kernel without Landlock', ['no-landlock']), stage: 'landlock' },
  { place: imitated('a profile that refuses seccomp', ['no-seccomp']), stage: 'seccomp' },
]

for (const { place, stage } of NEEDED) {
  describePlace(
    place,
    () => PLAIN,
    (found) => {
      test('a sandbox opens, so that its facts can be read, and refuses every call with the stage and a fix', () => {
        expect(found().opened).toEqual({ kind: 'open' })
        expect(found().host).toMatchObject({ namespaces: { held: false, stage }, landlock: { held: false, stage } })
        const { message, fix } = expectNotRun(found(), 'plain', 'host-cannot-hold')
        expect({ message, fix }).toEqual({
          message: expect.stringContaining(`${stage}: `) as string,
          fix: expect.stringContaining('cordon doctor') as string,
        })
        expect(found().calls['warm']).toMatchObject({ kind: 'refused', code: 'host-cannot-hold' })
      })
    },
  )
}

const written = lastingFolder()
const mayWrite = (...more: readonly string[]) => ({
  policy: { filesystem: { write: [written, ...more] } },
  cwd: written,
})

describePlace(
  imitated('a user whose inotify instances are used up', ['no-inotify']),
  () => ({
    calls: {
      'write': { argv: ['/bin/sh', '-c', 'echo new > file; cat file'], ...mayWrite() },
      // One name each: a tool is ended when the first is found, which may be before it plants a second one.
      'plant': { argv: ['/bin/sh', '-c', 'echo planted > .bashrc'], ...mayWrite() },
      'plant deep': {
        argv: ['/bin/sh', '-c', 'mkdir -p new/.git/hooks; echo planted > new/.git/hooks/pre-commit'],
        ...mayWrite(),
      },
      'stay': { argv: ['/bin/sh', '-c', 'echo planted > .profile; sleep 300'], ...mayWrite() },
      'look': { argv: ['/bin/sh', '-c', 'cat .bashrc new/.git/hooks/pre-commit'], ...mayWrite() },
      'carved': { argv: ['/bin/true'], ...mayWrite(`!${written}/missing`) },
    },
  }),
  (found) => {
    test('a tool can write, and protected names that it plants are renamed when it ends', () => {
      expect(ran(found(), 'write').stdout).toBe('new\n')
      expect(ran(found(), 'plant').violations).toMatchObject([{ kind: 'protected', path: `${written}/.bashrc` }])
      expect(ran(found(), 'plant deep').violations).toMatchObject([
        { kind: 'protected', path: `${written}/new/.git/hooks/pre-commit` },
      ])
      expect(ran(found(), 'look').stdout).toBe('')
    })

    test('a planted name does not stay while the tool runs', () => {
      expect(ran(found(), 'stay')).toMatchObject({
        signal: 9,
        violations: [{ kind: 'protected', path: `${written}/.profile` }],
      })
    })

    test('a missing carve-out is refused, because nobody would see its creation', () => {
      expect(found().calls['carved']).toMatchObject({
        kind: 'refused',
        code: 'plan-rejected',
        message: expect.stringContaining('inotify') as string,
      })
    })
  },
)

const mark = newMark()
let survivors: readonly string[] = ['nobody looked']

describePlace(
  olderKernel('a kernel without lists of children, and before signals are scoped', ['no-children-files', 'landlock=5']),
  () => ({
    calls: Object.fromEntries(
      (['namespaces', 'landlock'] as const).flatMap((form) => [
        [
          `cpu ${form}`,
          {
            form,
            argv: ['/bin/sh', '-c', 'for i in 1 2 3; do while :; do :; done & done; wait', mark],
            policy: { limits: { cpu: '500ms', wall: '30s' } },
          },
        ],
        [
          `memory ${form}`,
          {
            form,
            argv: [
              '/bin/sh',
              '-c',
              '/usr/bin/python3 -c "import time; x = bytearray(300 << 20); time.sleep(5); print(1)"',
            ],
            policy: { limits: { memory: '50M', wall: '30s' } },
          },
        ],
        [
          `background ${form}`,
          { form, argv: ['/bin/sh', '-c', `(setsid /bin/sh -c 'sleep 300; :' "$1" &) ; echo left`, 'sh', mark] },
        ],
      ]),
    ),
    whileThere: async () => {
      survivors = await survivorsOf(mark)
    },
  }),
  (found) => {
    test.each(['namespaces', 'landlock'])('limits over all processes work, and all of them end (%s)', (form) => {
      expect(found().host.measuring).toEqual({ held: true })
      expect(ran(found(), `cpu ${form}`)).toMatchObject({ status: 'limit', limit: 'cpu' })
      expect(ran(found(), `memory ${form}`)).toMatchObject({ status: 'limit', limit: 'memory' })
      expect(ran(found(), `background ${form}`)).toMatchObject({ exitCode: 0, stdout: 'left\n' })
      expect(survivors).toEqual([])
    })
  },
)
