import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createSecretStore, parseSecretSource } from '../../src/egress/index.js'
import type { SecretHost, SecretStore } from '../../src/egress/index.js'
import { CordonError } from '../../src/errors/index.js'
import { parsePolicy } from '../../src/policy/index.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-secrets-'))
  writeFileSync(join(folder, 'token'), 'from-a-file\n')
  writeFileSync(join(folder, 'empty'), '\n')
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

const host = (more: Partial<SecretHost> = {}): SecretHost => ({
  environment: { TOKEN: 'from-the-environment' },
  run: (argv) => {
    const [program = '', ...args] = argv
    if (program === 'pass')
      return Promise.resolve({
        kind: 'exited',
        status: args[0] === 'show' ? 0 : 3,
        output: Buffer.from('from-a-command\n'),
      })
    if (program === 'secret-tool')
      return Promise.resolve({
        kind: 'exited',
        status: args.join(' ') === 'lookup service git account me' ? 0 : 1,
        output: Buffer.from('from-the-keyring'),
      })
    return Promise.resolve({ kind: 'failed', problem: 'ENOENT' })
  },
  platform: 'linux',
  vault: undefined,
  ...more,
})
const store = (source: string, more: Partial<SecretHost> = {}): SecretStore =>
  createSecretStore({
    sources: new Map([['token', parseSecretSource('token', source.replace('DIR', folder), folder)]]),
    host: host(more),
  })
const value = async (source: string, more?: Partial<SecretHost>): Promise<string> =>
  (await store(source, more).get('token')).reveal()
const problem = async (source: string, more?: Partial<SecretHost>): Promise<CordonError> => {
  try {
    await value(source, more)
  } catch (error) {
    if (error instanceof CordonError) return error
    throw error
  }
  return expect.fail('it has a value')
}

describe('a secret comes from', () => {
  test.each([
    ['env:TOKEN', 'from-the-environment'],
    ['file:DIR/token', 'from-a-file'],
    ['command:pass show it', 'from-a-command'],
    ['keyring:git/me', 'from-the-keyring'],
  ])('%s', async (source, expected) => {
    expect(await value(source)).toBe(expected)
  })

  test.each([
    ['env:MISSING', 'the variable MISSING is not set', 'set MISSING'],
    ['file:DIR/missing', 'does not exist', 'put the value into'],
    ['file:DIR', 'is not a file', 'name a file'],
    ['file:DIR/empty', 'is empty', 'put the value there'],
    ['command:pass fail secret-argument', 'pass ended with status 3', 'run pass by hand'],
    ['command:absent x', 'absent cannot be started', 'install absent'],
    [
      'keyring:git/you',
      'the keyring entry git/you is not there',
      'store it: secret-tool store --label=git service git account you',
    ],
    ['vault:kv/a#b', 'Vault, whose address is not known', 'VAULT_ADDR'],
  ])('%s, or the error says what is missing and what to do', async (source, text, fix) => {
    const { code, message, fix: advice, agentMessage } = await problem(source)
    expect(code).toBe('credential-missing')
    expect(message).toContain(text)
    expect(advice).toContain(fix)
    expect(agentMessage).toBe('A credential that this tool needs is not set up.')
    expect(message).not.toContain('secret-argument')
  })

  test.each(['ghp_realvalue', 'env:', 'env:A B', 'command:', 'keyring:x', 'vault:a#b', 'http://x'])(
    'a source in a known form, which %j is not, and the error does not quote it',
    (text) => {
      expect(() => parseSecretSource('token', text, folder)).toThrow('the source of the credential "token" is invalid')
      expect(() => parseSecretSource('token', text, folder)).not.toThrow('realvalue')
    },
  )

  test('a place that does not depend on the folder, if the source is kept for all projects', () => {
    for (const text of ['file:token', 'file:./token', 'command:./get.sh', 'command:bin/get.sh'])
      expect(() => parseSecretSource('token', text, undefined)).toThrow('needs an absolute path')
    expect(parseSecretSource('token', 'file:/a/token', undefined)).toEqual({ kind: 'file', path: '/a/token' })
    expect(parseSecretSource('token', 'command:pass show it', undefined)).toMatchObject({ folder: '/' })
    expect(parseSecretSource('token', 'command:./get.sh', '/a')).toMatchObject({ argv: ['/a/get.sh'], folder: '/a' })
  })
})

