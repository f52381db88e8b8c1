import { readFileSync, readdirSync } from 'node:fs'

import Ajv from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

import { CordonError } from '../../src/errors/index.js'
import { policyFileSchema, policySchema } from '../../src/policy/files/json-schema.js'
import { loadPolicyFile, parsePolicy } from '../../src/policy/index.js'

import { policyValue } from './arbitrary-policy.js'

const validate = new Ajv.Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: false }).compile(
  policySchema(),
)

const isParsed = (value: unknown): boolean => {
  try {
    parsePolicy(value, 'test')
    return true
  } catch (error) {
    if (error instanceof CordonError) return false
    throw error
  }
}

/** As a file would have it: what is undefined is not there. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown

describe('schemas/policy.schema.json', () => {
  it("equals the parser's own tables", async () => {
    await expect(`${JSON.stringify(policySchema(), null, 2)}\n`).toMatchFileSnapshot('../../schemas/policy.schema.json')
  })
})

describe('schemas/policy-file.schema.json', () => {
  const isFile = new Ajv.Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(policyFileSchema())
  const policies = new URL('../../policies/', import.meta.url)

  it('is the schema of a policy, plus the keys of a file', async () => {
    await expect(`${JSON.stringify(policyFileSchema(), null, 2)}\n`).toMatchFileSnapshot(
      '../../schemas/policy-file.schema.json',
    )
  })

  it('fits every bundled policy', () => {
    for (const name of readdirSync(policies)) {
      expect(
        isFile(parse(readFileSync(new URL(name, policies), 'utf8'))),
        `${name}: ${JSON.stringify(isFile.errors)}`,
      ).toBe(true)
    }
  })

  it.each([
    { description: '' },
    { examples: { match: ['GET'] } },
    { examples: { match: [{ credentials: [] }] } },
    { examples: { not_match: [{ request: 'GET https://a.org/', credentials: [] }] } },
    { exmaples: {} },
  ])('refuses, like the parser, %j', (value) => {
    expect(isFile(value)).toBe(false)
    expect(() => loadPolicyFile(JSON.stringify(value), 'test.json')).toThrow(CordonError)
  })
})

const CONFLICT = /policy-conflict/

const codeOf = (value: unknown): string => {
  try {
    parsePolicy(value, 'test')
    return ''
  } catch (error) {
    return error instanceof CordonError ? error.code : 'other'
  }
}

// Whatever may stand for a value: right at one place, wrong at most others.
const anything = fc.oneof(
  fc.constantFrom<unknown>(
    'none',
    'all',
    'low',
    'write',
    'read_only',
    'deny',
    'direct',
    '',
    'x',
    null,
    true,
    0,
    1,
    -1,
    1.5,
    2 ** 53,
    '1M',
    '10s',
    '0',
    '5 M',
    'GET',
    'get',
    '/',
    'a.org',
    'LANG',
    'A=1',
    '1A',
    'landlock',
    'system',
  ),
  fc.constantFrom<unknown>(
    [],
    {},
    ['none'],
    ['a.org'],
    ['LANG'],
    ['/a'],
    [7],
    [[]],
    [null],
    { read: [] },
    { host: 'a.org' },
    { memory: '1M' },
    { hsot: 'a.org' },
  ),
)

/** A policy in which one place was filled with something else, or has a key too many. */
const damaged = fc
  .tuple(
    policyValue,
    fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
    anything,
    fc.constantFrom('risk', 'netwrok', 'limits', '__proto__', 'host'),
  )
  .map(([value, steps, other, key]) => {
    const copy = asJson(value) as Record<string, unknown>
    let place: Record<string, unknown> | unknown[] = copy
    for (const step of steps) {
      const keys: string[] = Object.keys(place)
      const chosen = step % 5 === 0 || keys.length === 0 ? key : (keys[step % keys.length] ?? key)
      // Not what is inherited: "__proto__" is a key like any other here.
      const child: unknown = Object.getOwnPropertyDescriptor(place, chosen)?.value
      if (typeof child === 'object' && child !== null && step % 3 !== 0) {
        place = child as Record<string, unknown>
        continue
      }
      if (Array.isArray(place)) place.push(other)
      else Object.defineProperty(place, chosen, { value: other, enumerable: true, configurable: true, writable: true })
      break
    }
    return copy
  })

