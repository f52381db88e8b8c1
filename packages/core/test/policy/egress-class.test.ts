import { describe, expect, it } from 'vitest'

import { parsePolicy } from '../../src/policy/index.js'

import { boundaryOf } from './places.js'

const classOf = (policy: unknown) => boundaryOf(policy).egressClass

describe('the egress class', () => {
  it.each([
    ['nothing said', {}, 'none'],
    ['no network', { network: 'none' }, 'none'],
    ['only denials', { network: [{ host: 'a.org', action: 'deny' }] }, 'none'],
    ['methods that read', { network: [{ host: 'a.org', methods: ['GET', 'HEAD'] }] }, 'read_only'],
    [
      'one host that may be written to',
      {
        network: [
          { host: 'a.org', methods: ['GET'] },
          { host: 'b.org', methods: ['POST'] },
        ],
      },
      'write',
    ],
    ['a host without methods', { network: ['a.org'] }, 'write'],
    ['a direct connection', { network: [{ host: 'a.org', action: 'direct' }] }, 'write'],
    ['the whole network', { network: 'all' }, 'write'],
    [
      'a denial beside reading',
      {
        network: [
          { host: 'a.org', methods: ['GET'] },
          { host: 'b.org', methods: ['POST'], action: 'deny' },
        ],
      },
      'read_only',
    ],
  ])('is derived from the network and marked as derived: %s', (_, policy, level) => {
    expect(classOf(policy)).toEqual({ level, derived: true })
  })

  it.each([
    [{ egress_class: 'none' }, 'none'],
    [{ egress_class: 'none', network: [{ host: 'a.org', action: 'deny' }] }, 'none'],
    [{ egress_class: 'read_only', network: ['a.org'] }, 'read_only'],
    [{ egress_class: 'read_only', network: 'all' }, 'read_only'],
    [{ egress_class: 'write', network: [{ host: 'a.org', methods: ['GET'] }] }, 'write'],
    [{ egress_class: 'write' }, 'write'],
  ])("is the author's choice if given: %j", (policy, level) => {
    expect(classOf(policy)).toEqual({ level, derived: false })
  })

  it.each([
    [{ egress_class: 'none', network: ['a.org'] }, /network grants a\.org$/],
    [{ egress_class: 'none', network: 'all' }, /network is all/],
    [{ egress_class: 'read_only', network: 'none' }, /network is none/],
    [{ egress_class: 'write', network: [] }, /network is none/],
    [{ egress_class: 'write', network: [{ host: 'a.org', action: 'deny' }] }, /network only denies/],
    [
      { egress_class: 'read_only', network: [{ host: 'a.org', methods: ['GET', 'POST'] }] },
      /more than GET, HEAD and OPTIONS at a\.org/,
    ],
    [{ egress_class: 'read_only', network: [{ host: 'a.org', action: 'direct' }] }, /more than GET/],
  ])('is refused if it contradicts the network: %j', (policy, message) => {
    expect(() => parsePolicy(policy, 'test')).toThrow(
      expect.objectContaining({
        code: 'policy-conflict',
        message: expect.stringMatching(message) as string,
        fix: expect.stringMatching(/./) as string,
      }),
    )
  })

  it('read_only narrows entries without methods, and leaves denials unchanged', () => {
    const { network } = boundaryOf({
      egress_class: 'read_only',
      network: ['a.org', { host: 'b.org', methods: ['GET'] }, { host: 'c.org', action: 'deny' }],
    })
    const methods = network.kind === 'hosts' ? network.entries.map((entry) => entry.methods) : []
    expect(methods).toEqual([
      { kind: 'list', items: ['GET', 'HEAD', 'OPTIONS'] },
      { kind: 'list', items: ['GET'] },
      { kind: 'all' },
    ])
  })
})
