import { createHash, createHmac } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { inspect } from 'node:util'

import { afterEach, describe, expect, test } from 'vitest'

import { authorizationFor } from '../../src/egress/credentials/sigv4.js'
import type { Credential, Injection } from '../../src/policy/index.js'

import { curl, run } from './programs.js'
import { startHttp, startHttps } from './servers.js'
import type { Handle, TestServer } from './servers.js'
import { bearer, credential, openStage } from './stage.js'
import type { Stage } from './stage.js'

const SECRET = 'value-of-the-secret/+ü'
let stage: Stage
let server: TestServer
/** What the server got, which no tool gets to see. */
let got: { url: string; headers: Record<string, string | string[] | undefined>; body: string }[]
afterEach(async () => {
  // Whatever happened, the record does not contain the value.
  expect(JSON.stringify(stage.events)).not.toMatch(/value-of-the-secret|real-secret-key|session-token-value/)
  await stage.close()
  await server.close()
})

const remember: Handle = (request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (chunk: Buffer) => pieces.push(chunk))
  request.on('end', () => {
    got.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces).toString() })
    response.writeHead(200)
    response.end('ok')
  })
}

const set = async (
  make: (port: number) => readonly Credential[],
  secrets: Readonly<Record<string, string>> = { token: SECRET },
): Promise<string> => {
  got = []
  server = await startHttps(remember)
  stage = await openStage({
    network: [`api.test:${server.port}`],
    here: ['api.test'],
    credentials: make(server.port),
    secrets,
  })
  return `https://api.test:${server.port}`
}
const with_ = (inject: Injection, placeholder?: Credential['placeholder']) => (port: number) => [
  credential('token', `api.test:${port}`, inject, placeholder),
]
const utf8 = (text: string) => Buffer.from(text).toString('latin1')

describe('a credential reaches the server', () => {
  test.each(['--http1.1', '--http2'])('as a bearer token (%s)', async (version) => {
    const url = await set((port) => [bearer('token', `api.test:${port}`)])
    expect((await curl(stage, version, url)).output).toBe('ok')
    expect(got[0]?.headers['authorization']).toBe(`Bearer ${utf8(SECRET)}`)
  })

  test('in its own header', async () => {
    const url = await set(with_({ kind: 'header', name: 'X-Api-Key', format: '{value}' }))
    await curl(stage, '-H', 'x-api-key: placeholder', url)
    expect(got[0]?.headers['x-api-key']).toBe(utf8(SECRET))
  })

  test('in its own header, without headers of the tool that a server takes for the same one', async () => {
    const url = await set(with_({ kind: 'header', name: 'X-Ours-Key', format: '{value}' }))
    await curl(
      stage,
      '-H',
      'X_Ours_Key: mine',
      '-H',
      'x.ours-key: mine',
      '-H',
      'Accept_Encoding: mine',
      '-H',
      'X_Ours_Keys: kept',
      url,
    )
    expect(got[0]?.headers).toMatchObject({ 'x-ours-key': utf8(SECRET), 'x_ours_keys': 'kept' })
    expect(JSON.stringify(got[0]?.headers)).not.toContain('mine')
  })

  test('as a password', async () => {
    const url = await set(with_({ kind: 'basic', user: 'x-access-token' }))
    await curl(stage, '-u', 'me:mine', url)
    expect(Buffer.from(String(got[0]?.headers['authorization']).slice(6), 'base64').toString()).toBe(
      `x-access-token:${SECRET}`,
    )
  })

  test("in the query, replacing the tool's value", async () => {
    const url = await set(with_({ kind: 'query', parameter: 'key' }))
    await curl(stage, `${url}/a?b=c&key=mine&KEY=mine&%6bey=mine`)
    expect(got[0]?.url).toBe('/a?b=c&key=value-of-the-secret%2F%2B%C3%BC')
    expect(stage.events.find(({ type }) => type === 'egress.request')).toMatchObject({ path: '/a' })
  })

  test('in place of its placeholder, in the path and in headers', async () => {
    const url = await set(with_({ kind: 'placeholder' }, { name: 'BOT_TOKEN', text: 'cordon-placeholder' }))
    expect(stage.call.placeholders).toEqual([{ name: 'BOT_TOKEN', text: 'cordon-placeholder' }])
    await curl(stage, '-H', 'Authorization: token cordon-placeholder', `${url}/botcordon-placeholder/send`)
    expect(got[0]?.url).toBe('/botvalue-of-the-secret%2F%2B%C3%BC/send')
    expect(got[0]?.headers['authorization']).toBe(`token ${utf8(SECRET)}`)
    expect(JSON.stringify(stage.events)).toContain('/botcordon-placeholder/send')
  })

  test('as a client certificate', async () => {
    const made = await run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      '/CN=client.test',
      '-days',
      '2',
      '-keyout',
      '-',
    ])
    server = await startHttps(
      (request, response) =>
        response.end((request.socket as TLSSocket).getPeerX509Certificate()?.toString() ?? 'nobody'),
      { asksClients: true },
    )
    const options = { network: [`api.test:${server.port}`], here: ['api.test'] }
    stage = await openStage(options)
    expect((await curl(stage, '--http1.1', `https://api.test:${server.port}`)).output).toBe('nobody')
    await stage.close()
    stage = await openStage({
      ...options,
      credentials: [credential('token', `api.test:${server.port}`, { kind: 'client-certificate' })],
      secrets: { token: made.output },
    })
    expect((await curl(stage, '--http1.1', `https://api.test:${server.port}`)).output.trim()).toBe(
      /-----BEGIN CERTIFICATE[\s\S]*/.exec(made.output)?.[0].trim(),
    )
  })
})

