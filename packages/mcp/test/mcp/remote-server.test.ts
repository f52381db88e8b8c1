// Servers on the network: reached only through egress, with headers that their cell never has.
import { readFileSync, writeFileSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, onTestFinished, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { serverAuthority, startHttps } from '../../../core/test/egress/servers.js'
import type { Handle } from '../../../core/test/egress/servers.js'
import { CORDON, STARTABLE, folderWith, openProgram, serverScript, textOf } from './gateway.js'
import type { Opened } from './gateway.js'
import { ask, saidIn } from './http-client.js'
import { addressOf } from './listening.js'

const CONFORMANCE = fileURLToPath(new URL('conformance-server.mjs', import.meta.url))
const HOST = 'mcp.test'
const TOKEN = 'a-token-that-nobody-may-see-1234'

type Headers = Readonly<Record<string, unknown>>

/** A host of the internet, in front of a server of this machine. */
const passTo =
  (url: string, seen: Headers[]): Handle =>
  (request, response) => {
    seen.push({ ...request.headers, method: request.method })
    const headers = Object.entries(request.headers).filter(([name]) => !/^(?::|host$|connection$)/.test(name))
    const passed = requestHttp(
      url,
      { method: request.method ?? '', headers: Object.fromEntries(headers) },
      (answer) => {
        const {
          'connection': _connection,
          'keep-alive': _alive,
          'transfer-encoding': _framing,
          ...own
        } = answer.headers
        response.writeHead(answer.statusCode ?? 500, own)
        response.flushHeaders()
        answer.pipe(response)
      },
    )
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  }

/** A server that tells the headers that it got. */
const telling =
  (seen: Headers[]): Handle =>
  (request, response) => {
    seen.push(request.headers)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Headers
      const text = `the headers were ${JSON.stringify(request.headers)}`
      const results: Readonly<Record<string, unknown>> = {
        'initialize': {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'telling', version: '1' },
        },
        'tools/list': { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text }] },
      }
      const result = results[String(method)]
      response.writeHead(result === undefined ? 202 : 200, { 'content-type': 'application/json' })
      response.end(result === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  }

interface Place {
  readonly folder: string
  readonly words: readonly string[]
}

/** `entry`: what the file says besides the address. */
const place = async (handle: Handle, entry: Headers = {}): Promise<Place> => {
  const server = await startHttps(handle, { host: HOST })
  onTestFinished(() => server.close())
  const remote = { type: 'http', url: `https://${HOST}:${server.port}/mcp`, ...entry }
  const folder = folderWith({
    'mcp.json': JSON.stringify({ mcpServers: { remote } }),
    'authority.pem': serverAuthority.certificate,
    'tools.yaml': '"*": {}\n',
  })
  const way = ['--resolve', `${HOST}=127.0.0.1`, '--upstream-ca', join(folder, 'authority.pem')]
  return { folder, words: [CORDON, 'mcp', '--config', 'mcp.json', '--tools', 'tools.yaml', ...way] }
}

const open = ({ folder, words }: Place, more: readonly string[] = []): Promise<Opened> =>
  openProgram(folder, [process.execPath, ...words, ...more])

const failing = (opened: Promise<Opened>): Promise<string> =>
  opened.then(
    () => 'started',
    (error: unknown) => String(error),
  )

const saying =
  (status: number, headers: Record<string, string>): Handle =>
  (request, response) => {
    request.resume()
    response.writeHead(status, headers).end()
  }