describe('Vault', () => {
  test('gives a field of KV version 2, and every refusal is explained', async () => {
    const answers: Readonly<Record<string, readonly [number, unknown]>> = {
      '/v1/kv/data/team/app': [
        200,
        { data: { data: { key: 'from-vault', number: 1 }, metadata: { deletion_time: '' } } },
      ],
      '/v1/kv/data/forbidden': [403, {}],
      '/v1/kv/data/broken': [200, 'not what it should be'],
    }
    const vault = createServer((request, response) => {
      const [status, body] =
        request.headers['x-vault-token'] === 's.token' ? (answers[request.url ?? ''] ?? [404, {}]) : [403, {}]
      response.writeHead(status).end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => vault.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(vault.address() as AddressInfo).port}`
    const access = { vault: { address, token: 's.token' } }
    expect(await value('vault:kv/team/app#key', access)).toBe('from-vault')
    expect((await problem('vault:kv/team/app#other', access)).message).toContain('has no field other')
    expect((await problem('vault:kv/team/app#number', access)).message).toContain('has no field number')
    expect((await problem('vault:kv/absent#key', access)).message).toContain('has no secret kv/absent')
    expect((await problem('vault:kv/forbidden#key', access)).message).toContain('does not let us read')
    expect((await problem('vault:kv/broken#key', access)).message).toContain('has no field key')
    expect(
      (await problem('vault:kv/team/app#key', { vault: { address, token: 'wrong-token' } })).message,
    ).not.toContain('wrong-token')
    await new Promise((resolve) => vault.close(resolve))
    expect((await problem('vault:kv/team/app#key', access)).message).toContain('cannot be reached')
  })
})

describe('the secret store', () => {
  test('reads a secret once for many calls, and again if it is old or the server refused it', async () => {
    let reads = 0
    let now = 0
    const run: SecretHost['run'] = () =>
      Promise.resolve({ kind: 'exited', status: 0, output: Buffer.from(`value-${++reads}`) })
    const kept = createSecretStore({
      sources: new Map([['token', { kind: 'command', argv: ['x'], folder: '/' }]]),
      host: host({ run }),
      now: () => now,
      freshFor: 60_000,
    })
    const read = async (): Promise<string> => (await kept.get('token')).reveal()
    expect(await Promise.all([read(), read(), read()])).toEqual(['value-1', 'value-1', 'value-1'])
    now = 59_999
    expect(await read()).toBe('value-1')
    now = 60_001
    expect(await read()).toBe('value-2')
    kept.onRefusal('token', 401, undefined)
    expect(await read(), 'a value that was just read is kept').toBe('value-2')
    now = 70_000
    kept.onRefusal('token', 401, undefined)
    expect(await read()).toBe('value-3')
  })

  test('gives the token of a login to its own port alone', () => {
    const secrets = store('login:https://mcp.test/mcp')
    const credential = (host: string) => {
      const [found] = parsePolicy(
        { network: [host], credentials: [{ id: 'token', inject: { host, as: 'bearer' } }] },
        'test',
      ).credentials
      return found ?? expect.fail('no credential')
    }
    for (const host of ['mcp.test:80', 'mcp.test:8443', 'other.test'])
      expect(() => {
        secrets.check(credential(host))
      }).toThrow(expect.objectContaining({ code: 'credential-unusable' }))
    for (const host of ['mcp.test', 'mcp.test:443']) secrets.check(credential(host))
    expect([80, 443, 8443].map((port) => secrets.isForPort('token', port))).toEqual([false, true, false])
    expect(store('login:https://mcp.test:8443/mcp').isForPort('token', 8443)).toBe(true)
    expect(store('env:TOKEN').isForPort('token', 80)).toBe(true)
  })

  test('does not cache a failure', async () => {
    const environment: Record<string, string> = {}
    const kept = createSecretStore({
      sources: new Map([['token', { kind: 'environment', name: 'LATER' }]]),
      host: host({ environment }),
    })
    await expect(kept.get('token')).rejects.toThrow('not set')
    environment['LATER'] = 'now it is'
    expect((await kept.get('token')).reveal()).toBe('now it is')
  })

  test('overwrites its secrets when it closes, and gives none afterwards', async () => {
    const kept = store('env:TOKEN')
    const secret = await kept.get('token')
    kept.close()
    expect(secret.reveal()).toBe('\0'.repeat('from-the-environment'.length))
    await expect(kept.get('token')).rejects.toThrow('closed')
  })

  test('gives secrets that do not print themselves', async () => {
    const secret = await store('env:TOKEN').get('token')
    const shown = [
      String(secret),
      JSON.stringify({ secret }),
      inspect({ secret }, { depth: 9, showHidden: true }),
      String(secret),
    ].join()
    expect(shown).not.toContain('from-the-environment')
  })
})