describe('a credential does not reach', () => {
  test('a connection without TLS', async () => {
    got = []
    server = await startHttp(remember)
    stage = await openStage({
      network: [`api.test:${server.port}`],
      here: ['api.test'],
      credentials: [bearer('token', `api.test:${server.port}`)],
      secrets: { token: SECRET },
    })
    expect((await curl(stage, `http://api.test:${server.port}/`)).output).toBe('ok')
    expect(got[0]?.headers['authorization']).toBeUndefined()
  })

  test('a host that its policy does not name, not even after a redirect', async () => {
    const url = await set((port) => [bearer('token', `api.test:${port}`)])
    const seen: unknown[] = []
    const other = await startHttps(
      (request, response) => {
        seen.push(request.headers['authorization'])
        response.end('other')
      },
      { host: 'other.test' },
    )
    await stage.close()
    const redirecting = await startHttps((_, response) => {
      response.writeHead(302, { location: `https://other.test:${other.port}/` })
      response.end()
    })
    stage = await openStage({
      network: [`api.test:${redirecting.port}`, `other.test:${other.port}`],
      here: ['api.test', 'other.test'],
      credentials: [bearer('token', `api.test:${redirecting.port}`)],
      secrets: { token: SECRET },
    })
    expect((await curl(stage, '-L', `https://api.test:${redirecting.port}/`)).output).toBe('other')
    expect(seen).toEqual([undefined])
    expect(url).toContain('api.test')
    await other.close()
    await redirecting.close()
  })

  test('a server with an untrusted certificate', async () => {
    got = []
    server = await startHttps(remember, { host: 'somebody.else' })
    stage = await openStage({
      network: [`api.test:${server.port}`],
      here: ['api.test'],
      credentials: [bearer('token', `api.test:${server.port}`)],
      secrets: { token: SECRET },
    })
    const { output } = await curl(stage, '-w', '%{http_code}', `https://api.test:${server.port}/`)
    expect(output).toMatch(/certificate of api\.test is not trusted.*502/s)
    expect(got).toEqual([])
    expect(stage.events).toContainEqual(
      expect.objectContaining({ type: 'egress.request', problem: 'upstream-untrusted', status: null }),
    )
  })
})

describe("the tool's own credential", () => {
  const headers = [
    'Authorization: Bearer mine',
    'Cookie: session=mine',
    'X-Api-Key: mine',
    'Private-Token: mine',
    'X-Auth-Token: mine',
    'Proxy-Authorization: Basic mine',
    'X-Amz-Security-Token: mine',
    'X_Api_Key: mine',
  ]
  const sent = headers.flatMap((header) => ['-H', header])

  test('is removed from a request to a host with a Cordon credential', async () => {
    const url = await set(with_({ kind: 'header', name: 'X-Ours', format: '{value}' }))
    await curl(stage, ...sent, '-H', 'X-Kept: mine', `${url}/?access_token=mine&api%5Fkey=mine&q=1`)
    expect(JSON.stringify(got)).not.toMatch(/(authorization|cookie|api-key|token)":"/i)
    expect(got[0]).toMatchObject({ url: '/?q=1', headers: { 'x-kept': 'mine', 'x-ours': utf8(SECRET) } })
  })

  test('passes to a host without one', async () => {
    const url = await set(() => [])
    await curl(stage, ...sent.slice(0, 4), `${url}/?access_token=mine`)
    expect(got[0]).toMatchObject({
      url: '/?access_token=mine',
      headers: { authorization: 'Bearer mine', cookie: 'session=mine' },
    })
  })
})

