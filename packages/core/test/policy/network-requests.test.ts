import { describe, expect, it } from 'vitest'

import { compileNetwork, parseRequestHost, readUrlPath } from '../../src/policy/index.js'
import type { NetworkRequest } from '../../src/policy/index.js'

import { boundaryOf } from './places.js'
import { request } from './requests.js'

const network = (entries: unknown, egressClass?: string) =>
  compileNetwork(boundaryOf({ network: entries, ...(egressClass === undefined ? {} : { egress_class: egressClass }) }))
const isAllowed = (entries: unknown, text: string, egressClass?: string) =>
  network(entries, egressClass).answer(request(text)).kind === 'allowed'

describe('a request', () => {
  it.each([
    ['a name is itself', ['a.org'], 'GET a.org', true],
    ['not what is below it', ['a.org'], 'GET b.a.org', false],
    ['not what ends like it', ['a.org'], 'GET xa.org', false],
    ['a wildcard is what is below', ['*.a.org'], 'GET b.a.org', true],
    ['at any depth', ['*.a.org'], 'GET c.b.a.org', true],
    ['not the name itself', ['*.a.org'], 'GET a.org', false],
    ['without a port it is the web', ['a.org'], 'GET a.org:80', true],
    ['and no other port', ['a.org'], 'GET a.org:8080', false],
    ['with a port only that', ['a.org:22'], 'GET a.org:443', false],
    ['with a port that one', ['a.org:22'], 'stream a.org:22', true],
    ['an address is itself', ['10.1.2.3'], 'GET 10.1.2.3', true],
    ['a block holds its addresses', ['10.0.0.0/8'], 'GET 10.255.0.1', true],
    ['and no others', ['10.0.0.0/8'], 'GET 11.0.0.1', false],
    ['a block of one family holds none of the other', ['::/0'], 'GET 10.0.0.1', false],
    ['a block of IPv6', ['fd00::/8'], 'GET [fd12::1]', true],
    ['a block grants no names', ['0.0.0.0/0'], 'GET a.org', false],
    ['nothing grants nothing', 'none', 'GET a.org', false],
    ['all grants every name', 'all', 'stream a.org:9', true],
    ['all grants every address', 'all', 'direct 127.0.0.1:9', true],
  ])('goes to the hosts of an entry: %s', (_, entries, text, expected) => {
    expect(isAllowed(entries, text)).toBe(expected)
  })

  it.each([
    ['a listed method', { host: 'a.org', methods: ['GET'] }, 'GET a.org', true],
    ['no other', { host: 'a.org', methods: ['GET'] }, 'POST a.org', false],
    ['a path is exactly that path', { host: 'a.org', paths: ['/v1'] }, 'GET a.org/v1', true],
    ['and nothing beneath', { host: 'a.org', paths: ['/v1'] }, 'GET a.org/v1/x', false],
    ['beneath needs a wildcard', { host: 'a.org', paths: ['/v1/**'] }, 'GET a.org/v1/x/y', true],
    ['one name', { host: 'a.org', paths: ['/repos/*/*'] }, 'GET a.org/repos/x/y', true],
    ['not two', { host: 'a.org', paths: ['/repos/*'] }, 'GET a.org/repos/x/y', false],
    ['no stream where methods are listed', { host: 'a.org', methods: ['GET'] }, 'stream a.org', false],
    ['no stream where paths are listed', { host: 'a.org', paths: ['/**'] }, 'stream a.org', false],
    ['no stream without a port', 'a.org', 'stream a.org', false],
    ['a stream on a port that the entry names', 'a.org:443', 'stream a.org', true],
    ['no stream where methods of the port are listed', { host: 'a.org:443', methods: ['GET'] }, 'stream a.org', false],
    ['no direct connection unless the entry says so', 'a.org', 'direct a.org', false],
    ['a direct connection if it does', { host: 'a.org', action: 'direct' }, 'direct a.org', true],
    ['and then anything', { host: 'a.org', action: 'direct' }, 'POST a.org/x', true],
  ])('uses the methods and paths of an entry: %s', (_, entry, text, expected) => {
    expect(isAllowed([entry], text)).toBe(expected)
  })

  it.each([
    ['a denial wins', [{ host: 'b.a.org', action: 'deny' }, '*.a.org'], 'GET b.a.org', false],
    ['in any order', ['*.a.org', { host: 'b.a.org', action: 'deny' }], 'GET b.a.org', false],
    ['only where it stands', ['*.a.org', { host: 'b.a.org', action: 'deny' }], 'GET c.a.org', true],
    ['without a port on every port', ['*.a.org:22', { host: 'b.a.org', action: 'deny' }], 'stream b.a.org:22', false],
    ['with a port on that one', ['*.a.org:22', { host: 'b.a.org:443', action: 'deny' }], 'stream b.a.org:22', true],
    ['of a block', ['10.0.0.0/8', { host: '10.1.0.0/16', action: 'deny' }], 'GET 10.1.2.3', false],
    ['and not beside it', ['10.0.0.0/8', { host: '10.1.0.0/16', action: 'deny' }], 'GET 10.2.2.3', true],
    [
      'of a block for every request, whatever methods it names',
      ['10.0.0.0/8', { host: '10.1.0.0/16', methods: ['DELETE'], action: 'deny' }],
      'GET 10.1.2.3',
      false,
    ],
    [
      'also in an address that contains it',
      ['64:ff9b::/96', { host: '10.1.0.0/16', action: 'deny' }],
      'GET [64:ff9b::a01:203]',
      false,
    ],
    ['for its methods', ['a.org', { host: 'a.org', methods: ['DELETE'], action: 'deny' }], 'DELETE a.org', false],
    ['and no others', ['a.org', { host: 'a.org', methods: ['DELETE'], action: 'deny' }], 'GET a.org', true],
    [
      'beneath its paths too',
      ['a.org', { host: 'a.org', paths: ['/admin'], action: 'deny' }],
      'GET a.org/admin/x',
      false,
    ],
    ['and not beside them', ['a.org', { host: 'a.org', paths: ['/admin'], action: 'deny' }], 'GET a.org/admins', true],
    [
      'a denial in part ends streams',
      ['a.org', { host: 'a.org', paths: ['/admin'], action: 'deny' }],
      'stream a.org',
      false,
    ],
    [
      'and direct connections',
      [
        { host: '*.a.org', action: 'direct' },
        { host: 'b.a.org', paths: ['/x'], action: 'deny' },
      ],
      'direct b.a.org',
      false,
    ],
    [
      'whose requests are then looked at',
      [
        { host: '*.a.org', action: 'direct' },
        { host: 'b.a.org', paths: ['/x'], action: 'deny' },
      ],
      'GET b.a.org/y',
      true,
    ],
    ['an address out of a block', ['10.0.0.0/8', { host: '10.1.0.0/16', action: 'deny' }], 'GET 10.1.2.3', false],
  ])('is denied: %s', (_, entries, text, expected) => {
    expect(isAllowed(entries, text)).toBe(expected)
  })

  it('is answered with the entry that decided it', () => {
    const { answer } = network(['*.a.org', { host: 'b.a.org', action: 'deny' }])
    expect(answer(request('GET c.a.org'))).toMatchObject({ kind: 'allowed', entry: { text: '*.a.org' } })
    expect(answer(request('GET b.a.org'))).toMatchObject({
      kind: 'denied',
      because: 'entry',
      entry: { text: 'b.a.org' },
    })
    expect(answer(request('GET d.org'))).toEqual({ kind: 'denied', because: 'not-granted' })
  })

  it('of a read-only tool only reads, for any host', () => {
    expect(isAllowed('all', 'GET a.org/x', 'read_only')).toBe(true)
    expect(isAllowed(['a.org'], 'OPTIONS a.org/x', 'read_only')).toBe(true)
    expect(isAllowed('all', 'POST a.org/x', 'read_only')).toBe(false)
    expect(isAllowed('all', 'stream a.org', 'read_only')).toBe(false)
    expect(isAllowed('all', 'direct a.org', 'read_only')).toBe(false)
    expect(network('all', 'read_only').answer(request('POST a.org'))).toEqual({ kind: 'denied', because: 'read-only' })
  })
})

