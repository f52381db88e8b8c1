import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { CordonError } from '../../src/errors/index.js'
import { beyond, describeWitness, isWithin, parsePolicy, policyHash } from '../../src/policy/index.js'
import type { ToolPolicy, WithinContext, Witness } from '../../src/policy/index.js'

import { policyValue } from './arbitrary-policy.js'
import { PLACES, boundaryOf } from './places.js'

const policy = (value: unknown): ToolPolicy => parsePolicy(value, 'test')

const witnessOf = (a: unknown, b: unknown, context?: Partial<WithinContext>): Witness | undefined => {
  const result = isWithin(policy(a), policy(b), context)
  return result.within ? undefined : result.witness
}

describe('a policy goes beyond another', () => {
  it.each([
    [
      'a larger limit',
      { limits: { memory: '2M' } },
      { limits: { memory: '1M' } },
      { kind: 'limit', limit: 'memory', value: 2_097_152, bound: 1_048_576 },
    ],
    [
      'no limit',
      { limits: { cpu: '1s' } },
      { limits: { wall: '1s' } },
      { kind: 'limit', limit: 'wall', value: 'unlimited', bound: 1000 },
    ],
    [
      'a variable',
      { environment: ['LANG', 'TOKEN'] },
      { environment: ['LANG'] },
      { kind: 'environment', entry: { name: 'TOKEN', value: { kind: 'pass' } } },
    ],
    [
      'another value',
      { environment: ['TZ=CET'] },
      { environment: ['TZ=UTC'] },
      { kind: 'environment', entry: { name: 'TZ', value: { kind: 'set', text: 'CET' } } },
    ],
    [
      "a value in place of the host's",
      { environment: ['TZ=UTC'] },
      { environment: ['TZ'] },
      { kind: 'environment', entry: { name: 'TZ', value: { kind: 'set', text: 'UTC' } } },
    ],
    [
      "the host's value in place of a set one",
      { environment: ['TZ'] },
      { environment: ['TZ=UTC'] },
      { kind: 'environment', entry: { name: 'TZ', value: { kind: 'pass' } } },
    ],
    ['a program', { exec: ['git', 'sh'] }, { exec: ['git'] }, { kind: 'exec', program: 'sh' }],
    [
      'a program by path for a name',
      { exec: ['/usr/bin/git'] },
      { exec: ['git'] },
      { kind: 'exec', program: '/usr/bin/git' },
    ],
    ['every program', {}, { exec: ['git'] }, { kind: 'exec', program: '/usr/bin/env' }],
    [
      'every program but the usual ones',
      { exec: 'all' },
      { exec: ['/usr/bin/env'] },
      { kind: 'exec', program: '/usr/bin/sh' },
    ],
    ['fewer demands', {}, { require: ['landlock'] }, { kind: 'require', mechanism: 'landlock' }],
    [
      'a class',
      { network: [{ host: 'a.org', methods: ['GET'] }] },
      {},
      { kind: 'egress_class', level: 'read_only', bound: 'none' },
    ],
    [
      'a higher class',
      { network: 'all' },
      { network: 'all', egress_class: 'read_only' },
      { kind: 'egress_class', level: 'write', bound: 'read_only' },
    ],
    ['a preset', { presets: ['toolchains'] }, {}, { kind: 'file', access: 'read' }],
    [
      'a host',
      { network: ['b.org'] },
      { network: ['a.org'] },
      { kind: 'network', request: { host: 'b.org', port: 443 } },
    ],
  ])('with %s', (_, a, b, expected) => {
    expect(witnessOf(a, b)).toMatchObject(expected)
  })

  it.each([
    ['a smaller limit, and one more', { limits: { memory: '1M', cpu: '1s' } }, { limits: { memory: '2M' } }],
    ['fewer variables', { environment: ['A=1'] }, { environment: ['B', 'A=1'] }],
    ['fewer programs', { exec: ['git'] }, { exec: ['sh', 'git'] }],
    ['listed programs', { exec: ['git'] }, {}],
    ['no programs', { exec: 'none' }, { exec: ['git'] }],
    ['more demands', { require: ['landlock', 'seccomp'] }, { require: ['seccomp'] }],
    ['a lower class', { network: 'all', egress_class: 'read_only' }, { network: 'all' }],
    ['a narrowed folder', { filesystem: { read: ['/a/b/**'] } }, { filesystem: { read: ['/a/**'] } }],
    ['another risk', { risk: 'critical' }, { risk: 'low' }],
    ['what is said and what was left open', { network: 'none', filesystem: 'none', environment: 'none' }, {}],
    [
      'what was left open and what is said',
      {},
      { network: 'none', filesystem: 'none', environment: 'none', exec: 'all' },
    ],
  ])('not with %s', (_, a, b) => {
    expect(witnessOf(a, b)).toBeUndefined()
  })

  it('in every section at once, and the result names each', () => {
    const a = policy({
      filesystem: { read: ['/r'], write: ['/w'] },
      network: ['a.org'],
      environment: ['A', 'B'],
      limits: {},
    })
    const b = policy({ exec: 'none', limits: { wall: '1s', cpu: '1s' } })
    expect(beyond(a, b).map(describeWitness)).toEqual([
      'has unlimited as limit cpu, beyond 1000',
      'has unlimited as limit wall, beyond 1000',
      'has the egress class write instead of none',
      'gets the variable A',
      'gets the variable B',
      'can start /usr/bin/env',
      'can talk any protocol to a.org:443',
      'can read /r',
      'can write /w',
    ])
    expect(beyond(a, a)).toEqual([])
  })
})

