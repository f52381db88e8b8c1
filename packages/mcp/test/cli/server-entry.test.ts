// Which entries of clients' files use Cordon, can be put behind it, or are left alone.
import { expect, test } from 'vitest'

import { SHARED_WORDS, readEntry } from '../../src/clients/server-entry.js'

const CORDON = { words: ['/usr/bin/cordon'], remotes: '/state/remotes' } as const

test('an entry that Cordon cannot express is left alone and says why', () => {
  const because = (value: unknown) => {
    const entry = readEntry({ file: '/f', scope: 'user', place: ['mcpServers', 'a'], value }, CORDON)
    return entry.kind === 'other' ? entry.because : entry.kind
  }
  expect(because({ command: ['a'] })).toContain('cannot be read')
  expect(because({})).toContain('no command')
  expect(because({ command: 'cordon', args: ['mcp', '--config', 'x.json'] })).toContain('starts Cordon already')
  expect(because({ command: '/usr/bin/cordon', args: ['mcp', '--', 'a'] })).toBe('wrapped')
  expect(because({ command: 'a', envFile: '.env' })).toContain('"envFile"')
  expect(because({ command: '/usr/bin/cordon', args: ['mcp', '--', 'a'], url: 'https://h/mcp' })).toContain(
    'an address',
  )
})

test('an entry whose program a project can bring does not count as Cordon, and the copy of each user does', () => {
  const kindIn = (scope: 'user' | 'project', [command = '', ...args]: readonly string[]) =>
    readEntry(
      { file: '/f', scope, place: ['a'], value: { command, args: [...args, 'mcp', '--', 'node', 's.js'] } },
      CORDON,
    )
  for (const words of [
    ['npx', 'cordon'],
    ['npx', '-y', 'cordon'],
  ])
    for (const scope of ['user', 'project'] as const)
      expect(kindIn(scope, words)).toEqual({
        kind: 'other',
        because: expect.stringContaining(`\`${words.join(' ')} mcp\`, and a project can bring`) as string,
      })
  expect(kindIn('project', ['cordon'])).toMatchObject({ kind: 'other' })
  const wrapped = { kind: 'wrapped', start: { command: 'node', args: ['s.js'] }, options: [] }
  expect(kindIn('user', ['cordon'])).toEqual(wrapped)
  expect(kindIn('project', CORDON.words)).toEqual(wrapped)
  expect(kindIn('project', SHARED_WORDS)).toEqual(wrapped)
})

test.each([
  ['variables in headers', { url: 'https://h/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } }, 'a variable'],
  ['a token from a variable', { url: 'https://h/mcp', bearer_token_env_var: 'TOKEN' }, '"bearer_token_env_var"'],
  ['a login of the client', { url: 'https://h/mcp', oauth: { clientId: 'x' } }, 'cordon mcp login'],
  ['headers in the clear', { url: 'http://h/mcp', headers: { A: 'x' } }, 'in the clear'],
  ['an address of this host', { url: 'http://localhost:3000/mcp' }, 'this host'],
  ['the transport HTTP+SSE', { type: 'sse', url: 'https://h/mcp' }, 'HTTP+SSE'],
  ['an address of HTTP+SSE', { url: 'https://h/sse' }, 'HTTP+SSE'],
  ['two addresses', { url: 'https://h/a', httpUrl: 'https://h/b' }, 'several addresses'],
  ['variables of a command', { url: 'https://h/mcp', env: { NODE_OPTIONS: '-r x' } }, '"env"'],
  ['another scheme', { serverUrl: 'ws://h/mcp' }, 'not an address'],
])('a remote server with %s is left alone and says why', (_name, value, because) => {
  expect(readEntry({ file: '/f', scope: 'user', place: ['a'], value }, CORDON)).toEqual({
    kind: 'other',
    because: expect.stringContaining(because) as string,
  })
})

test.each([
  [{ type: 'http', url: 'https://h/mcp', headers: { A: 'x' } }],
  [{ httpUrl: 'https://h/mcp' }],
  [{ serverUrl: 'https://h/mcp' }],
  [{ url: 'https://h/mcp', http_headers: { A: 'x' } }],
  [{ type: 'http', url: 'https://h/sse' }],
])('a remote server of the form %j can be put behind Cordon', (value) => {
  expect(readEntry({ file: '/f', scope: 'user', place: ['a'], value: { ...value, timeout: 5 } }, CORDON)).toMatchObject(
    {
      kind: 'bare-remote',
      moved: value,
    },
  )
})

test.each([
  ...['NODE_OPTIONS', 'LD_PRELOAD', 'XDG_CONFIG_HOME', 'CORDON_AUDIT', 'HOME', 'OPENSSL_CONF'],
  ...['PATH', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'BASH_FUNC_exec%%', 'ENV', 'BASH_ENV'],
  ...['VAULT_ADDR', 'DOCKER_HOST', 'DBUS_SESSION_BUS_ADDRESS'],
])('an entry that sets %s is left alone: the variable would reach Cordon itself', (name) => {
  const value = { command: 'a', env: { [name]: 'x' } }
  expect(readEntry({ file: '/f', scope: 'user', place: ['a'], value }, CORDON)).toMatchObject({ kind: 'other' })
  expect(
    readEntry(
      { file: '/f', scope: 'user', place: ['a'], value: { command: 'a', env: { [`MY_${name}`]: 'x' } } },
      CORDON,
    ),
  ).toMatchObject({
    kind: 'bare',
  })
})

test.each([
  ['./cordon', ['mcp', '--', 'a']],
  ['/project/bin/cordon', ['mcp', '--', 'a']],
  ['sh', ['tools/cordon', 'mcp', '--', 'a']],
])('a program of a project that is only called like Cordon does not count: %s', (command, args) => {
  expect(readEntry({ file: '/f', scope: 'user', place: ['a'], value: { command, args } }, CORDON).kind).toBe('bare')
})