describe('a path that servers read differently', () => {
  it.each([
    ...[
      '/a/../b',
      '/a/%2e%2e/b',
      '/a/..;/b',
      '/a/..;x=1/b',
      '/a/%2e%2e%3bx/b',
      '/a/..%0a/b',
      '/a/..%0d%0a/b',
      '/a/..%09/b',
      '/a/.. /b',
      '/a/..%20/b',
      '/a/.%2e./b',
      '/a/%252e%252e/b',
      '/a/..%2fb',
      '/a/..%252fb',
      '/a/%25%32%65%25%32%65/b',
    ],
    ...[
      '/a/\uff0e\uff0e/b',
      '/a/%ef%bc%8e%ef%bc%8e/b',
      '/a/%c0%ae%c0%ae/b',
      '/a%c0%afb',
      '/a%e0%80%afb',
      '/a%u002fb',
      '/a%5cb',
      '/a\\b',
      '/a%255cb',
      '/a%00',
      '/a%2500',
      '/a%7f',
      '/a%c2%85',
      '/a%e2%80%a8',
    ],
    ...[
      '//a',
      '/%2fa',
      '/%252fa',
      '/%',
      '/%ff',
      '/%25ff',
      '/a:$i30:$INDEX_ALLOCATION/b',
      '/a::$DATA',
      '/%25252520',
      `/${'%20'.repeat(3000)}`,
      `/${'%3b/%252f'.repeat(9)}`,
      'a',
      '',
    ],
  ])('has no reading that an honest client would mean: %j', (text) => {
    expect(readUrlPath(text)).toBe('ambiguous')
  })

  it.each([
    ['/', '/'],
    ['/a/', '/a'],
    ['/a%20b', '/a b'],
    ['/a?x=/../', '/a'],
    ['/a#b', '/a'],
    ['/%61', '/a'],
    ['/.well-known/x', '/.well-known/x'],
    ['/a..b/...c', '/a..b/...c'],
    ['/v1/x:run', '/v1/x:run'],
    ['/caf%C3%A9', '/café'],
  ])('%s is %s', (text, expected) => {
    expect(readUrlPath(text)).toEqual([expected])
  })

  it.each([
    ['/admin;x=1/users', ['/admin;x=1/users', '/admin/users', '/admin']],
    ['/admin;/users', ['/admin;/users', '/admin/users', '/admin']],
    ['/admin%3bx/users', ['/admin;x/users', '/admin/users', '/admin']],
    ['/a;b%2fc/d', ['/a;b%2Fc/d', '/a;b/c/d', '/a/d', '/a', '/a/c/d']],
    ['/projects/group%2fname', ['/projects/group%2Fname', '/projects/group/name']],
    ['/a%252fb', ['/a%2fb', '/a%2Fb', '/a/b']],
    ['/a//b', ['/a/ /b', '/a/b']],
    ['/a%3fb', ['/a?b', '/a']],
    ['/a./b', ['/a./b', '/a/b']],
    ['/a%20/b', ['/a /b', '/a/b']],
    ['/a%2520b', ['/a%20b', '/a b']],
    ['/100%25', ['/100%']],
    ['/%E2%84%A2', ['/™', '/TM']],
  ])('has all of its readings: %s', (text, expected) => {
    expect(new Set(readUrlPath(text))).toEqual(new Set(expected))
  })

  const byText = (text: string): NetworkRequest => ({
    ...request('GET a.org'),
    use: { kind: 'http', method: 'GET', paths: readUrlPath(text) },
  })
  const isAllowedIn = (entries: unknown, text: string) => network(entries).answer(byText(text)).kind === 'allowed'

  it.each([
    '/admin;x=1/users',
    '/admin;/users',
    '/admin%3bx/users',
    '/admin%253b/users',
    '/x//admin',
    '/x/..%0a/admin',
    '/admin./users',
    '/admin%20/users',
    '/ADMIN/users',
    '/%41dmin',
    '/admin%2fusers',
    '/admin%3fx',
    '/%EF%BC%A1dmin',
  ])('is denied if one of its readings is denied: %s', (text) => {
    const entries = [
      'a.org',
      { host: 'a.org', paths: ['/admin/**', '/x/admin'], action: 'deny' },
      { host: 'a.org', paths: ['/admin'], action: 'deny' },
    ]
    expect(isAllowedIn(entries, text)).toBe(false)
    expect(isAllowedIn(['a.org'], text)).toBe(true)
    expect(isAllowedIn(entries, text.replace(/(?:a|%41|%EF%BC%A1)dmin/i, 'other').replace('..%0a', 'other'))).toBe(true)
  })

  it('is granted only if all of its readings are granted', () => {
    const grant = (...paths: readonly string[]) => [{ host: 'a.org', paths }]
    for (const text of ['/v1/a;x=1/b', '/v1/group%2Fname', '/v1//a', '/v1/a%3f', '/v1/a%2520b', '/v1/A.'])
      expect(isAllowedIn(grant('/v1/**'), text), text).toBe(true)
    for (const text of ['/v1;x/a', '/v1%2fa', '/v1/..%0a/admin', '/v1/..;/admin'])
      expect(isAllowedIn(grant('/v1/a'), text), text).toBe(false)
    expect(isAllowedIn(grant('/v1/*'), '/v1/group%2Fname')).toBe(false)
    expect(isAllowedIn([...grant('/v1/*'), ...grant('/v1/group/name')], '/v1/group%2Fname')).toBe(true)
    expect(isAllowedIn(grant('/v1/**'), '/V1/a')).toBe(false)
  })

  it('without an honest reading matches no grant of paths, and every denial of paths', () => {
    const ambiguous = byText('/a/../b')
    expect(network([{ host: 'a.org', paths: ['/**', '/'] }]).answer(ambiguous).kind).toBe('denied')
    expect(network(['a.org']).answer(ambiguous).kind).toBe('allowed')
    expect(network(['a.org', { host: 'a.org', paths: ['/admin'], action: 'deny' }]).answer(ambiguous).kind).toBe(
      'denied',
    )
  })

  it('is not decoded if it is longer than any honest path, but a long plain path is', () => {
    for (const piece of ['./', ';', '%2f', '%252f', '/', ' ', '%cc%81', 'x;/', './'])
      expect(readUrlPath(`/${piece.repeat(9_000)}x`)).toBe('ambiguous')
    expect(readUrlPath(`/${'a/'.repeat(9_000)}x`)).toHaveLength(1)
    expect(readUrlPath(`/a;${'.'.repeat(8_000)}x`)).toHaveLength(2)
  })
})

