import { describe, expect, it } from 'vitest'

import { RISKS, parsePolicy, resolveStance } from '../../src/policy/index.js'

import { PLACES, boundaryOf } from './places.js'

const READS_A = { network: [{ host: 'a.org', methods: ['GET'] }] }

describe('the risk', () => {
  it.each([
    ['nothing', {}, 'low'],
    ['nothing but programs', { exec: 'all' }, 'low'],
    ['reads', { filesystem: { read: ['/data/**'] } }, 'low'],
    ['only carve-outs of writing', { filesystem: { write: ['!/data'] } }, 'low'],
    ['writes', { filesystem: { write: ['/out'] } }, 'medium'],
    ['a preset that writes', { presets: ['workspace'] }, 'medium'],
    ['network that only reads', { ...READS_A, exec: 'none' }, 'medium'],
    ['network that only reads, beside listed programs', { ...READS_A, exec: ['git'] }, 'medium'],
    ['any network together with every program', { ...READS_A, exec: 'all' }, 'high'],
    ['any network in a process, which may start programs', READS_A, 'high'],
    ['network that writes', { network: ['a.org'], exec: 'none' }, 'high'],
    ['a class that was called write', { ...READS_A, exec: 'none', egress_class: 'write' }, 'high'],
    ['denials only', { network: [{ host: 'a.org', action: 'deny' }], exec: 'all' }, 'low'],
  ])('is derived from the grants and marked as derived: %s', (_, policy, level) => {
    expect(boundaryOf(policy).risk).toEqual({ level, derived: true })
  })

  it('of a function ignores programs that it may not start', () => {
    expect(boundaryOf(READS_A, 'function').risk).toEqual({ level: 'medium', derived: true })
  })

  it.each(RISKS)("is the author's choice, even if it looks too low or too high: %s", (risk) => {
    expect(boundaryOf({ risk, network: 'all' }).risk).toEqual({ level: risk, derived: false })
    expect(boundaryOf({ risk }).risk).toEqual({ level: risk, derived: false })
  })
})

const stance = (policy: unknown) => resolveStance(parsePolicy(policy, 'test'), PLACES)

describe("a tool in the agent's own process", () => {
  it('declares nothing about an unspecified section', () => {
    expect(stance({}).noStance).toEqual(['read', 'write', 'network', 'environment', 'exec'])
    expect(stance({ filesystem: { write: ['/out/**'] } }).noStance).toEqual(['read', 'network', 'environment', 'exec'])
  })

  it('declares a section with none, a list or all', () => {
    expect(stance({ filesystem: 'none', network: 'all', environment: ['LANG'], exec: [] }).noStance).toEqual([])
    expect(stance({ presets: ['workspace'] }).noStance).not.toContain('write')
  })

  it('has an unknown risk while it may change anything, unless its author says otherwise', () => {
    expect(stance({ filesystem: { read: ['/data'] } }).boundary.risk).toEqual({ level: 'unknown', derived: true })
    expect(stance({ risk: 'low' }).boundary.risk).toEqual({ level: 'low', derived: false })
    expect(stance({ filesystem: { write: 'none' }, network: 'none', exec: 'none' }).boundary.risk).toEqual({
      level: 'low',
      derived: true,
    })
  })
})
