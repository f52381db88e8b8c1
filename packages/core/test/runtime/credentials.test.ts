// Credentials of tools: the sources of their values, and what happens if one is missing.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'

import { afterAll, describe, expect, test } from 'vitest'

import { processTool } from '../../src/runtime/index.js'
import type { Cordon, CordonOptions } from '../../src/runtime/index.js'
import { echo, serverAuthority, startHttps } from '../egress/servers.js'

import { openStage } from './stage.js'

const HOST = 'api.test'
const VALUE = 'value-of-a-credential-1f2e3d'
const authorizations: unknown[] = []
const server = await startHttps(
  (request, response) => {
    authorizations.push(request.headers.authorization)
    echo(request, response)
  },
  { host: HOST },
)
afterAll(() => server.close())

const stage = openStage()
const place = `${HOST}:${String(server.port)}`
const url = `https://${place}/`
const egress = { authorities: [serverAuthority.certificate], pins: { [HOST]: ['127.0.0.1'] } }
const policy = {
  network: [place],
  egress_class: 'read_only',
  credentials: [{ id: 'token', inject: { host: place, as: 'bearer' }, placeholder: 'API_TOKEN' }],
} as const
const curling = processTool({ name: 'curling', policy, command: () => ['curl', '-sS', '--noproxy', '*', url] })

const withSource = (token: string, options: Partial<CordonOptions> = {}): Promise<Cordon> =>
  stage.cordon({
    tools: [curling],
    environment: { PATH: process.env['PATH'] },
    ...options,
    egress: { ...egress, secrets: { token }, ...options.egress },
  })

/** Answers like Vault, to whoever has its token. */
const vault = createServer((request, response) => {
  const isKnown = request.headers['x-vault-token'] === 'of-vault-123456' && request.url === '/v1/kv/data/agents/api'
  response.writeHead(isKnown ? 200 : 403).end(JSON.stringify({ data: { data: { token: VALUE } } }))
})
await new Promise<void>((resolve) => vault.listen(0, '127.0.0.1', resolve))
afterAll(() => vault.close())
const VAULT = {
  VAULT_ADDR: `http://127.0.0.1:${String((vault.address() as AddressInfo).port)}`,
  VAULT_TOKEN: 'of-vault-123456',
}

const chatty = join(stage.newFolder(), 'chatty')
writeFileSync(chatty, `#!/bin/sh\necho ${VALUE}\necho ${VALUE} >&2\nexit 3\n`, { mode: 0o755 })

