import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { loadPolicyFile, renderDestination } from '../../src/policy/index.js'
import { redactText } from '../../src/runtime/events/redact.js'
import { has } from '../egress/programs.js'

import { cordon, cordonBeside, temporaryFolder } from './cordon.js'
import { bundledText, policyWords, pretendHosts } from './pretended-hosts.js'
import type { Arrival, PretendedHosts } from './pretended-hosts.js'

const SECRET = 'a-value-that-only-the-proxy-knows-0123456789'
const folder = temporaryFolder()
const clusterFolder = temporaryFolder()
let hosts: PretendedHosts

beforeAll(async () => {
  hosts = await pretendHosts(folder)
})
afterAll(() => hosts.close())

const basic = (user: string): string => `Basic ${Buffer.from(`${user}:${SECRET}`).toString('base64')}`

interface Case {
  readonly policy: string
  readonly credential: string
  readonly variable: string
  readonly host: string
  readonly request: (url: string) => string
  readonly path: string
  readonly arrives: Readonly<Record<string, unknown>>
  readonly secret?: string
}

const curl = (url: string): string => `curl -sS --noproxy "*" ${url}`
const git = (url: string): string => `git -c http.proxy= ls-remote ${url}`

const CASES: readonly Case[] = [
  {
    policy: 'anthropic',
    credential: 'anthropic-key',
    variable: 'ANTHROPIC_API_KEY',
    host: 'api.anthropic.com',
    path: '/v1/models',
    request: (url) => `${curl(url)} -H "x-api-key: $ANTHROPIC_API_KEY"`,
    arrives: { 'x-api-key': SECRET },
  },
  {
    policy: 'openai',
    credential: 'openai-key',
    variable: 'OPENAI_API_KEY',
    host: 'api.openai.com',
    path: '/v1/models',
    request: (url) => `${curl(url)} -H "Authorization: Bearer $OPENAI_API_KEY"`,
    arrives: { authorization: `Bearer ${SECRET}` },
  },
  {
    policy: 'github',
    credential: 'github-token',
    variable: 'GITHUB_TOKEN',
    host: 'api.github.com',
    path: '/user',
    request: curl,
    arrives: { authorization: `Bearer ${SECRET}` },
  },
  {
    policy: 'github',
    credential: 'github-token',
    variable: 'GITHUB_TOKEN',
    host: 'github.com',
    path: '/owner/repository',
    request: git,
    arrives: { authorization: basic('x-access-token') },
  },
  {
    policy: 'gitlab',
    credential: 'gitlab-token',
    variable: 'GITLAB_TOKEN',
    host: 'gitlab.com',
    path: '/api/v4/user',
    request: curl,
    arrives: { 'private-token': SECRET },
  },
  {
    policy: 'gitlab',
    credential: 'gitlab-token',
    variable: 'GITLAB_TOKEN',
    host: 'gitlab.com',
    path: '/group/project.git',
    request: git,
    arrives: { authorization: basic('oauth2') },
  },
  {
    policy: 'huggingface',
    credential: 'huggingface-token',
    variable: 'HF_TOKEN',
    host: 'huggingface.co',
    path: '/api/whoami-v2',
    request: curl,
    arrives: { authorization: `Bearer ${SECRET}` },
  },
  {
    policy: 'google-ai',
    credential: 'google-ai-key',
    variable: 'GEMINI_API_KEY',
    host: 'generativelanguage.googleapis.com',
    path: '/v1beta/models',
    request: curl,
    arrives: { 'x-goog-api-key': SECRET },
  },
  {
    policy: 'aws-bedrock',
    credential: 'aws-keys',
    variable: 'OWN_AWS_KEYS',
    host: 'bedrock-runtime.eu-central-1.amazonaws.com',
    path: '/model/m/invoke',
    secret: `AKIDREAL:${SECRET}`,
    request: (url) =>
      `${curl(url)} -d "{}" --aws-sigv4 aws:amz:eu-central-1:bedrock --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"`,
    arrives: {
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDREAL\/\d{8}\/eu-central-1\/bedrock\/aws4_request, /,
      ) as unknown,
    },
  },
]

