import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { CordonError } from '../../src/errors/index.js'
import { loadPolicyText, parsePolicy } from '../../src/policy/index.js'

const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error

describe('a policy file', () => {
  const yaml = [
    'risk: low',
    'filesystem:',
    '  read:',
    '    - /data/**',
    'network: none',
    'limits: { wall: 30s }',
    '',
  ].join('\n')
  const value = { risk: 'low', filesystem: { read: ['/data/**'] }, network: 'none', limits: { wall: '30s' } }

  it('means the same in YAML, in JSON and as a value', () => {
    const expected = parsePolicy(value, 'value')
    expect(loadPolicyText(yaml, 'a.yaml')).toEqual(expected)
    expect(loadPolicyText(JSON.stringify(value), 'a.json')).toEqual(expected)
    expect(loadPolicyText(JSON.stringify(value, null, '\t'), 'a.json')).toEqual(expected)
  })

  it.each([
    [
      'network: none\nfilesystem:\n  read:\n    - /a\n    - /b/[\n',
      'glob-malformed',
      /^a.yaml:5: filesystem.read\[1\]: the pattern/,
    ],
    ['network: none\nnetwrok: none\n', 'policy-unknown-key', /^a.yaml:2: unknown key "netwrok"/],
    ['limits:\n  memory: lots\n', 'policy-invalid-value', /^a.yaml:2: limits.memory must be/],
    ['network:\n', 'policy-invalid-value', /^a.yaml:1: network must be .* not nothing/],
    ['network:\n  - host: a.org\n    methods: [get]\n', 'policy-invalid-value', /^a.yaml:3: network\[0\].methods\[0\]/],
    ['network:\n  none\nnetwrok:\n  - a.org\n', 'policy-unknown-key', /^a.yaml:3: /],
    ['limits:\n  memory:\n\n    lots\n', 'policy-invalid-value', /^a.yaml:2: limits.memory/],
    [
      '{\n  "network": [\n    "a.org",\n    { "host": "b.org", "methdos": ["GET"] }\n  ]\n}',
      'policy-unknown-key',
      /^a.yaml:4: unknown key "methdos" in network\[1\]/,
    ],
    ['egress_class: none\nnetwork: all\n', 'policy-conflict', /^a.yaml:1: egress_class: /],
    ['- a\n', 'policy-not-an-object', /^a.yaml: the policy must be a mapping/],
    ['', 'policy-not-an-object', /not nothing/],
  ])('is refused with file, line and key of the mistake: %j', (text, code, message) => {
    expect(() => loadPolicyText(text, 'a.yaml')).toThrow(refusal(code, message))
  })

  it.each([
    ['network: none\nnetwork: all\n', /^a.yaml:2: /],
    ['network: none\nlimits: {\n', /^a.yaml:\d+: /],
    ['network: !!js/function "x"\n', /^a.yaml:1: /],
    ['network: none\n---\nnetwork: all\n', /^a.yaml:2: /],
    ['network: *nowhere\n', /^a.yaml/],
  ])('is refused unless it is one plain document: %j', (text, message) => {
    expect(() => loadPolicyText(text, 'a.yaml')).toThrow(refusal('policy-syntax', message))
  })

  it('cannot grow without limit through aliases', () => {
    const levels = Array.from(
      { length: 12 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
    )
    const text = ['l0: &l0 x', ...levels].join('\n')
    expect(() => loadPolicyText(text, 'a.yaml')).toThrow(expect.objectContaining({ code: 'policy-syntax' }))
  })

  it('is read, or refused with a code, for any text', () => {
    const words = fc.constantFrom(
      'filesystem',
      'read',
      'network',
      'limits',
      'environment',
      'none',
      'all',
      '/a/**',
      'a.org',
      '&x',
      '*x',
      '{',
      '}',
      '[',
      ']',
      ':',
      '-',
      ',',
      '"',
      '!!set',
      '? ',
      '|',
      '>',
      '#',
      '<<',
      '1',
      '~',
      '\n',
      '\n  ',
      ' ',
      '\t',
      '\0',
      '\u2028',
    )
    fc.assert(
      fc.property(
        fc.array(words, { maxLength: 25 }).map((parts) => parts.join('')),
        (text) => {
          try {
            loadPolicyText(text, 'a.yaml')
          } catch (error) {
            expect(error).toBeInstanceOf(CordonError)
          }
        },
      ),
      { numRuns: 3000 },
    )
  })

  it.each([
    'network: &x [*x]',
    'filesystem: &x { read: *x }',
    'a: &x\n  b: *x',
    '? [network]\n: none',
    '? { a: b }\n: none',
    'network: 2001-01-01',
    '1: 2',
    '? \n: x',
  ])('is refused with a code if it is odd but well-formed: %j', (text) => {
    expect(() => loadPolicyText(text, 'a.yaml')).toThrow(CordonError)
  })
})

describe('a policy value', () => {
  it('is read, or refused with a code, for any value', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.dictionary(
            fc.constantFrom('risk', 'filesystem', 'network', 'exec', 'limits', 'environment', 'require'),
            fc.anything(),
          ),
        ),
        (value) => {
          try {
            parsePolicy(value, 'test')
          } catch (error) {
            expect(error).toBeInstanceOf(CordonError)
          }
        },
      ),
      { numRuns: 3000 },
    )
  })
})
