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

describe('a folder whose name is a word of a witness', () => {
  it.each(['/home/<user>', '/srv/<above>', '/srv/<above>/<projects>/<group>/<workspace>'])(
    'does not count as the home folder or the workspace: %s',
    (folder) => {
      const read = (glob: string) => ({ filesystem: { read: [glob] } })
      expect(isWithin(policy(read('~/x')), policy(read(`${folder}/**`))).within).toBe(false)
      expect(isWithin(policy(read('./x')), policy(read(`${folder}/**`))).within).toBe(false)
      expect(isWithin(policy(read(`${folder}/x`)), policy(read(`${folder}/**`))).within).toBe(true)
    },
  )
})

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
      { kind: 'network', request: { host: 'a.org', port: 443, use: { kind: 'http', method: 'GET', path: '/' } } },
    ],
    [
      'a higher class',
      { network: 'all' },
      { network: 'all', egress_class: 'read_only' },
      { kind: 'network', request: { use: { kind: 'direct' } } },
    ],
    [
      'a default that is larger than a limit',
      {},
      { limits: { scratch: '1M' } },
      { kind: 'limit', limit: 'scratch', value: 268_435_456, bound: 1_048_576 },
    ],
    [
      'a limit that is larger than the default',
      { limits: { processes: 2000 } },
      {},
      { kind: 'limit', limit: 'processes', value: 2000, bound: 1024 },
    ],
    [
      'a program that becomes readable',
      { exec: ['/p/prog.sh'] },
      { exec: 'all' },
      { kind: 'file', access: 'read', path: '/p/prog.sh' },
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
    ['a program that is readable', { exec: ['/p/x.sh'] }, { exec: 'all', filesystem: { read: ['/p/*'] } }],
    ['the default of a limit', {}, { limits: { processes: 1024, scratch: '256M' } }],
    [
      'a derived class whose POST is denied',
      {
        network: [
          { host: 'a.org', methods: ['GET', 'POST'] },
          { host: 'a.org', methods: ['POST'], action: 'deny' },
        ],
      },
      { network: [{ host: 'a.org', methods: ['GET'] }] },
    ],
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
      'gets the variable A',
      'gets the variable B',
      'can send GET / to a.org:443',
      'can start /usr/bin/env',
      'can write /w',
      'can read /r',
    ])
    expect(beyond(a, a)).toEqual([])
  })
})

describe('a kind of tool', () => {
  it('that no sandbox confines goes beyond one in a cell, whatever the policies say', () => {
    expect(witnessOf({}, { network: 'all' }, { kind: 'in-process', boundKind: 'function' })).toEqual({
      kind: 'confinement',
      tool: 'in-process',
      bound: 'function',
    })
    expect(witnessOf({}, {}, { kind: 'function', boundKind: 'in-process' })).toBeUndefined()
  })

  it('that shares a cell goes beyond one that has its own', () => {
    expect(witnessOf({}, {}, { kind: 'mcp', boundKind: 'process' })).toMatchObject({ kind: 'confinement' })
    expect(witnessOf({}, {}, { kind: 'process', boundKind: 'mcp' })).toBeUndefined()
  })

  it('decides what its own omitted sections mean', () => {
    expect(witnessOf({}, {}, { kind: 'function', boundKind: 'process' })).toBeUndefined()
    expect(witnessOf({}, {}, { kind: 'process', boundKind: 'function' })).toMatchObject({ kind: 'exec' })
  })
})

describe('an added grant', () => {
  it('has a witness of its own', () => {
    const a = policy({
      filesystem: { read: ['./lib/**', '~/notes', '/data'], write: ['./out'] },
      network: ['a.org', 'b.org:22', { host: 'c.org', methods: ['POST'] }],
      exec: ['git', 'sh', 'make'],
    })
    const b = policy({ filesystem: { read: ['/data'] }, network: ['a.org'], exec: ['git'] })
    expect(beyond(a, b).map(describeWitness)).toEqual([
      'can talk any protocol to b.org:22',
      'can send POST / to c.org:443',
      'can start sh',
      'can start make',
      'can write ./out',
      'can read ./lib/x',
      'can read ~/notes',
    ])
  })
})

describe('an unspecified section', () => {
  it("is nothing in a process, and unlimited in the agent's own process", () => {
    expect(witnessOf({}, { network: 'none' }, { kind: 'process' })).toBeUndefined()
    expect(witnessOf({}, { network: 'none' }, { kind: 'in-process' })).toMatchObject({ kind: 'network' })
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
      path: '.',
      assuming: 'the workspace is not in the home folder',
    })
    expect(witnessOf(home, workspace)).toMatchObject({ kind: 'file' })
    expect(witnessOf({ filesystem: { read: ['src/**'] } }, workspace)).toBeUndefined()
    expect(witnessOf({ filesystem: { read: ['~/.cargo/bin'] } }, { presets: ['toolchains'] })).toBeUndefined()
  })

  it.each([
    [['./*'], ['./*', '!~/*.key'], { path: './.key', assuming: 'the workspace is the home folder' }],
    [['./lib/*'], ['./lib/*', '!/srv/app/lib/x'], { path: './lib/x', assuming: 'the workspace is /srv/app' }],
    [['~/x'], ['~/x', '!/opt/*-prod/x'], { path: '~/x', assuming: 'the home folder is /opt/x-prod' }],
    [['./x'], ['./x', '!~/project/x'], { path: './x', assuming: 'the workspace is ~/project' }],
    [['/srv/app/x'], ['/srv/app/x', '!./x'], { path: './x', assuming: 'the workspace is /srv/app' }],
    [['../x'], ['../x', '!~/x'], { path: '~/x', assuming: 'the workspace is directly in the home folder' }],
    [['./lib/x'], ['./src'], { path: './lib/x' }],
    [['~/x'], ['~/y'], { path: '~/x' }],
    [['../x'], ['.'], { path: '../x' }],
  ])('are tried where they matter: %j in %j', (a, b, expected) => {
    const found = witnessOf({ filesystem: { read: a } }, { filesystem: { read: b } })
    expect(found).toEqual({ kind: 'file', access: 'read', ...expected })
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