/** Through the bundled policy itself where port 443 can be had, through a copy with another port otherwise. */
const words = ({ policy, credential, variable, host }: Case): readonly string[] => {
  const named = loadPolicyFile(bundledText(policy), policy).policy.credentials.flatMap((each) =>
    each.hosts.map(renderDestination),
  )
  return [
    'run',
    ...policyWords(policy, named, hosts.port, folder),
    '--secret',
    `${credential}=env:${variable}`,
    '--resolve',
    `${host}=${hosts.address}`,
    '--upstream-ca',
    hosts.authorityFile,
  ]
}

const at = (host: string, path: string): string =>
  `https://${host}${hosts.port === 443 ? '' : `:${String(hosts.port)}`}${path}`

const arrivedAt = (host: string): Arrival | undefined =>
  hosts.arrivals.findLast((arrival) => arrival.host.startsWith(host))

describe('a bundled policy', () => {
  test.each(CASES)(
    'of $policy puts the credential into requests to $host$path, and the tool never sees it',
    async (each) => {
      const { host, path, request, arrives, variable, secret = SECRET } = each
      const { status, stdout, stderr } = await cordonBeside(
        [...words(each), '--', 'sh', '-c', `env; ${request(at(host, path))}`],
        { environment: { [variable]: secret } },
      )
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(arrivedAt(host)).toMatchObject({ headers: arrives })
      for (const hidden of [SECRET, Buffer.from(SECRET).toString('base64').slice(4, -4)])
        expect(stdout).not.toContain(hidden)
    },
  )

  test(
    'in either form of the cell; without --secret the value is the variable of here, which the tool has a ' +
      'stand-in for',
    async () => {
      // Where port 443 is taken: a copy for another port, as a policy of the user. A policy that is only a file gets
      // nothing but what is typed.
      const config = join(folder, 'config')
      const own = join(config, 'cordon', 'policies')
      mkdirSync(own, { recursive: true })
      const copied = policyWords('github', ['github.com', 'api.github.com', 'uploads.github.com'], hosts.port, own)
      const named = hosts.port === 443 ? copied : ['--policy', 'user:github']
      for (const form of ['namespaces', 'landlock']) {
        const { status, stdout, stderr } = await cordonBeside(
          [
            'run',
            '--form',
            form,
            ...named,
            '--resolve',
            `api.github.com=${hosts.address}`,
            '--upstream-ca',
            hosts.authorityFile,
            '--',
            'sh',
            '-c',
            `printenv GITHUB_TOKEN; ${curl(at('api.github.com', `/${form}`))}`,
          ],
          { environment: { GITHUB_TOKEN: SECRET, GH_TOKEN: SECRET, XDG_CONFIG_HOME: config } },
        )
        expect({ form, status, stderr }).toEqual({ form, status: 0, stderr: '' })
        expect(stdout).toMatch(/^ghp_placeholder/)
        expect(stdout).not.toContain(SECRET)
        expect(arrivedAt('api.github.com')).toMatchObject({
          url: `/${form}`,
          headers: { authorization: `Bearer ${SECRET}` },
        })
      }
    },
  )

  test('does not send its credential to a host of another policy, or in requests that only another allows', async () => {
    const other = join(folder, 'other.yaml')
    const suffix = hosts.port === 443 ? '' : `:${String(hosts.port)}`
    writeFileSync(other, `network: [ "elsewhere.test${suffix}", "api.openai.com${suffix}" ]\n`)
    const openai = CASES.find(({ policy }) => policy === 'openai')
    if (openai === undefined) throw new Error('no such case')
    const script = [at('elsewhere.test', '/'), at('api.openai.com', '/dashboard'), at('api.openai.com', '/v1/models')]
      .map(curl)
      .join('; ')
    const before = hosts.arrivals.length
    const { stderr } = await cordonBeside(
      [...words(openai), '--policy', other, '--resolve', `elsewhere.test=${hosts.address}`, '--', 'sh', '-c', script],
      { environment: { OPENAI_API_KEY: SECRET } },
    )
    expect(stderr).toMatch(
      /^cordon: GET api\.openai\.com:\d+\/dashboard went without the credential "openai-key": .*\n$/,
    )
    expect(hosts.arrivals.slice(before).map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/', undefined],
      ['/dashboard', undefined],
      ['/v1/models', `Bearer ${SECRET}`],
    ])
  })

  test.each(['kubernetes', 'kubernetes-token'])('of %s works with the API of a local cluster', async (policy) => {
    expect(has('openssl')).toBe(true)
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string]
    const make = (subject: string) =>
      execFileSync(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-keyout',
          key,
          '-out',
          cert,
          '-days',
          '2',
          '-subj',
          subject,
          '-addext',
          'subjectAltName=IP:127.0.0.1',
        ],
        { stdio: 'ignore' },
      )
    make('/CN=cluster')
    const cluster = await pretendHosts(clusterFolder, {
      port: 6443,
      address: '127.0.0.1',
      own: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') },
    })
    try {
      make('/CN=operator')
      writeFileSync(join(folder, 'both.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'))
      const port = String(cluster.port)
      const named = cluster.port === 6443 ? ['--policy', policy] : ['--policy', rewritten(policy, port)]
      const secret =
        policy === 'kubernetes'
          ? ['--secret', `kubernetes-certificate=file:${join(folder, 'both.pem')}`]
          : ['--secret', 'kubernetes-token=env:KUBE_TOKEN']
      const { status, stdout, stderr } = await cordonBeside(
        [
          'run',
          ...named,
          ...secret,
          '--upstream-ca',
          cluster.authorityFile,
          '--',
          'sh',
          '-c',
          `env; cat "${join(folder, 'both.pem')}"; ${curl(`https://127.0.0.1:${port}/api/v1/namespaces`)}`,
        ],
        { environment: { KUBE_TOKEN: SECRET } },
      )
      expect({ status, stderr: stderr.replace(/^cat: .*\n/m, '') }).toEqual({ status: 0, stderr: '' })
      const hidden =
        policy === 'kubernetes'
          ? (/PRIVATE KEY-----\n([A-Za-z0-9+/]{40})/.exec(readFileSync(key, 'utf8'))?.[1] ?? expect.fail('no key'))
          : SECRET
      expect(stdout).not.toContain(hidden)
      expect(cluster.arrivals).toMatchObject([
        policy === 'kubernetes' ? { client: 'operator' } : { headers: { authorization: `Bearer ${SECRET}` } },
      ])
    } finally {
      await cluster.close()
    }
  })
})

