import { describe, expect, it } from 'vitest'

import { beyond, describeWitness, isWithin, loadPolicyText, parsePolicy, policyHash } from '../../src/policy/index.js'

const refusal = (text: string) => expect.objectContaining({ message: expect.stringContaining(text) as string }) as Error

const BEARER = {
  id: 'token',
  inject: { host: 'api.example.org', header: 'Authorization', format: 'Bearer {value}' },
  placeholder: 'API_TOKEN',
}
const parse = (credential: unknown, network: unknown = ['api.example.org']) =>
  parsePolicy({ network, credentials: [credential] }, 'test').credentials

describe('a credential in a policy', () => {
  it('says where the value goes, and which variable gives the tool a placeholder', () => {
    expect(parse(BEARER)).toMatchObject([
      {
        id: 'token',
        hosts: [{ destination: { kind: 'host', host: 'api.example.org' }, port: { kind: 'web' } }],
        inject: { kind: 'header', name: 'Authorization', format: 'Bearer {value}' },
        placeholder: { name: 'API_TOKEN', text: 'placeholder-for-token' },
      },
    ])
  })

  it.each([
    [{ as: 'bearer' }, { kind: 'header', name: 'Authorization', format: 'Bearer {value}' }],
    [{ header: 'X-Api-Key' }, { kind: 'header', name: 'X-Api-Key', format: '{value}' }],
    [
      { as: 'basic', user: 'x-access-token' },
      { kind: 'basic', user: 'x-access-token' },
    ],
    [{ as: 'basic' }, { kind: 'basic', user: '' }],
    [
      { as: 'query', parameter: 'key' },
      { kind: 'query', parameter: 'key' },
    ],
    [{ as: 'placeholder' }, { kind: 'placeholder' }],
    [{ as: 'client-certificate' }, { kind: 'client-certificate' }],
    [
      { as: 'aws-sigv4', service: 'bedrock' },
      { kind: 'aws-sigv4', service: 'bedrock', region: undefined },
    ],
  ])('is injected as %j', (inject, expected) => {
    expect(parse({ ...BEARER, inject: { host: 'api.example.org', ...inject } })[0]?.inject).toEqual(expected)
  })

  it('with different injections for two hosts is two credentials with one id', () => {
    const inject = [
      { host: 'git.example.org', as: 'basic', user: 'git' },
      { host: ['api.example.org', 'up.example.org'], as: 'bearer' },
    ]
    expect(
      parse({ id: 'token', inject }, ['*.example.org']).map(({ id, hosts, inject: { kind } }) => [
        id,
        hosts.length,
        kind,
      ]),
    ).toEqual([
      ['token', 1, 'basic'],
      ['token', 2, 'header'],
    ])
  })

  it.each<[string, unknown, string]>([
    ['no id', { inject: BEARER.inject }, 'test: credentials[0] must be a mapping with the keys "id" and "inject"'],
    ['a key that is near another', { ...BEARER, placehodler: 'A' }, 'unknown key "placehodler" in credentials[0]'],
    ['a value', { ...BEARER, value: 'ghp_abc' }, 'unknown key "value" in credentials[0]'],
    [
      'a key of another way',
      { id: 'a', inject: { host: 'api.example.org', as: 'basic', parameter: 'k' } },
      'unknown key "parameter" in credentials[0].inject',
    ],
    ['no way', { id: 'a', inject: { host: 'api.example.org' } }, 'credentials[0].inject must be a mapping with "as"'],
    [
      'a misspelt way',
      { id: 'a', inject: { host: 'api.example.org', as: 'baerer' } },
      'credentials[0].inject.as must be one of: bearer',
    ],
    ['no host', { id: 'a', inject: { as: 'bearer' } }, 'credentials[0].inject must be a mapping with the key "host"'],
    [
      'a host that the policy does not grant',
      { id: 'a', inject: { host: 'evil.example', as: 'bearer' } },
      'evil.example is not granted by network of the same policy',
    ],
    [
      'another port than the granted',
      { id: 'a', inject: { host: 'api.example.org:8443', as: 'bearer' } },
      'api.example.org:8443 is not granted',
    ],
    [
      'a header that leads the request',
      { id: 'a', inject: { host: 'api.example.org', header: 'Host' } },
      'must be a header that carries a credential',
    ],
    [
      'no stand-in to be put in place of',
      { id: 'a', inject: { host: 'api.example.org', as: 'placeholder' } },
      'must be a credential with a "placeholder"',
    ],
  ])('with %s is refused', (_, credential, message) => {
    expect(() => parse(credential)).toThrow(refusal(message))
  })

  it.each([
    ['api.example.org:8443', 'api.example.org', 'name the port that network grants: host: api.example.org:8443'],
    ['*.example.org:8443', 'api.example.org:9000', 'name the port that network grants: host: api.example.org:8443'],
    ['api.example.org', 'api.example.org:8443', 'name the port that network grants: host: api.example.org'],
    ['other.example.org:8443', 'api.example.org', 'grant it there: network: [ api.example.org ]'],
  ])('on another port than the granted one is refused with the granted port (%s, %s)', (granted, host, fix) => {
    const credential = { id: 'a', inject: { host, as: 'bearer' } }
    expect(() => parse(credential, [granted])).toThrow(expect.objectContaining({ fix }) as Error)
    const fixed = /host: (?<host>\S+)$/.exec(fix)?.groups?.['host']
    if (fixed !== undefined)
      expect(() => parse({ id: 'a', inject: { host: fixed, as: 'bearer' } }, [granted])).not.toThrow()
  })

  it('is refused for a direct host, and if the tool would get the variable itself', () => {
    expect(() => parse(BEARER, [{ host: 'api.example.org', action: 'direct' }])).toThrow(refusal('is direct'))
    expect(() =>
      parsePolicy({ network: ['api.example.org'], environment: ['API_TOKEN'], credentials: [BEARER] }, 'test'),
    ).toThrow(refusal('API_TOKEN is also in environment'))
  })

  it('that contains the value by mistake is refused without repeating it', () => {
    const wrong = () => parse({ ...BEARER, inject: { ...BEARER.inject, format: 'Bearer ghp_abcdef' } })
    expect(wrong).toThrow(refusal('credentials[0].inject.format must be a text with {value} in it'))
    expect(wrong).not.toThrow('ghp_abcdef')
  })

  it('given twice is one if both say the same, and otherwise a conflict with its line', () => {
    expect(
      parsePolicy({ network: ['api.example.org'], credentials: [BEARER, BEARER] }, 'test').credentials,
    ).toHaveLength(1)
    const text =
      'network: [ a.org ]\ncredentials:\n  - { id: t, inject: { host: a.org, as: bearer } }\n  - { id: t, ' +
      'inject: { host: a.org, header: X } }\n'
    expect(() => loadPolicyText(text, 'p.yaml')).toThrow(
      refusal('p.yaml:4: credentials[1]: the credential "t" is already given'),
    )
  })

  it('counts in the hash and in the comparison of policies', () => {
    const [without, with_] = [
      parsePolicy({ network: ['api.example.org'] }, 'a'),
      parsePolicy({ network: ['api.example.org'], credentials: [BEARER] }, 'b'),
    ]
    expect(policyHash(with_)).not.toBe(policyHash(without))
    expect(isWithin(without, with_)).toEqual({ within: true })
    const answer = isWithin(with_, without)
    expect(answer.within ? '' : describeWitness(answer.witness)).toBe(
      'can send GET / to api.example.org:443 with the credential token',
    )
  })

  const within = (a: unknown, b: unknown) => {
    const answer = isWithin(parsePolicy(a, 'a'), parsePolicy(b, 'b'))
    return answer.within || describeWitness(answer.witness)
  }
  const using = (inject: unknown, network: unknown = ['a.org', '*.a.org'], placeholder?: string) => ({
    network,
    credentials: [{ id: 'token', inject, ...(placeholder === undefined ? {} : { placeholder }) }],
  })

  it.each([
    [
      'a host in place of a wildcard',
      using({ host: 'b.a.org', as: 'bearer' }),
      using({ host: '*.a.org', as: 'bearer' }),
    ],
    [
      'the same header in another case',
      using({ host: 'a.org', header: 'x-key' }),
      using({ host: 'a.org', header: 'X-Key' }),
    ],
    [
      'no placeholder',
      using({ host: 'a.org', as: 'bearer' }),
      using({ host: 'a.org', as: 'bearer' }, ['a.org', '*.a.org'], 'TOKEN'),
    ],
    [
      'one service in place of any',
      using({ host: 'a.org', as: 'aws-sigv4', service: 's3' }),
      using({ host: 'a.org', as: 'aws-sigv4' }),
    ],
  ])('that narrows to %s stays within', (_, narrow, wide) => {
    expect(within(narrow, wide)).toBe(true)
  })

  it('does not go further because its policy grants another host', () => {
    const [a, b] = [using({ host: 'a.org', as: 'bearer' }, ['a.org', 'b.org']), using({ host: 'a.org', as: 'bearer' })]
    expect(beyond(parsePolicy(a, 'a'), parsePolicy(b, 'b')).map(describeWitness)).toEqual([
      'can send GET / to b.org:443',
    ])
  })

  it.each([
    ['another header', { host: 'a.org', header: 'X-Other' }],
    ['another host', { host: 'b.a.org', header: 'X-Key' }],
    ['another form', { host: 'a.org', header: 'X-Key', format: 'Token {value}' }],
  ])('with %s goes beyond', (_, inject) => {
    expect(within(using(inject), using({ host: 'a.org', header: 'X-Key' }))).toMatch(/with the credential token$/)
  })

  it('for more requests goes beyond the same credential for fewer', () => {
    const reading = {
      ...parsePolicy({ network: [{ host: 'api.example.org', methods: ['GET'] }], credentials: [BEARER] }, 'a'),
    }
    const composed = { ...reading, network: parsePolicy({ network: ['api.example.org'] }, 'b').network }
    const writing = parsePolicy({ network: ['api.example.org'], credentials: [BEARER] }, 'c')
    expect(isWithin(composed, writing)).toEqual({ within: true })
    expect(isWithin(writing, composed)).toMatchObject({ within: false, witness: { kind: 'credential' } })
  })
})
