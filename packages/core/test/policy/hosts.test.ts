import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { cidrContains, parseIpAddress, renderDestination, renderIpAddress } from '../../src/policy/index.js'
import type { HostGrant } from '../../src/policy/index.js'

import { boundaryOf } from './places.js'

const hosts = (...network: unknown[]): readonly HostGrant[] => {
  const boundary = boundaryOf({ network })
  return boundary.network.kind === 'hosts' ? boundary.network.entries : []
}

const destinations = (...network: unknown[]) => hosts(...network).map(renderDestination)

describe('a network entry', () => {
  it.each([
    ['api.example.org', 'api.example.org'],
    ['API.Example.ORG', 'api.example.org'],
    ['*.example.org', '*.example.org'],
    ['*.example.org:8443', '*.example.org:8443'],
    ['localhost:3000', 'localhost:3000'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:25', '192.0.2.7:25'],
    ['FD00:0:0::/8', 'fd00::/8'],
    ['[2001:db8::1]:443', '[2001:db8::1]:443'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::/0', '::/0'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ])('%s is read as %s', (entry, expected) => {
    expect(destinations(entry)).toEqual([expected])
  })

  it.each([
    ['', 'empty'],
    ['*', 'every host'],
    ['https://example.org', 'a URL'],
    ['user@example.org', 'userinfo'],
    ['example.org.', 'a trailing dot'],
    ['a.*.org', 'a wildcard in the middle'],
    ['*example.org', 'half a wildcard'],
    ['bücher.example', 'not ASCII'],
    ['exa mple.org', 'a space'],
    ['example\0.org', 'a NUL byte'],
    ['-a.org', 'a leading hyphen'],
    ['example.org:0', 'port 0'],
    ['example.org:65536', 'a port beyond the range'],
    ['example.org:0443', 'a port with a leading zero'],
    ['127.1', 'a shortened address'],
    ['0177.0.0.1', 'an octal address'],
    ['0x7f000001', 'a hexadecimal address'],
    ['2130706433', 'a decimal address'],
    ['::ffff:127.0.0.1', 'an IPv4-mapped address'],
    ['::ffff:7f00:1', 'an IPv4-mapped address in hex'],
    ['fe80::1%eth0', 'a zone'],
    ['[127.0.0.1]:80', 'brackets around IPv4'],
    ['10.1.2.3/8', 'host bits in a block'],
    ['10.0.0.0/33', 'an impossible prefix'],
    ['10.0.0.0/8/8', 'two slashes'],
    ['*.10.0.0.1', 'a wildcard before an address'],
  ])('%j is refused (%s)', (entry) => {
    expect(() => hosts(entry)).toThrow(expect.objectContaining({ code: 'host-malformed' }))
  })

  it('may limit methods and paths', () => {
    const [grant] = hosts({ host: 'api.example.org', methods: ['GET'], paths: ['/repos/**'] })
    expect(grant).toMatchObject({
      action: 'allow',
      methods: { kind: 'list', items: ['GET'] },
      paths: { kind: 'list', items: [{ text: '/repos/**' }] },
    })
  })

  it.each([
    { host: 'a.org', methods: ['get'] },
    { host: 'a.org', methods: [] },
    { host: 'a.org', paths: ['repos'] },
    { host: 'a.org', paths: ['/a?b=c'] },
    { host: 'a.org', action: 'maybe' },
    { methods: ['GET'] },
    7,
  ])('is refused if a detail is wrong: %j', (entry) => {
    expect(() => hosts(entry)).toThrow(expect.objectContaining({ code: expect.stringMatching(/^policy-/) as string }))
  })

  it('cannot be both allowed and denied', () => {
    expect(() => hosts('a.org', { host: 'A.ORG', action: 'deny' })).toThrow(
      expect.objectContaining({ code: 'policy-conflict' }),
    )
    expect(hosts('a.org', { host: 'a.org', methods: ['DELETE'], action: 'deny' })).toHaveLength(2)
  })

  it('cannot filter a direct connection', () => {
    expect(() => hosts({ host: 'a.org', action: 'direct', methods: ['GET'] })).toThrow(
      expect.objectContaining({ code: 'policy-conflict' }),
    )
  })

  it.each([
    ['a filter', { host: 'a.org', methods: ['GET'] }],
    ['a partial denial', { host: 'a.org', methods: ['DELETE'], action: 'deny' }],
  ])('cannot be direct beside %s for the same destination, in any order', (_, filter) => {
    const direct = { host: 'A.org', action: 'direct' }
    expect(() => hosts(direct, filter)).toThrow(expect.objectContaining({ code: 'policy-conflict' }))
    expect(() => hosts(filter, direct)).toThrow(expect.objectContaining({ code: 'policy-conflict' }))
    expect(hosts({ host: 'a.org:22', action: 'direct' }, filter)).toHaveLength(2)
  })

  it('collapses with an equal one', () => {
    expect(destinations('a.org', 'A.org', { host: 'a.org' })).toEqual(['a.org'])
  })
})

describe('an IP address', () => {
  it('parses from its own text', () => {
    const v6 = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).filter((value) => value >> 32n !== 0xffffn)
    const v4 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n })
    const addresses = fc.oneof(
      v6.map((value) => ({ family: 6 as const, value })),
      v4.map((value) => ({ family: 4 as const, value })),
    )
    fc.assert(
      fc.property(addresses, (address) => {
        expect(parseIpAddress(renderIpAddress(address))).toEqual(address)
      }),
    )
  })

  it('is in a block exactly if its leading bits are', () => {
    const block = { family: 4, first: 0x0a000000n, prefixLength: 8 } as const
    expect(cidrContains(block, { family: 4, value: 0x0affffffn })).toBe(true)
    expect(cidrContains(block, { family: 4, value: 0x0b000000n })).toBe(false)
    expect(cidrContains(block, { family: 6, value: 0x0affffffn })).toBe(false)
    expect(cidrContains({ family: 6, first: 0n, prefixLength: 0 }, { family: 6, value: 1n })).toBe(true)
  })
})