const rewritten = (policy: string, port: string): string => {
  const path = join(folder, `${policy}-elsewhere.yaml`)
  writeFileSync(path, (bundledText(policy).split('\nexamples:')[0] ?? '').replaceAll('6443', port))
  return path
}

describe('all bundled policies', () => {
  const names = readdirSync(new URL('../../policies/', import.meta.url)).map((name) => name.replace('.yaml', ''))

  test('pass their own examples, and can be listed', () => {
    expect(cordon(['policy', 'check'])).toMatchObject({ status: 0, stderr: '' })
    expect(cordon(['policy', 'test'])).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('all of them right') as string,
    })
    const listed = JSON.parse(cordon(['policy', 'list', '--json']).stdout) as readonly {
      readonly name: string
      readonly source: string
      readonly problem: unknown
    }[]
    expect(listed.filter(({ source }) => source === 'bundled').map(({ name, problem }) => [name, problem])).toEqual(
      names.toSorted().map((name) => [name, null]),
    )
  })

  test.each(names)('%s has a description, and examples of what it allows and denies', (name) => {
    const { description, examples, policy } = loadPolicyFile(bundledText(name), name)
    const kinds = policy.network.kind === 'list' ? ['allowed', 'denied'] : ['denied']
    expect(description).toBeDefined()
    expect(new Set(examples.map(({ expected }) => expected))).toEqual(new Set(kinds))
  })

  test.each(names)('%s contains nothing that looks like a secret, and a planted one would be found', (name) => {
    // Descriptions tell what to type. Stand-ins look like what they stand for, and say what they are.
    const text = bundledText(name)
      .replace(/^description:.*\n/, '')
      .replaceAll(/[\w=-]*placeholder[\w-]*/gi, '')
    expect(redactText(text)).toBe(text)
    expect(redactText(`${text}\nenvironment: [ "TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz" ]\n`)).not.toContain(
      'ghp_0123456789',
    )
  })
})
