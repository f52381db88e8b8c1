import { describe, expect, it } from 'vitest'

import { combinePolicies } from 'cordon/commands'
import { parsePolicy } from '../../src/policy/index.js'

const combine = (typed: unknown, ...files: readonly unknown[]) =>
  combinePolicies(
    files.map((value, at) => ({
      source: `${at}.yaml`,
      policy: parsePolicy(value, `${at}.yaml`),
      whereIs: () => `${at}.yaml`,
    })),
    parsePolicy(typed, 'typed'),
  )

describe('the egress class of several policies', () => {
  const reading = { network: 'all', egress_class: 'read_only' }

  it('stays read-only if the policy that opens the whole network says so', () => {
    expect(combine({}, reading).egressClass).toEqual({ kind: 'declared', level: 'read_only' })
    expect(combine({}, reading, { network: ['a.org'] }).egressClass).toEqual({ kind: 'declared', level: 'read_only' })
  })

  it('follows the network if another policy opens it without that, or as typed', () => {
    expect(combine({}, reading, { network: 'all' }).egressClass).toEqual({ kind: 'unspecified' })
    expect(combine({ network: 'all' }, reading).egressClass).toEqual({ kind: 'unspecified' })
    expect(combine({ network: 'none' }, reading).egressClass).toEqual({ kind: 'unspecified' })
  })

  it('of a list is in its entries, and stays there beside others', () => {
    const { network } = combine({}, { network: ['a.org'], egress_class: 'read_only' }, { network: ['b.org'] })
    expect(network.kind === 'list' ? network.items.map(({ methods }) => methods.kind) : []).toEqual(['list', 'all'])
  })
})
