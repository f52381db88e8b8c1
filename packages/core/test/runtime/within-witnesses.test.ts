// Witnesses of isWithin, tried for real: what one policy allows and the other does not is done in a cell, or through
// the proxy, under both policies.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { isWithin, parseAbsolutePath, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import type { RequestWitness, ToolPolicy, Witness } from '../../src/policy/index.js'
import { openSandbox } from '../../src/sandbox/index.js'
import { echo, startHttp, startTcp } from '../egress/servers.js'
import { openStage } from '../egress/stage.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-witness-')))
const places = { workspace: parseAbsolutePath(folder), home: parseAbsolutePath('/nonexistent') }
const sandbox = await openSandbox()
const web = await startHttp(echo)
const tcp = await startTcp((socket) => {
  socket.pipe(socket)
})
afterAll(async () => {
  await sandbox.close()
  await web.close()
  await tcp.close()
  rmSync(folder, { recursive: true, force: true })
})

const witnessOf = (a: ToolPolicy, b: ToolPolicy): Witness => {
  const found = isWithin(a, b, places)
  return found.within ? expect.fail('it is within') : found.witness
}

type Access = 'read' | 'write'

/** Whether a program in a cell of this policy can read or change the file. */
const canAccess = async (policy: ToolPolicy, access: Access, path: string): Promise<boolean> => {
  const script = access === 'read' ? 'cat "$0"' : 'echo more >> "$0"'
  const boundary = resolvePolicy(policy, { ...places, kind: 'process' })
  const result = await sandbox.run({ boundary, cwd: '/', argv: ['/bin/sh', '-c', script, path] })
  // A cell may have a private folder of the same name, so only the host's file tells what was changed.
  if (access === 'write') return readFileSync(path, 'utf8').includes('more')
  return result.status === 'exited' && result.exitCode === 0
}

const FILES: readonly (readonly [Access, readonly string[], readonly string[]])[] = [
  ['read', ['a/**'], ['a/b']],
  ['read', ['a/**'], ['a/*']],
  ['read', ['a/**'], ['a/q']],
  ['read', ['a/**'], ['a/**', '!a/k']],
  ['read', ['a/**', '!a/*.key'], ['a/**', '!a/**/*.key']],
  ['read', ['a/*'], ['a/*.txt']],
  ['read', ['a/*.{txt,md}'], ['a/*.txt']],
  ['read', ['a/??'], ['a/x*']],
  ['read', ['a/**/*.json'], ['a/b/**']],
  ['read', ['a/**', '!a/b'], ['a/**', '!a/b', '!a/c']],
  ['read', ['a/**', 'c/d/**'], ['a/**']],
  ['read', ['a/{b,c}/**'], ['a/b/**']],
  ['read', ['a/**/x'], ['a/*/x']],
  ['read', ['a/*/b/**'], ['a/q/b/*']],
  ['write', ['a/**'], ['a/b']],
  ['write', ['a/**'], ['a/**', '!a/k']],
  ['write', ['a/**', 'a/.git/hooks/**'], ['a/**']],
  ['write', ['a/**', 'a/.vscode/**'], ['a/**']],
  ['write', ['a/**', 'a/package.json'], ['a/**']],
  ['write', ['a/*.txt'], ['a/x*.txt']],
  ['write', ['a/**', 'c/**'], ['c/**']],
  ['write', ['a/**'], ['c/**']],
  ['write', ['a/**', '!a/**/log'], ['a/**', '!a/**/l*']],
  ['write', ['a/**', '!a/b'], ['a/**', '!a/?']],
]

describe('in a cell', () => {
  test.each(FILES)('%s %j goes beyond %j, by a file that only the first opens', async (access, a, b) => {
    const [ofA, ofB] = [a, b].map((globs) =>
      parsePolicy({ filesystem: { [access]: globs.map((glob) => glob.replace(/^(!?)/, '$1./')) } }, 'test'),
    ) as [ToolPolicy, ToolPolicy]
    const witness = witnessOf(ofA, ofB)
    if (witness.kind !== 'file') expect.fail(witness.kind)
    rmSync(join(folder, 'a'), { recursive: true, force: true })
    for (const each of ['a/b/c', 'c/d', 'a/q/b']) mkdirSync(join(folder, each), { recursive: true })
    mkdirSync(dirname(witness.path), { recursive: true })
    writeFileSync(witness.path, 'content\n')
    // Patterns need an object that they match.
    for (const each of ['a/x.txt', 'a/x.json', 'a/b/x.json', 'c/d/x', 'a/q/b/z'])
      if (!existsSync(join(folder, each))) writeFileSync(join(folder, each), 'content\n')
    expect([witness.access, await canAccess(ofA, access, witness.path)]).toEqual([access, true])
    writeFileSync(witness.path, 'content\n')
    expect(await canAccess(ofB, access, witness.path)).toBe(false)
  })

  test('a listed program is a file that only its policy shows', async () => {
    const program = join(folder, 'prog.sh')
    writeFileSync(program, '#!/bin/sh\necho started\n', { mode: 0o755 })
    const [listed, all] = [parsePolicy({ exec: ['/bin/cat', program] }, 'a'), parsePolicy({ exec: 'all' }, 'b')]
    expect(witnessOf(listed, all)).toMatchObject({ kind: 'file', access: 'read', path: program })
    expect(await canAccess(listed, 'read', program)).toBe(true)
    expect(await canAccess(all, 'read', program)).toBe(false)
  })
})

const W = web.port
const T = tcp.port
const deny = (host: string, more: object = {}) => ({ host, action: 'deny', ...more })