describe('an unspecified section', () => {
  it("is nothing in a process, and unlimited in the agent's own process", () => {
    expect(witnessOf({}, { network: 'none' }, { kind: 'process' })).toBeUndefined()
    expect(witnessOf({}, { network: 'none' }, { kind: 'in-process' })).toMatchObject({ kind: 'egress_class' })
    expect(witnessOf({ network: 'none' }, {}, { kind: 'in-process' })).toBeUndefined()
  })

  it.each([
    [{ filesystem: { read: 'none' } }, { kind: 'file', access: 'read' }],
    [{ filesystem: { write: 'none' } }, { kind: 'file', access: 'write', path: '/' }],
    [{ environment: ['SECRET'] }, { kind: 'environment', entry: { name: 'SECRET_X' } }],
    [{ exec: ['git'] }, { kind: 'exec' }],
  ])("in the agent's own process goes beyond any declared section: %j", (b, expected) => {
    expect(witnessOf({}, b, { kind: 'in-process' })).toMatchObject(expected)
    expect(witnessOf(b, {}, { kind: 'in-process' })).toBeUndefined()
  })

  it('of writing allows protected names, and says nothing about reading', () => {
    expect(witnessOf({}, { filesystem: { write: ['/'] } }, { kind: 'in-process' })).toMatchObject({
      kind: 'file',
      access: 'write',
    })
    const [narrow, wide] = [{ filesystem: { read: ['/data'] } }, { filesystem: { read: ['/data', '/etc'] } }]
    expect(witnessOf(wide, narrow, { kind: 'in-process' })).toMatchObject({
      kind: 'file',
      access: 'read',
      path: '/etc',
    })
  })

  it('of exec is none for a function', () => {
    expect(witnessOf({}, { exec: 'none' }, { kind: 'function' })).toBeUndefined()
    expect(witnessOf({}, { exec: 'none' }, { kind: 'process' })).toMatchObject({ kind: 'exec' })
  })
})

describe('workspace and home', () => {
  const [workspace, home] = [{ filesystem: { read: ['.'] } }, { filesystem: { read: ['~/**'] } }]

  it('decide if they are known', () => {
    expect(witnessOf(workspace, home, PLACES)).toBeUndefined()
    expect(witnessOf(home, workspace, PLACES)).toMatchObject({ kind: 'file', path: '/home/ann/x' })
  })

  it('are not guessed: only a grant that is within for every workspace and home is within', () => {
    expect(witnessOf(workspace, home)).toMatchObject({
      kind: 'file',
      path: '/srv/<above>/<projects>/<group>/<workspace>',
    })
    expect(witnessOf(home, workspace)).toMatchObject({ kind: 'file' })
    expect(witnessOf({ filesystem: { read: ['src/**'] } }, workspace)).toBeUndefined()
    expect(witnessOf({ filesystem: { read: ['~/.cargo/bin'] } }, { presets: ['toolchains'] })).toBeUndefined()
  })

  it('may be in the boundary already', () => {
    expect(isWithin(boundaryOf(workspace), boundaryOf(home))).toEqual({ within: true })
  })
})

const anyPolicy = policyValue.map((value) => {
  try {
    return policy(value)
  } catch (error) {
    if (error instanceof CordonError) return undefined
    throw error
  }
})

describe('for any policy', () => {
  it('it is within itself, for every kind of tool, with and without workspace and home', () => {
    fc.assert(
      fc.property(anyPolicy, fc.constantFrom('process', 'function', 'in-process'), (one, kind) => {
        fc.pre(one !== undefined)
        expect(isWithin(one, one, { ...PLACES, kind })).toEqual({ within: true })
        expect(isWithin(one, one, { kind })).toEqual({ within: true })
      }),
      { numRuns: 150 },
    )
  })

  it('policies with one hash are within each other, and a policy within another is not beyond it', () => {
    fc.assert(
      fc.property(anyPolicy, anyPolicy, (a, b) => {
        fc.pre(a !== undefined && b !== undefined)
        const result = isWithin(a, b, PLACES)
        expect(result.within).toBe(beyond(a, b, PLACES).length === 0)
        if (policyHash(a) === policyHash(b)) expect(result.within).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
