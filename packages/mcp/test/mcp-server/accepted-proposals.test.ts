// Which policy a tool gets, for any annotations that a server may send.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { createProposalJudge } from '../../src/servers/accept-proposal.js'
import { proposalOf } from '../../src/server/index.js'
import { isWithin, parseAbsolutePath, parsePolicy } from 'cordon/policy'
import type { PolicyInput } from 'cordon/policy'

const places = { workspace: parseAbsolutePath('/work'), home: parseAbsolutePath('/home/ann') }
const policyOf = (input: PolicyInput) => parsePolicy(input, 'test')
const CELL = policyOf({ filesystem: { read: ['./**'], write: ['out/**'] }, network: ['api.test'] })
const judge = (policy: PolicyInput, within: PolicyInput) =>
  createProposalJudge({ name: 'server', policy: CELL, timeout: undefined, places })(
    { name: 'tool', proposal: proposalOf({ name: 'tool', annotations: { 'cordon:policy': policy } }) },
    { proposedWithin: policyOf(within) },
  )

const paths = fc.constantFrom(
  '.',
  './**',
  'out/**',
  'out/a',
  '/etc/passwd',
  '/**',
  '~/.ssh',
  '!out/a',
  '*/a?',
  '{a,b}/**',
)
const list = <Item>(item: fc.Arbitrary<Item>) => fc.array(item, { maxLength: 4 })
const hosts = fc.constantFrom(
  'api.test',
  '*.test',
  'other.test:8443',
  { host: 'api.test', methods: ['GET'] },
  '10.0.0.0/8',
)
const written = fc.record(
  {
    risk: fc.constantFrom('low', 'high', 'unknown', 'none'),
    filesystem: fc.oneof(fc.constant('none'), fc.record({ read: list(paths), write: list(paths) })),
    network: fc.oneof(fc.constantFrom('none', 'all'), list(hosts)),
    egress_class: fc.constantFrom('none', 'read_only', 'write'),
    environment: list(fc.constantFrom('HOME', 'TOKEN=x')),
    exec: fc.oneof(fc.constantFrom('none', 'all'), list(fc.constantFrom('git', '/bin/sh'))),
    limits: fc.record({ wall: fc.constantFrom('1s', '2h') }),
  },
  { requiredKeys: [] },
)

const isPolicy = (input: unknown): boolean => {
  try {
    parsePolicy(input, 'test')
    return true
  } catch {
    return false
  }
}

describe('a proposal', () => {
  test('of any form is read or refused, and never accepted without a word of the user', () => {
    fc.assert(
      fc.property(fc.oneof(written, fc.jsonValue()), fc.jsonValue(), (policy, other) => {
        for (const annotations of [{ 'cordon:policy': policy }, { 'sandlock:fs_readable': other }, policy, other]) {
          const proposal = proposalOf({ name: 'tool', annotations })
          const decide = createProposalJudge({ name: 'server', policy: CELL, timeout: undefined, places })
          expect(decide({ name: 'tool', proposal }, undefined).policy).toBeUndefined()
        }
      }),
    )
  })

  test('is accepted only within its bound', () => {
    fc.assert(
      fc.property(written, written, (policy, within) => {
        fc.pre(isPolicy(within))
        const granted = judge(policy as PolicyInput, within as PolicyInput)
        if (granted.policy === undefined) return
        expect(isWithin(granted.policy, policyOf(within as PolicyInput), { ...places, kind: 'mcp' })).toEqual({
          within: true,
        })
      }),
    )
  })

  test('cannot call its tool harmless: risk and egress class are those of the bound', () => {
    const reads = { network: [{ host: 'api.test', methods: ['GET'] }] }
    expect(judge({ ...reads, risk: 'low' }, { network: ['api.test'] }).policy).toMatchObject({
      risk: { level: 'high' },
      egressClass: { level: 'write' },
    })
    expect(judge({ risk: 'low' }, { network: ['api.test'] }).policy).toMatchObject({ egressClass: { level: 'write' } })
    expect(judge(reads, reads).policy).toMatchObject({ egressClass: { level: 'read_only' } })
  })

  test('cannot take longer than the time that the user gives a call', () => {
    const bounded = createProposalJudge({ name: 'server', policy: CELL, timeout: 30_000, places })
    const propose = (wall: string) => {
      const annotations = { 'cordon:policy': { limits: { wall } } }
      return bounded(
        { name: 'tool', proposal: proposalOf({ name: 'tool', annotations }) },
        { proposedWithin: 'server' },
      )
    }
    expect(propose('24h').policy).toBeUndefined()
    expect(propose('10s').policy?.limits.wall).toBe(10_000)
  })

  test('is not compared any more after another one took too long to compare', () => {
    const decide = createProposalJudge({ name: 'server', policy: CELL, timeout: undefined, places })
    const stars = Array.from({ length: 14 }, (_, at) => `/**/${'*a'.repeat(8)}${'?'.repeat(at)}*/**/b*`)
    const within = { proposedWithin: policyOf({ filesystem: { read: stars.map((each) => each.replace('b*', '*c')) } }) }
    const given = (policy: PolicyInput) => {
      const proposal = proposalOf({ name: 'tool', annotations: { 'cordon:policy': policy } })
      const granted = decide({ name: 'tool', proposal }, within)
      return granted.policy === undefined ? granted.trouble?.message : 'accepted'
    }
    expect(given({})).toBe('accepted')
    expect(given({ filesystem: { read: stars } })).toContain('too entangled')
    expect(given({})).toContain('it is not compared')
  })
})