describe('the schema and the parser', () => {
  it('accept the same policies, except contradicting entries', () => {
    const counts = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(policyValue, (value) => {
        const json = asJson(value)
        const code = codeOf(json)
        counts[code === '' ? 'accepted' : 'refused'] += 1
        if (code === '') expect([json, validate(json), validate.errors]).toEqual([json, true, null])
        else if (!CONFLICT.test(code)) expect(validate(json)).toBe(false)
      }),
      { numRuns: 3000 },
    )
    expect(counts.accepted).toBeGreaterThan(1000)
  })

  it('refuse the same damaged policies', () => {
    const counts = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(damaged, (json) => {
        const code = codeOf(json)
        counts[code === '' ? 'accepted' : 'refused'] += 1
        if (!CONFLICT.test(code)) expect([json, validate(json)]).toEqual([json, code === ''])
      }),
      { numRuns: 6000 },
    )
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(500)
  })

  const network = (host: unknown) => ({ network: [host] })
  const read = (glob: unknown) => ({ filesystem: { read: [glob] } })
  const limits = (name: string, value: unknown) => ({ limits: { [name]: value } })

  it.each([
    ...[
      'a.org',
      'A.org:443',
      '*.a.org',
      '*.a.org:1',
      'localhost',
      'a_b.c-d',
      'xn--a',
      '1.2.3.4',
      '1.2.3.4:65535',
      '10.0.0.0/8',
      '0.0.0.0/0',
      '::/0',
      'fd00::1',
      '[fd00::1]:22',
      '[::1]',
      '1:2:3:4:5:6:7:8',
    ].map(network),
    ...[
      '',
      '*',
      'https://a.org',
      'u@a.org',
      'a.org.',
      'a.*.org',
      '*a.org',
      'bücher.example',
      'a b',
      '-a.org',
      'a-.org',
      'a.org:0',
      'a.org:65536',
      'a.org:0443',
      '127.1',
      '0177.0.0.1',
      '0x7f000001',
      '2130706433',
      'a.0x1',
      'fe80::1%eth0',
      '[127.0.0.1]:80',
      '10.0.0.0/33',
      '10.0.0.0/8/8',
      '*.10.0.0.1',
      '1.2.3.256',
      '::/129',
      `${'a'.repeat(64)}.org`,
      `${'a.'.repeat(127)}org`,
      7,
      null,
      {},
    ].map(network),
    ...[
      { host: 'a.org', methods: [] },
      { host: 'a.org', paths: [] },
      { host: 'a.org', paths: ['a'] },
      { host: 'a.org', paths: ['/a?b'] },
      { host: 'a.org', paths: ['/a/**', '/{b,c}'] },
      { host: 'a.org', methods: ['M-SEARCH'] },
    ].map(network),
    ...[
      { host: 'a.org', action: 'direct' },
      { host: 'a.org', action: 'direct', methods: ['GET'] },
      { host: 'a.org', action: 'direct', paths: ['/'] },
    ].map(network),
    ...[
      '/a',
      'a',
      '~',
      '~/x',
      '.',
      '../a',
      '!/a',
      '/a/**',
      '/a/*.txt',
      '/{a,b}',
      '/\\*',
      '/a b',
      '/é',
      '/a\nb',
      '\\!a',
      '/a,b',
    ].map(read),
    ...['', '!', '!!/a', '/a/***', '/a/[b]', '/a/]', '\\', '/a\\b', 'C:\\x', 'file:///x', '/a\0b', 7, null, []].map(
      read,
    ),
    ...['1M', '1.5G', '2MiB', '2mib', '3T', 1_048_576, '1048576', '1048576.0'].map((value) => limits('memory', value)),
    ...['', 'M', '-1M', '0', '0M', '1 M', '1e9', '256MB', 0, -1, 1.5, 1, 2 ** 53, true].map((value) =>
      limits('memory', value),
    ),
    ...['500ms', '10.0ms', '1.5s', '2m', '1h'].map((value) => limits('wall', value)),
    ...['', '1', '0s', '-1s', '1M', '1 s', '10.5ms', 1000].map((value) => limits('wall', value)),
    ...[1, 64, 0, -1, 1.5, '16', null].map((value) => limits('processes', value)),
    ...['A', 'A=', 'A=b=c', 'A=\n', '_', 'a1', '', '=x', '1A', 'A-B', 'LC_*', 'A=\0'].map((value) => ({
      environment: [value],
    })),
    ...['git', './x', '/usr/bin/make', 'a\\*b', 'g++', '', '!git', '/usr/bin/*', 'g?t', '{a,b}', '[x]'].map(
      (value) => ({ exec: [value] }),
    ),
    ...['none', 'all', [], {}, null, 'some', true].flatMap((value) =>
      ['filesystem', 'network', 'environment', 'exec', 'limits', 'presets', 'require', 'risk'].map((key) => ({
        [key]: value,
      })),
    ),
    ...[[], {}, null, 'none', 7].map((value) => value),
  ])('agree about %j', (value) => {
    expect(validate(value)).toBe(isParsed(value))
  })

  it.each([
    ...['none', 'read_only', 'write'].flatMap((level) =>
      [
        undefined,
        'none',
        'all',
        [],
        ['a.org'],
        [{ host: 'a.org', methods: ['GET'] }],
        [{ host: 'a.org', methods: ['GET', 'POST'] }],
        [{ host: 'a.org', action: 'direct' }],
        [{ host: 'a.org', action: 'deny' }],
        ['a.org', { host: 'b.org', action: 'deny', methods: ['POST'] }],
      ].map((entries) => asJson({ egress_class: level, network: entries })),
    ),
  ])('agree about contradictions of the class: %j', (value) => {
    expect(validate(value)).toBe(isParsed(value))
  })

  it.each([
    ['entries that contradict each other', { network: ['a.org', { host: 'a.org', action: 'deny' }] }],
    ['variables that contradict each other', { environment: ['A=1', 'A=2'] }],
    ['braces that do not close', read('/{a')],
    ['a brace with one alternative', read('/{a}')],
    ['"**" beside other characters', read('/a**')],
    ['".." that leads above the root', read('/..')],
    ['".." behind a wildcard', read('/*/..')],
    ['the home of another', read('~bob/x')],
    ['too many alternatives', read(`/${'{a,b}'.repeat(9)}`)],
    ['a block with bits of a host', network('10.1.2.3/8')],
    ['an IPv6 address with too few groups', network('1:2:3')],
    ['an IPv4 address in IPv6', network('::ffff:7f00:1')],
    ['parts of a byte or of a millisecond', limits('output', '0.1K')],
    ['a size beyond all numbers', limits('memory', '99999999T')],
    ['a limit too small for any program, with a unit', limits('memory', '1K')],
  ])('differ only where a schema cannot express the rule: %s', (_, value) => {
    expect([validate(value), isParsed(value)]).toEqual([true, false])
  })
})