describe('a credential without a value', () => {
  test('stops the call, and the error names the credential', async () => {
    server = await startHttps(remember)
    stage = await openStage({ network: 'none' })
    await expect(
      openStage({
        network: [`api.test:${server.port}`],
        credentials: [bearer('github-token', 'api.test')],
        secrets: {},
      }),
    ).rejects.toThrow('the credential "github-token" has no value')
  })

  test('that cannot be in a header is an error that does not quote it', async () => {
    server = await startHttps(remember)
    stage = await openStage({ network: 'none' })
    const refusal = await openStage({
      network: ['api.test'],
      credentials: [bearer('token', 'api.test')],
      secrets: { token: 'first-line\nsecond-line' },
    }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({ code: 'credential-unusable' })
    expect(inspect(refusal)).not.toMatch(/first-line|second-line/)
  })
})

describe('AWS Signature Version 4', () => {
  // From the test suite that AWS published for the algorithm.
  const keys = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    sessionToken: undefined,
  }
  const terms = { time: '20150830T123600Z', region: 'us-east-1', service: 'service' }
  const empty = createHash('sha256').update('').digest('hex')
  test.each([
    ['GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    ['GET', '/?Param2=value2&Param1=value1', 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500'],
  ])('signs %s %s as AWS does', (method, target, signature) => {
    const value = authorizationFor(
      { method, authority: 'example.amazonaws.com', target, headers: [['X-Amz-Date', terms.time]], hash: empty },
      keys,
      terms,
    )
    expect(value).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
        `SignedHeaders=host;x-amz-date, Signature=${signature}`,
    )
  })

  const verify = ({ url, headers, body }: (typeof got)[number], service: string): boolean => {
    const [, scope = '', signed = '', signature = ''] =
      /Credential=REAL\/(\S+), SignedHeaders=(\S+), Signature=(\w+)/.exec(String(headers['authorization'])) ?? []
    const [path = '', query = ''] = url.split('?')
    const canonical = [
      'POST',
      path,
      query,
      ...signed.split(';').map((name) => `${name}:${String(headers[name])}`),
      '',
      signed,
      createHash('sha256').update(body).digest('hex'),
    ].join('\n')
    const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()
    const key = scope
      .split('/')
      .reduce<Buffer | string>((before, part) => hmac(before, part), `AWS4${SECRET_KEY}`) as Buffer
    expect(scope).toContain(`/eu-west-1/${service}/`)
    return (
      hmac(
        key,
        ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, createHash('sha256').update(canonical).digest('hex')].join(
          '\n',
        ),
      ).toString('hex') === signature
    )
  }
  const SECRET_KEY = 'real-secret-key/abc+def'

  test.each([
    ['s3', undefined],
    ['bedrock', 'bedrock'],
  ])('replaces the signature that the tool made with a placeholder (%s)', async (service, fixed) => {
    const url = await set(with_({ kind: 'aws-sigv4', service: fixed, region: undefined }), {
      token: `REAL:${SECRET_KEY}:session-token-value`,
    })
    await curl(
      stage,
      '--http1.1',
      '--aws-sigv4',
      `aws:amz:eu-west-1:${service}`,
      '-u',
      'FAKE:placeholder',
      '-d',
      'a=b',
      `${url}/path?x=1&y=2`,
    )
    expect(verify(got[0] ?? expect.fail(), service)).toBe(true)
    expect(got[0]?.headers['x-amz-security-token']).toBe('session-token-value')
    expect(JSON.stringify(got)).not.toContain('FAKE')
    expect(got[0]?.body).toBe('a=b')
  })

  test.each(['first', 'last'])('signs what other credentials inject, where it is declared %s', async (place) => {
    const others = (port: number) => [
      credential('key', `api.test:${port}`, { kind: 'header', name: 'X-Api-Key', format: '{value}' }),
      credential('extra', `api.test:${port}`, { kind: 'header', name: 'X-Amz-Extra', format: '{value}' }),
      credential('id', `api.test:${port}`, { kind: 'query', parameter: 'api_key' }),
    ]
    const signing = with_({ kind: 'aws-sigv4', service: undefined, region: undefined })
    const url = await set(
      (port) => (place === 'first' ? [...signing(port), ...others(port)] : [...others(port), ...signing(port)]),
      {
        token: `REAL:${SECRET_KEY}`,
        key: 'key-of-the-service',
        extra: 'extra-of-the-service',
        id: 'id-of-the-service',
      },
    )
    await curl(
      stage,
      '--http1.1',
      '--aws-sigv4',
      'aws:amz:eu-west-1:bedrock',
      '-u',
      'FAKE:placeholder',
      '-H',
      'X-Api-Key: mine',
      '-d',
      'a=b',
      `${url}/path`,
    )
    expect(got[0]).toMatchObject({
      url: '/path?api_key=id-of-the-service',
      headers: { 'x-api-key': 'key-of-the-service', 'x-amz-extra': 'extra-of-the-service' },
    })
    expect(got[0]?.headers['authorization']).toContain(';x-amz-extra')
    expect(verify(got[0] ?? expect.fail(), 'bedrock')).toBe(true)
  })

  test('says what it needs if a request is not signed', async () => {
    const url = await set(with_({ kind: 'aws-sigv4', service: undefined, region: undefined }), {
      token: `REAL:${SECRET_KEY}`,
    })
    expect((await curl(stage, '-w', '%{http_code}', url)).output).toContain('502')
    expect(got).toEqual([])
  })
})