describe('a host name from a program', () => {
  it.each([
    ['A.org', { kind: 'name', name: 'a.org' }],
    ['a.org.', { kind: 'name', name: 'a.org' }],
    ['[::1]', { kind: 'address', address: { family: 6, value: 1n } }],
    ['10.0.0.1', { kind: 'address', address: { family: 4, value: 0x0a000001n } }],
  ])('%s is read', (text, expected) => {
    expect(parseRequestHost(text)).toEqual(expected)
  })

  it.each(['', '.', 'a..org', '127.1', '0x7f.1', '[10.0.0.1]', '::ffff:10.0.0.1', 'a b', 'bücher.example'])(
    '%j is refused',
    (text) => {
      expect(parseRequestHost(text)).toBeUndefined()
    },
  )
})

describe('a connection', () => {
  it.each([
    [['a.org'], 'http'],
    [['a.org:443'], 'stream'],
    // Neither of the two grants another protocol than HTTP.
    [['a.org', { host: 'a.org:443', methods: ['GET'] }], 'http'],
    [[{ host: 'a.org', methods: ['GET'] }], 'http'],
    [[{ host: 'a.org', action: 'direct' }], 'direct'],
    [['*.org', { host: 'a.org', methods: ['DELETE'], action: 'deny' }], 'http'],
    [['*.org', { host: 'a.org', action: 'deny' }], undefined],
    [['b.org'], undefined],
    ['none', undefined],
    ['all', 'stream'],
  ])('is a stream, HTTP only, direct or refused, by its entries: %j is %s', (entries, expected) => {
    expect(network(entries).connection(request('GET a.org').host, 443)).toBe(expected)
  })
})

describe('a thousand entries', () => {
  it('answer like single entries', () => {
    const numbers = Array.from({ length: 1000 }, (_, at) => at)
    const compiled = network([
      ...numbers.map((at) => `h${at}.a.org`),
      ...numbers.map((at) => `*.w${at}.org`),
      ...numbers.map((at) => `10.${at % 256}.${at >> 8}.0/24`),
    ])
    const allowed = ['GET h999.a.org', 'GET x.y.w5.org', 'GET 10.7.1.9'].map(
      (text) => compiled.answer(request(text)).kind,
    )
    const denied = ['GET h1000.a.org', 'GET w5.org', 'GET 10.7.9.9'].map((text) => compiled.answer(request(text)).kind)
    expect([...allowed, ...denied]).toEqual(['allowed', 'allowed', 'allowed', 'denied', 'denied', 'denied'])
  })
})
