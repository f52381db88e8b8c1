import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { encodeCommand, encodePlan } from '../../src/sandbox/plan/encode-plan.js'
import type { Plan } from '../../src/sandbox/plan/plan.js'
import { path } from '../policy/places.js'

import { planWith } from './plans.js'

const wordsOf = (bytes: Buffer): readonly string[] => bytes.toString().split('\0')

const planWords = (changes: Partial<Plan>): readonly string[] => wordsOf(encodePlan(planWith(changes)))

describe('a plan in words', () => {
  it('begins with its version and form, and nothing follows its `end`', () => {
    expect(planWords({})).toEqual([
      'cordon-plan-1',
      'form',
      'namespaces',
      'exec',
      'all',
      'cwd',
      '/srv',
      'temporary',
      '/tmp',
      'cgroup',
      'none',
      'network',
      'none',
      'stdio',
      'fff',
      'foreground',
      'no',
      'clock',
      'start',
      'delivery',
      'gathered',
      'probe',
      'no',
      'end',
      '',
    ])
  })

  it.each<readonly [string, Partial<Plan>, readonly string[]]>([
    ['a bind', { steps: [{ kind: 'bind', access: 'rw', path: path('/data') }] }, ['bind', 'rw', '/data']],
    ['a hidden place', { steps: [{ kind: 'hide', path: path('/data/key') }] }, ['hide', '/data/key']],
    ['a link', { steps: [{ kind: 'link', path: path('/bin'), target: 'usr/bin' }] }, ['link', '/bin', 'usr/bin']],
    [
      'a small file, empty',
      { steps: [{ kind: 'file', path: path('/etc/hosts'), content: '' }] },
      ['file', '/etc/hosts', ''],
    ],
    ['a rule', { rules: [{ access: 'rx', path: path('/usr') }] }, ['allow', 'rx', '/usr']],
    [
      'the only programs',
      { exec: { kind: 'only', programs: [path('/bin/true')] } },
      ['exec', 'only', 'program', '/bin/true'],
    ],
    ['a limit, rounded up to what the launcher can count', { limits: { wall: 1500.2 } }, ['limit', 'wall', '1501']],
    ['a trap', { traps: ['memory-file'] }, ['trap', 'memory-file']],
    [
      'streams',
      { stdio: { in: 'terminal', out: 'direct', err: 'frames' }, foreground: true },
      ['stdio', 'tdf', 'foreground', 'yes'],
    ],
    ['a program that waits for its call', { clock: 'begin' }, ['clock', 'begin']],
    ['the network', { network: 'all' }, ['network', 'all']],
  ])('has %s', (_what, changes, expected) => {
    expect(planWords(changes).join('\n')).toContain(`\n${expected.join('\n')}\n`)
  })

  it('keeps the order of its steps', () => {
    const steps = ['/a', '/a/b', '/a/b/c'].map((at) => ({ kind: 'directory' as const, path: path(at) }))
    expect(planWords({ steps }).filter((word) => word.startsWith('/a'))).toEqual(['/a', '/a/b', '/a/b/c'])
  })

  it('refuses a NUL byte in any word, because it would make two words of one', () => {
    const broken = '/a\0end' as Plan['cwd']
    const places: readonly Partial<Plan>[] = [
      { cwd: broken },
      { temporary: broken },
      { exec: { kind: 'only', programs: [broken] } },
      { rules: [{ access: 'r', path: broken }] },
      { steps: [{ kind: 'file', path: path('/f'), content: 'a\0b' }] },
    ]
    for (const changes of places)
      expect(() => encodePlan(planWith(changes))).toThrow(expect.objectContaining({ code: 'plan-rejected' }))
  })
})

describe('a command in words', () => {
  const word = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))

  it('is its program, and the announced numbers of arguments and variables', () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }),
        fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), word),
        (argv, environment) => {
          const [program, count, ...rest] = wordsOf(encodeCommand({ program: path('/bin/x'), argv, environment }))
          expect([program, Number(count)]).toEqual(['/bin/x', argv.length])
          expect(rest.slice(0, argv.length)).toEqual(argv)
          const [variables, ...pairs] = rest.slice(argv.length)
          expect(Number(variables)).toBe(Object.keys(environment).length)
          expect(pairs).toEqual([...Object.entries(environment).map(([name, value]) => `${name}=${value}`), ''])
        },
      ),
    )
  })

  it('keeps bytes that are not UTF-8', () => {
    expect(encodeCommand({ program: path('/bin/x'), argv: ['\udcff'], environment: {} })).toEqual(
      Buffer.from([...Buffer.from('/bin/x\x001\0'), 0xff, 0, 0x30, 0]),
    )
  })
})
