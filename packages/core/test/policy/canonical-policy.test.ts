import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { CordonError } from '../../src/errors/index.js'
import { canonicalPolicy, loadPolicyText, parsePolicy, policyHash } from '../../src/policy/index.js'
import type { ToolPolicy } from '../../src/policy/index.js'

import { policyValue } from './arbitrary-policy.js'

const hash = (value: unknown) => policyHash(parsePolicy(value, 'test'))

const parseOrSkip = (value: unknown): ToolPolicy => {
  try {
    return parsePolicy(value, 'test')
  } catch (error) {
    fc.pre(!(error instanceof CordonError))
    throw error
  }
}

/** The same value with every mapping and list turned around. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return (value as unknown[]).map(reversed).reverse()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, child]) => [key, reversed(child)] as const)
      .reverse(),
  )
}

const EXAMPLE = {
  risk: 'medium',
  filesystem: { read: ['/data/**', '!/data/**/*.key'], write: ['./out', '~/x/../y'] },
  network: [{ host: 'API.example.org', methods: ['POST', 'GET'], paths: ['/v1/**'] }, '10.0.0.0/8'],
  environment: ['TZ=UTC', 'LANG'],
  exec: ['sh', '/usr/bin/make'],
  limits: { wall: '30s', memory: '256M' },
  presets: ['toolchains'],
  require: ['landlock'],
}

describe('the hash of a policy', () => {
  it('is the SHA-256 of its canonical text, which never changes', () => {
    expect(JSON.parse(canonicalPolicy(parsePolicy(EXAMPLE, 'test')))).toEqual({
      form: 'cordon-policy/1',
      risk: 'medium',
      read: ['!/data/**/*.key', '/data/**'],
      write: ['./out', '~/y'],
      network: ['["10.0.0.0/8","allow","all","all"]', '["api.example.org","allow",["GET","POST"],["/v1/**"]]'],
      egress_class: 'unspecified',
      environment: ['LANG', 'TZ=UTC'],
      exec: ['/usr/bin/make', 'sh'],
      limits: [
        ['memory', 268_435_456],
        ['wall', 30_000],
      ],
      presets: ['toolchains'],
      require: ['landlock'],
    })
    // Changes only together with the number in POLICY_FORM: permits and manifests keep it.
    expect(hash(EXAMPLE)).toBe('sha256:fc38ffd21722e573bc1ca977ab184097d4c61446cc0df1e3034e7bf544960e95')
  })

  it('does not depend on any order, for any policy', () => {
    fc.assert(
      fc.property(policyValue, (value) => {
        expect(policyHash(parseOrSkip(reversed(value)))).toBe(policyHash(parseOrSkip(value)))
      }),
      { numRuns: 1000 },
    )
  })

  it('is the same for a value, its JSON and its YAML', () => {
    const yaml = 'limits: { memory: 256M, wall: 30000ms }\nnetwork:\n  - 10.0.0.0/8\n'
    const value = { network: ['10.0.0.0/8'], limits: { wall: '30s', memory: 268_435_456 } }
    expect(policyHash(loadPolicyText(yaml, 'a.yaml'))).toBe(hash(value))
    expect(policyHash(loadPolicyText(JSON.stringify(value), 'a.json'))).toBe(hash(value))
  })

  it.each([
    [{ filesystem: { read: ['/a/{b,c}'] } }, { filesystem: { read: ['/a/c', '/a/b', '/a/b'] } }],
    [{ filesystem: { read: ['//a/./b/'] } }, { filesystem: { read: ['/a/b'] } }],
    [{ filesystem: { read: ['src'] } }, { filesystem: { read: ['./src'] } }],
    [{ network: ['A.org', 'a.org'] }, { network: [{ host: 'a.org', action: 'allow' }] }],
    [{ environment: [] }, { environment: 'none' }],
    [{ filesystem: 'none' }, { filesystem: { read: 'none', write: [] } }],
    [{ limits: 'none', presets: 'none' }, {}],
  ])('is the same for two spellings of one policy: %j and %j', (one, other) => {
    expect(hash(one)).toBe(hash(other))
  })

  it.each([
    [{}, { network: 'none' }],
    [{ network: 'none' }, { network: 'all' }],
    [{ risk: 'low' }, { risk: 'high' }],
    [{ filesystem: { read: ['/a'] } }, { filesystem: { write: ['/a'] } }],
    [{ filesystem: { read: ['/a'] } }, { filesystem: { read: ['!/a'] } }],
    [{ filesystem: { read: ['/a'] } }, { filesystem: { read: ['a'] } }],
    [{ filesystem: { read: ['a'] } }, { filesystem: { read: ['../a'] } }],
    [{ filesystem: { read: ['/\\*'] } }, { filesystem: { read: ['/*'] } }],
    [{ network: ['a.org'] }, { network: ['a.org:443'] }],
    [{ network: ['a.org'] }, { network: [{ host: 'a.org', action: 'direct' }] }],
    [{ network: 'all' }, { network: 'all', egress_class: 'read_only' }],
    [{ environment: ['A'] }, { environment: ['A='] }],
    [{ exec: ['git'] }, { exec: ['./git'] }],
    [{ limits: { cpu: '1s' } }, { limits: { wall: '1s' } }],
    [{}, { presets: ['workspace'] }],
    [{}, { require: ['landlock'] }],
  ])('differs between %j and %j', (one, other) => {
    expect(hash(one)).not.toBe(hash(other))
  })
})