describe('a remote server', () => {
  test.each(['namespaces', 'landlock'])('is served in a cell of the form %s, with its session', async (form) => {
    const seen: Headers[] = []
    const { client } = await open(await place(passTo(await addressOf([CONFORMANCE, 'http']), seen)), ['--form', form])
    expect(textOf(await client.callTool({ name: 'test_simple_text', arguments: {} }))).toContain('simple text')
    const resource = await client.readResource({ uri: 'test://static-text' })
    expect(JSON.stringify(resource)).toContain('The text of the resource.')
    await client.close()
    const ofSession = seen.filter((headers) => 'mcp-session-id' in headers)
    expect(ofSession.length).toBeGreaterThan(3)
    expect(ofSession.every((headers) => headers['mcp-protocol-version'] === '2025-11-25')).toBe(true)
    expect(seen.at(-1)).toMatchObject({ 'method': 'DELETE', 'mcp-session-id': expect.any(String) as unknown })
  })

  test('of 2026-07-28 gets the headers of that revision, with names that need an encoding', IN_MATRIX, async () => {
    const seen: Headers[] = []
    const { folder, words } = await place(passTo(await addressOf([CONFORMANCE, 'http']), seen))
    const url = await addressOf([...words, '--listen', '127.0.0.1:0', '--token', 'none'], folder)
    expect(saidIn(await ask(url, 'tools/call', { name: 'test_simple_text', arguments: {} }))).toContain('simple text')
    await ask(url, 'tools/call', { name: 'test_x_mcp_header', arguments: { region: 'Süd' } })
    await ask(url, 'prompts/get', { name: 'günstig' }, { headers: { 'mcp-name': '=?base64?Z8O8bnN0aWc=?=' } })
    const sent = seen.filter((headers) => headers['mcp-protocol-version'] === '2026-07-28')
    expect(sent).toContainEqual(expect.objectContaining({ 'mcp-method': 'tools/call', 'mcp-name': 'test_simple_text' }))
    expect(sent).toContainEqual(expect.objectContaining({ 'mcp-param-region': '=?base64?U8O8ZA==?=' }))
    expect(sent).toContainEqual(expect.objectContaining({ 'mcp-name': '=?base64?Z8O8bnN0aWc=?=' }))
  })

  test('of 2026-07-28 is listened to again after its stream broke', IN_MATRIX, async () => {
    const seen: Headers[] = []
    const pass = passTo(await addressOf([CONFORMANCE, 'http']), seen)
    const listens = (): number => seen.filter((headers) => headers['mcp-method'] === 'subscriptions/listen').length
    const { folder, words } = await place((request, response) => {
      pass(request, response)
      if (listens() === 1 && request.headers['mcp-method'] === 'subscriptions/listen')
        setTimeout(() => response.destroy(), 200)
    })
    const url = await addressOf([...words, '--listen', '127.0.0.1:0', '--token', 'none'], folder)
    await ask(url, 'tools/list', {})
    await expect.poll(listens).toBe(2)
  })

  test('gets the headers of its entry from the proxy, and nobody here reads them in its answers', async () => {
    const seen: Headers[] = []
    const headers = { 'Authorization': `Bearer ${TOKEN}`, 'X-Team': 'blue-team' }
    const { client, stderr } = await open(await place(telling(seen), { headers }))
    const said = textOf(await client.callTool({ name: 'tell', arguments: {} }))
    expect(said).toContain('the headers were')
    expect(said).not.toContain(TOKEN)
    expect(stderr()).not.toContain(TOKEN)
    expect(seen.length).toBeGreaterThan(2)
    for (const each of seen) expect(each).toMatchObject({ 'authorization': `Bearer ${TOKEN}`, 'x-team': 'blue-team' })
  })

  test('that wants a login is reported with the command that logs in', async () => {
    const said = await failing(
      open(await place(saying(401, { 'www-authenticate': 'Bearer resource_metadata="https://x/"' }))),
    )
    expect(said).toContain('mcp-login-required')
    expect(said).toContain('log in: cordon mcp login https://mcp.test:')
  })

  test('whose name does not resolve is reported so, and not by a number', async () => {
    const folder = folderWith({
      'mcp.json': JSON.stringify({ mcpServers: { remote: { url: 'https://no-such-host.invalid/mcp' } } }),
    })
    const said = await failing(openProgram(folder, [process.execPath, CORDON, 'mcp', '--config', 'mcp.json']))
    expect(said).toContain('no-such-host.invalid cannot be reached: its name cannot be resolved')
    expect(said).not.toContain('502')
  })

  test('that redirects is not followed', async () => {
    const said = await failing(open(await place(saying(307, { location: 'https://elsewhere.test/' }))))
    expect(said).toContain('redirects are not followed')
  })

  test('of the older transport is refused', IN_MATRIX, async () => {
    expect(await failing(open(await place(saying(405, {}))))).toContain('HTTP+SSE are not supported')
    expect(await failing(open(await place(saying(200, {}), { type: 'sse' })))).toContain('HTTP+SSE')
  })

  test('gets no grant of the command line, which are for the servers of this host', async () => {
    const { folder, words } = await place(telling([]))
    const grants = ['--read', folder, '--net', 'other.test']
    const granted = async (command: readonly string[]): Promise<string> => {
      const state = join(folder, `state-${command.length}`)
      const opened = await openProgram(folder, [process.execPath, ...command], {}, undefined, { XDG_STATE_HOME: state })
      await opened.client.listTools()
      await opened.client.close()
      return readFileSync(join(state, 'cordon', 'audit.jsonl'), 'utf8')
    }
    const remote = await granted([...words, ...grants])
    expect(remote).toContain(HOST)
    expect(remote).not.toContain('other.test')
    const stdio = [CORDON, 'mcp', ...STARTABLE, ...grants, '--', 'node', CONFORMANCE]
    expect(await granted(stdio)).toContain('other.test')
  })
})

test('the file with headers of a remote server cannot be read by another server of it', async () => {
  const folder = folderWith({ 'note.txt': 'a note', 'tools.yaml': '"*": server\n' })
  const files = { command: 'node', args: [serverScript('filesystem'), folder] }
  const remote = { url: 'https://mcp.invalid/mcp', headers: { Authorization: `Bearer ${TOKEN}` } }
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { files, remote } }))
  const words = ['mcp', ...STARTABLE, '--read', `${folder}/**`, '--config', 'mcp.json', '--tools', 'tools.yaml']
  const { client } = await openProgram(folder, [process.execPath, CORDON, ...words])
  const read = async (path: string): Promise<string> =>
    textOf(await client.callTool({ name: 'files__read_text_file', arguments: { path: join(folder, path) } }))
  expect(await read('note.txt')).toBe('a note')
  expect(await read('mcp.json')).not.toContain(TOKEN)
})

describe('an entry that is refused', () => {
  const starting = (entry: Headers): Promise<string> => {
    const folder = folderWith({ 'mcp.json': JSON.stringify({ mcpServers: { remote: entry } }) })
    return failing(openProgram(folder, [process.execPath, CORDON, 'mcp', '--config', 'mcp.json']))
  }

  test.each([
    ['this host', { url: 'http://localhost:3000/mcp' }, '--publish'],
    ['this host by its address', { url: 'http://0x7f.1:3000/mcp' }, '--publish'],
    ['a password in the address', { url: 'https://me:secret@mcp.test/' }, 'put secrets into "headers"'],
    ['another protocol', { url: 'file:///etc/passwd' }, 'is not an address'],
    ['a secret in the clear', { url: 'http://mcp.test/', headers: { Authorization: 'x' } }, 'use https'],
    ['a variable', { url: 'https://mcp.test/', headers: { A: 'Bearer ${TOKEN}' } }, 'names a variable'],
    ['a header that frames the message', { url: 'https://mcp.test/', headers: { 'Content-Length': '0' } }, 'header'],
  ])('because of %s says why', async (_, entry, words) => {
    expect(await starting(entry)).toContain(words)
  })
})