describe('the value of a credential', () => {
  test.each<[string, string, Partial<CordonOptions>]>([
    ['a variable', 'env:SOURCE', { environment: { SOURCE: VALUE } }],
    ['a command', `command:printf ${VALUE}`, {}],
    ['Vault, where the variables say so', 'vault:kv/agents/api#token', { environment: VAULT }],
    [
      'Vault, where the option says so',
      'vault:kv/agents/api#token',
      { egress: { vault: { address: VAULT.VAULT_ADDR, token: VAULT.VAULT_TOKEN } } },
    ],
  ])('comes from %s', async (_, source, options) => {
    const runtime = await withSource(source, options)
    const before = authorizations.length
    const { status, output } = await runtime.call('curling')
    expect(status).toBe('ok')
    expect(authorizations.slice(before)).toEqual([`Bearer ${VALUE}`])
    expect(JSON.stringify(output)).not.toContain(VALUE)
  })

  test.each<[string, string, Partial<CordonOptions>, string]>([
    ['a variable that is not set', 'env:SOURCE', {}, 'the variable SOURCE is not set'],
    ['an empty variable', 'env:SOURCE', { environment: { SOURCE: '' } }, 'the variable SOURCE is empty'],
    ['a file that is not there', 'file:/nonexistent/token', {}, 'the file /nonexistent/token does not exist'],
    ['a command that fails and says too much', `command:${chatty}`, {}, 'ended with status 3'],
    ['a command that is not there', 'command:no-such-program-at-all', {}, 'no-such-program-at-all cannot be started'],
    ['a Vault that nobody named', 'vault:kv/agents/api#token', {}, 'it lies in Vault, whose address is not known'],
    [
      'a Vault that says no',
      'vault:kv/agents/api#token',
      { environment: { ...VAULT, VAULT_TOKEN: 'another-token' } },
      'Vault does not let us read kv/agents/api',
    ],
  ])('of %s prevents the call, and the error says so', async (_, source, options, problem) => {
    const runtime = await withSource(source, options)
    const before = server.connections()
    const result = await runtime.call('curling')
    expect(result).toMatchObject({
      status: 'not_started',
      reason: 'A credential that this tool needs is not set up.',
      facts: {
        error: {
          code: 'credential-missing',
          message: expect.stringContaining(problem) as string,
          fix: expect.stringMatching(/./) as string,
        },
        sandbox_profile: null,
      },
    })
    expect(server.connections()).toBe(before)
    expect(JSON.stringify(result)).not.toContain(VALUE)
  })

  test('without a source prevents the call', async () => {
    const runtime = await stage.cordon({ tools: [curling], egress })
    expect(await runtime.call('curling')).toMatchObject({
      status: 'not_started',
      facts: {
        error: {
          code: 'credential-missing',
          fix: expect.stringContaining('egress: { secrets: { "token": "env:NAME" } }') as string,
        },
      },
    })
  })

  test('needs hosts: a tool with network all and a credential is refused', () => {
    expect(() =>
      processTool({
        name: 'open',
        policy: { network: 'all', credentials: policy.credentials },
        command: () => ['true'],
      }),
    ).toThrow(
      expect.objectContaining({
        code: 'policy-conflict',
        message: expect.stringContaining('where network is all') as string,
        fix: expect.stringContaining('list the hosts') as string,
      }),
    )
  })

  test('cannot be passed to a tool in the variable that it is read from', async () => {
    const passing = processTool({ name: 'passing', policy: { environment: ['SOURCE'] }, command: () => ['env'] })
    await expect(
      withSource('env:SOURCE', { tools: [curling, passing], environment: { SOURCE: VALUE } }),
    ).rejects.toMatchObject({
      code: 'policy-conflict',
      message: expect.stringContaining('SOURCE holds the credential "token"') as string,
    })
    await expect(
      withSource('vault:kv/agents/api#token', {
        tools: [
          curling,
          processTool({ name: 'passing', policy: { environment: ['VAULT_TOKEN'] }, command: () => ['env'] }),
        ],
        environment: VAULT,
      }),
    ).rejects.toMatchObject({ code: 'policy-conflict', message: expect.stringContaining('VAULT_TOKEN') as string })
  })

  test.each<[string, string, string]>([
    ['another variable that contains the value', 'COPY', 'COPY'],
    ['the value, written out', `SET=token ${VALUE}`, 'SET'],
    ['the value in base64', `SET=Basic ${Buffer.from(`me:${VALUE}`).toString('base64')}`, 'SET'],
  ])(
    'cannot be in a variable of a tool: one with %s is refused at creation, without quoting it',
    async (_, entry, variable) => {
      const making = (entries: readonly string[]) =>
        withSource('env:SOURCE', {
          tools: [curling, processTool({ name: 'copying', policy: { environment: entries }, command: () => ['env'] })],
          environment: { SOURCE: VALUE, COPY: `token ${VALUE}`, OTHER: 'other' },
        })
      const refusal = await making(['OTHER', entry]).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(refusal).toMatchObject({
        code: 'credential-exposed',
        params: { variable, credential: 'token' },
        fix: expect.stringContaining(`remove ${variable} from`) as string,
      })
      expect(inspect(refusal)).not.toContain(VALUE)
      expect(JSON.stringify(await (await making(['OTHER'])).call('copying'))).toContain('OTHER=other')
    },
  )

  test.each<[string, Partial<typeof policy> & { readonly environment?: readonly string[] }, string]>([
    ['written out', { environment: [`SET=${VALUE}`] }, 'SET'],
    ['of the host', { environment: ['COPY'] }, 'COPY'],
    [
      'that stands in for it',
      {
        credentials: [
          {
            id: 'token',
            inject: { host: place, as: 'bearer' },
            placeholder: { name: 'API_TOKEN', text: VALUE } as unknown as 'API_TOKEN',
          },
        ],
      },
      'API_TOKEN',
    ],
  ])(
    'from a command is found in a variable %s when it is read, and the call does not run',
    async (_, more, variable) => {
      const telling = processTool({ name: 'telling', policy: { ...policy, ...more }, command: () => ['env'] })
      const runtime = await withSource(`command:printf ${VALUE}`, {
        tools: [telling],
        environment: { PATH: process.env['PATH'], COPY: `x${VALUE}` },
      })
      const result = await runtime.call('telling')
      expect(result).toMatchObject({
        status: 'not_started',
        facts: {
          error: {
            code: 'credential-exposed',
            message: expect.stringContaining(
              `the variable ${variable} would show the tool the value of the credential "token"`,
            ) as string,
          },
          sandbox_profile: null,
        },
      })
      expect(JSON.stringify(result)).not.toContain(VALUE)
    },
  )

  test.each<[string, Readonly<Record<string, string>>, string, RegExp]>([
    ['that no header can carry', { host: place, as: 'bearer' }, 'printf two\\nlines', /a character that no header may/],
    [
      'that is no certificate',
      { host: place, as: 'client-certificate' },
      'printf certificate',
      /not a certificate and its private key/,
    ],
    ['that is no pair of keys', { host: place, as: 'aws-sigv4' }, 'printf key', /neither KEY_ID:SECRET nor JSON/],
  ])('%s prevents the call, and the error says so', async (_, inject, command, problem) => {
    const marker = processTool({
      name: 'marker',
      policy: { ...policy, credentials: [{ id: 'token', inject: inject as never }] },
      command: () => ['true'],
    })
    const result = await (await withSource(`command:${command}`, { tools: [marker] })).call('marker')
    expect(result).toMatchObject({
      status: 'not_started',
      facts: {
        error: {
          code: 'credential-unusable',
          message: expect.stringMatching(problem) as string,
          fix: expect.stringMatching(/./) as string,
        },
      },
    })
  })

  test.each([
    ['a misspelt source', { token: `evn:${VALUE}` }],
    ['the value itself', { token: VALUE }],
    ['something else', VALUE],
  ])('given as %s is refused at creation, without quoting it', async (_, secrets) => {
    const refusal = await stage.cordon({ egress: { secrets: secrets as Readonly<Record<string, string>> } }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({
      code: expect.stringMatching(/^(?:secret-source-invalid|option-invalid)$/) as string,
    })
    expect(inspect(refusal)).not.toContain(VALUE)
  })
})
