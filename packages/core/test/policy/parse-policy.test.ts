import { describe, expect, it } from 'vitest'

import { parseDuration, parsePolicy, parseSize } from '../../src/policy/index.js'

const refusal = (code: string, text: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(text) as string }) as Error

describe('a policy', () => {
  it('leaves every omitted section unspecified, which differs from none', () => {
    const unspecified = { kind: 'unspecified' }
    expect(parsePolicy({}, 'test')).toEqual({
      risk: unspecified,
      filesystem: { read: unspecified, write: unspecified },
      network: unspecified,
      egressClass: unspecified,
      environment: unspecified,
      credentials: [],
      exec: unspecified,
      limits: {},
      presets: [],
      require: [],
    })
  })

  it('reads none, an empty list, and all where all exists', () => {
    const policy = parsePolicy({ filesystem: 'none', network: 'all', environment: [], exec: 'all' }, 'test')
    expect(policy.filesystem).toEqual({ read: { kind: 'none' }, write: { kind: 'none' } })
    expect(policy.network).toEqual({ kind: 'all' })
    expect(policy.environment).toEqual({ kind: 'none' })
    expect(policy.exec).toEqual({ kind: 'all' })
  })

  it('reads limits into bytes and milliseconds', () => {
    const limits = {
      memory: '256M',
      processes: 16,
      cpu: '10s',
      wall: '2m',
      output: '1M',
      openFiles: 64,
      fileSize: 1024,
      scratch: '1.5G',
    }
    expect(parsePolicy({ limits }, 'test').limits).toEqual({
      memory: 268_435_456,
      processes: 16,
      cpu: 10_000,
      wall: 120_000,
      output: 1_048_576,
      openFiles: 64,
      fileSize: 1024,
      scratch: 1_610_612_736,
    })
  })

  it('reads environment entries as passed or set', () => {
    expect(parsePolicy({ environment: ['LANG', 'TZ=UTC', 'EMPTY=', 'LANG'] }, 'test').environment).toEqual({
      kind: 'list',
      items: [
        { name: 'LANG', value: { kind: 'pass' } },
        { name: 'TZ', value: { kind: 'set', text: 'UTC' } },
        { name: 'EMPTY', value: { kind: 'set', text: '' } },
      ],
    })
  })

  it('treats an undefined section as omitted', () => {
    expect(parsePolicy({ network: undefined }, 'test').network).toEqual({ kind: 'unspecified' })
  })

  it.each([
    [{ netwrok: 'none' }, 'did you mean "network"?'],
    [{ Network: 'none' }, 'did you mean "network"?'],
    [{ filesystem: { wirte: [] } }, 'did you mean "write"?'],
    [{ limits: { time: '1s' } }, 'known keys: memory, processes, cpu, wall, output, openFiles, fileSize, scratch'],
    [{ network: [{ host: 'a.org', method: ['GET'] }] }, 'did you mean "methods"?'],
    [
      JSON.parse('{"__proto__": {"network": "all"}}'),
      'known keys: risk, filesystem, network, egress_class, environment, credentials, exec, limits, presets, require',
    ],
  ])('is refused with a hint for an unknown key: %j', (policy, fix) => {
    expect(() => parsePolicy(policy, 'test')).toThrow(expect.objectContaining({ code: 'policy-unknown-key', fix }))
  })

  it.each([
    [{ risk: 'hihg' }, 'did you mean "high"?'],
    [{ presets: ['toolchain'] }, 'did you mean "toolchains"?'],
    [{ egress_class: 'readonly' }, 'did you mean "read_only"?'],
    [{ network: [{ host: 'a.org', action: 'alow' }] }, 'did you mean "allow"?'],
    [{ risk: 'enormous' }, 'use one of these, spelt as they are here'],
  ])('is refused with a hint for a misspelt word: %j', (policy, fix) => {
    expect(() => parsePolicy(policy, 'test')).toThrow(expect.objectContaining({ code: 'policy-invalid-value', fix }))
  })

  it.each([
    [null, 'policy-not-an-object', /^test: the policy must be a mapping .* not nothing$/],
    [[], 'policy-not-an-object', /not a list$/],
    [{ filesystem: ['/a'] }, 'policy-not-an-object', /^test: filesystem must be/],
    [{ filesystem: { read: '/a' } }, 'policy-invalid-value', /^test: filesystem.read must be "none" or a list/],
    [
      { filesystem: { read: [7] } },
      'policy-invalid-value',
      /^test: filesystem.read\[0\] must be a path pattern, not the number 7$/,
    ],
    [{ filesystem: { read: 'all' } }, 'policy-invalid-value', /filesystem.read/],
    [{ filesystem: { read: ['/a', '/b/['] } }, 'glob-malformed', /^test: filesystem.read\[1\]: the pattern/],
    [{ network: null }, 'policy-invalid-value', /^test: network must be .* not nothing$/],
    [{ network: true }, 'policy-invalid-value', /not the boolean true$/],
    [{ environment: 'all' }, 'policy-invalid-value', /environment/],
    [{ environment: ['LC_*'] }, 'policy-invalid-value', /letters, digits and underscores/],
    [{ environment: ['=x'] }, 'policy-invalid-value', /environment\[0\]/],
    [{ environment: ['A=1', 'A=2'] }, 'policy-conflict', /A is already given with a value, which is not the same$/],
    [{ exec: ['/usr/bin/*'] }, 'glob-malformed', /without wildcards/],
    [{ exec: ['!git'] }, 'glob-malformed', /without wildcards/],
    [{ limits: { memory: '256MB' } }, 'policy-invalid-value', /limits.memory must be a size/],
    [{ limits: { memory: 0 } }, 'policy-invalid-value', /limits.memory/],
    [{ limits: { wall: 30 } }, 'policy-invalid-value', /limits.wall must be a duration/],
    [{ limits: { processes: '16' } }, 'policy-invalid-value', /limits.processes must be a whole number/],
    [{ limits: { processes: 1.5 } }, 'policy-invalid-value', /limits.processes/],
    [{ risk: 'extreme' }, 'policy-invalid-value', /risk must be one of/],
    [{ presets: ['everything'] }, 'policy-invalid-value', /presets\[0\] must be one of/],
    [{ require: ['magic'] }, 'policy-invalid-value', /require\[0\] must be one of/],
  ])('is refused for a wrong value: %j', (policy, code, message) => {
    expect(() => parsePolicy(policy, 'test')).toThrow(refusal(code, message))
  })
})

describe('quantities', () => {
  it.each([
    ['1K', 1024],
    ['1k', 1024],
    ['2MiB', 2_097_152],
    ['10', 10],
    [10, 10],
    ['1T', 2 ** 40],
  ])('size %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  it.each(['', 'M', '-1M', '0', '1 M', '1e3', '1.5', '99999999T', Number.NaN, Infinity, -1, 1.5, null])(
    'not a size: %s',
    (text) => {
      expect(parseSize(text)).toBeUndefined()
    },
  )

  it.each([
    ['500ms', 500],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['1h', 3_600_000],
  ])('duration %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '1', '0s', '-1s', '1M', '1 s', '0.1ms', 1000])('not a duration: %s', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})
