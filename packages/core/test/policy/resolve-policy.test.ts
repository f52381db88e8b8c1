import { describe, expect, it } from 'vitest'

import { boundaryOf } from './places.js'

describe('resolving a policy', () => {
  it('turns unspecified sections into none, and always includes the system', () => {
    expect(boundaryOf({})).toMatchObject({
      read: [],
      write: [],
      network: { kind: 'none' },
      environment: [],
      credentials: [],
      limits: {},
      presets: ['system'],
      require: [],
    })
  })

  it('lets a process start programs by default, but not a function', () => {
    expect(boundaryOf({}, 'process').exec).toEqual({ kind: 'all' })
    expect(boundaryOf({}, 'function').exec).toEqual({ kind: 'none' })
    expect(boundaryOf({ exec: 'none' }, 'process').exec).toEqual({ kind: 'none' })
  })

  it('resolves paths of listed programs, and leaves bare names to the lookup', () => {
    expect(boundaryOf({ exec: ['git', './build.sh', '~/bin/x', '/usr/bin/make'] }).exec).toEqual({
      kind: 'list',
      programs: ['git', '/home/ann/project/build.sh', '/home/ann/bin/x', '/usr/bin/make'],
    })
  })

  it('keeps grants and carve-outs in the order of the policy, one pattern per alternative', () => {
    const { read } = boundaryOf({ filesystem: { read: ['/data/{in,out}/**', '!/data/in/key'] } })
    expect(read.map(({ path, negated, kind }) => [path, negated, kind])).toEqual([
      ['/data/in/**', false, 'subtree'],
      ['/data/out/**', false, 'subtree'],
      ['/data/in/key', true, 'literal'],
    ])
  })

  it('grants the workspace for writing if the preset says so', () => {
    const boundary = boundaryOf({ presets: ['workspace', 'toolchains', 'system'] })
    expect(boundary.write).toMatchObject([{ path: '/home/ann/project', kind: 'literal' }])
    expect(boundary.presets).toEqual(['system', 'workspace', 'toolchains'])
    expect(boundary.presetRead.map(({ path }) => path)).toContain('/home/ann/.cargo/bin')
  })

  it('grants no toolchain unless requested', () => {
    expect(boundaryOf({}).presetRead.filter(({ path }) => path.startsWith('/home'))).toEqual([])
  })
})