const NETWORKS: readonly (readonly [string, readonly unknown[], readonly unknown[]])[] = [
  ['a method', [{ host: `a.test:${W}`, methods: ['GET', 'POST'] }], [{ host: `a.test:${W}`, methods: ['GET'] }]],
  ['every method', [{ host: `a.test:${W}`, paths: ['/', '/**'] }], [{ host: `a.test:${W}`, methods: ['GET'] }]],
  ['a host', [{ host: `b.test:${W}`, methods: ['GET'] }], [{ host: `a.test:${W}`, methods: ['GET'] }]],
  ['a wildcard', [{ host: `*.test:${W}`, methods: ['GET'] }], [{ host: `a.test:${W}`, methods: ['GET'] }]],
  ['deeper paths', [{ host: `a.test:${W}`, paths: ['/v1/**'] }], [{ host: `a.test:${W}`, paths: ['/v1/*'] }]],
  ['a path', [{ host: `a.test:${W}`, paths: ['/v1', '/v2'] }], [{ host: `a.test:${W}`, paths: ['/v1'] }]],
  ['the path above', [{ host: `a.test:${W}`, paths: ['/v1', '/v1/**'] }], [{ host: `a.test:${W}`, paths: ['/v1/**'] }]],
  ['a name', [{ host: `a.test:${W}`, paths: ['/*/x'] }], [{ host: `a.test:${W}`, paths: ['/a*/x'] }]],
  [
    'a path that servers read in two ways',
    [{ host: `a.test:${W}`, methods: ['GET'] }],
    [{ host: `a.test:${W}`, methods: ['GET'], paths: ['/', '/**'] }],
  ],
  [
    'a denied path',
    [{ host: `a.test:${W}`, methods: ['GET'] }],
    [{ host: `a.test:${W}`, methods: ['GET'] }, deny(`a.test:${W}`, { paths: ['/admin'] })],
  ],
  [
    'a denied method',
    [{ host: `a.test:${W}`, methods: ['GET', 'PUT'] }],
    [{ host: `a.test:${W}`, methods: ['GET', 'PUT'] }, deny(`a.test:${W}`, { methods: ['PUT'] })],
  ],
  [
    'a denied host',
    [{ host: `*.test:${W}`, methods: ['GET'] }],
    [{ host: `*.test:${W}`, methods: ['GET'] }, deny('b.test')],
  ],
  [
    'a denied path in another case',
    [{ host: `a.test:${W}`, methods: ['GET'], paths: ['/x/**'] }],
    [{ host: `a.test:${W}`, methods: ['GET'], paths: ['/x/**'] }, deny(`a.test:${W}`, { paths: ['/X/Y'] })],
  ],
  [
    'a denied address',
    [{ host: `a.test:${W}`, methods: ['GET'] }],
    [{ host: `a.test:${W}`, methods: ['GET'] }, deny('127.0.0.1')],
  ],
  [
    'a denied port of an address',
    [{ host: `a.test:${W}`, methods: ['GET'] }],
    [{ host: `a.test:${W}`, methods: ['GET'] }, deny(`127.0.0.1:${W}`)],
  ],
  ['an address', [{ host: `127.0.0.1:${W}`, methods: ['GET'] }], [{ host: `127.0.0.2:${W}`, methods: ['GET'] }]],
  ['a smaller wildcard', [{ host: `*.b.test:${W}`, methods: ['GET'] }], [{ host: `c.b.test:${W}`, methods: ['GET'] }]],
  ['HEAD', [{ host: `a.test:${W}`, methods: ['GET', 'HEAD'] }], [{ host: `a.test:${W}`, methods: ['GET'] }]],
  ['a method of its own', [{ host: `a.test:${W}`, methods: ['PROPFIND'] }], [`b.test:${W}`]],
  ['any protocol', [`a.test:${T}`], [{ host: `a.test:${T}`, paths: ['/', '/**'] }]],
  ['any protocol on a port', [`a.test:${T}`], [`a.test:${W}`]],
  ['any protocol of another host', [`b.test:${T}`], [`a.test:${T}`]],
  ['any protocol below a host', [`*.test:${T}`], [`*.b.test:${T}`]],
  ['any protocol but at a denied host', [`*.test:${T}`], [`*.test:${T}`, deny('b.test')]],
  ['any protocol at a denied address', [`a.test:${T}`], [`a.test:${T}`, deny('127.0.0.1')]],
]

const send = (port: number, { host, port: named, use }: RequestWitness): Promise<boolean> =>
  new Promise((resolve) => {
    if (use.kind !== 'http') {
      const socket = connect(port, '127.0.0.1', () => socket.write('\0\0not http\n'))
      const refused = (): void => {
        resolve(false)
      }
      socket.on('error', refused).on('close', refused)
      socket.on('data', () => {
        resolve(true)
      })
      return
    }
    const path = use.path === 'ambiguous' ? '/%5c' : encodeURI(use.path)
    const asking = request({
      host: '127.0.0.1',
      port,
      method: use.method,
      path,
      agent: false,
      headers: { host: `${host}:${named}` },
    })
    asking.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200 && answer.headers['x-cordon-refused'] === undefined)
    })
    asking.on('error', () => {
      resolve(false)
    })
    asking.end()
  })

describe('through the proxy', () => {
  test.each(NETWORKS)('%s: %j passes a request that %j does not', async (_, a, b) => {
    const witness = witnessOf(parsePolicy({ network: a }, 'a'), parsePolicy({ network: b }, 'b'))
    if (witness.kind !== 'network') expect.fail(witness.kind)
    const passed: boolean[] = []
    for (const network of [a, b]) {
      const stage = await openStage({ network, here: [witness.request.host] })
      passed.push(await send(await stage.portTo(witness.request.host, witness.request.port), witness.request))
      await stage.close()
    }
    expect([witness.request, ...passed]).toEqual([witness.request, true, false])
  })
})
