// `cordon mcp login` as people use it, and the token in a real cell.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { CORDON, cordonBeside } from '../../../core/test/cli/cordon.js'
import { OWN_FOLDERS, STATE_FOLDER } from '../../../core/test/cli/own-folders.js'
import { serverAuthority } from '../../../core/test/egress/servers.js'
import { openProgram, textOf } from '../mcp/gateway.js'

import { browse, redirectOf } from './browser.js'
import { WHOAMI } from './protected-server.js'
import { openLoginStage, temporaryFolder } from './stage.js'
import type { LoginStage } from './stage.js'

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a login. `open` gets the address, and a way to type at the terminal. */
const logIn = (
  words: readonly string[],
  open: (url: URL, type: (line: string) => void) => Promise<unknown>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CORDON, 'mcp', 'login', ...words], {
      env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...OWN_FOLDERS, ...environment },
      cwd: '/',
    })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    const said = { stdout: '', stderr: '' }
    let isOpened = false
    const take = (stream: 'stdout' | 'stderr') => (bytes: Buffer) => {
      said[stream] += bytes.toString()
      const [found] = /^https:\/\/auth\.test\S+$/m.exec(said.stdout + said.stderr) ?? []
      if (found === undefined || isOpened) return
      isOpened = true
      open(new URL(found), (line) => child.stdin.write(`${line}\n`)).catch(reject)
    }
    child.stdout.on('data', take('stdout'))
    child.stderr.on('data', take('stderr'))
    child.once('close', (status) => {
      resolve({ status, ...said })
    })
  })

interface Prepared extends LoginStage {
  readonly way: readonly string[]
  readonly folder: string
  /** `cordon run` with a policy that puts the token into requests to the server. */
  readonly call: (words?: readonly string[], host?: string) => Promise<Ended>
}

const prepare = async (known: Parameters<typeof openLoginStage>[0] = {}): Promise<Prepared> => {
  const stage = await openLoginStage(known)
  const { server } = stage
  const folder = temporaryFolder()
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, serverAuthority.certificate)
  const names = ['auth.test', 'mcp.test', 'other.test']
  const way = ['--upstream-ca', authority, ...names.flatMap((name) => ['--resolve', `${name}=127.0.0.1`])]
  const call: Prepared['call'] = (words = [], host = server.url.host) => {
    // Once: another call may read it just now.
    const policy = join(folder, `${host.replace(':', '-')}.yaml`)
    if (!existsSync(policy))
      writeFileSync(
        policy,
        `network: [ "${host}" ]\negress_class: write\ncredentials: [ { id: token, inject: { host: "${host}", as: bearer } } ]\n`,
      )
    const secret = ['--secret', `token=login:${server.url.href}`]
    const accept = 'Accept: application/json, text/event-stream'
    const headers = ['-H', 'Content-Type: application/json', '-H', accept]
    const url = `https://${host}/mcp`
    return cordonBeside(
      ['run', '--policy', policy, ...secret, ...way, '--', 'curl', '-sS', ...headers, ...words, '-d', WHOAMI, url],
      { cwd: folder },
    )
  }
  return { ...stage, way, folder, call }
}

describe('cordon mcp login', () => {
  test('logs in with a browser on this machine, and a tool in a cell then reaches the server with the token', async () => {
    const { server, way, call } = await prepare()
    const before = await call()
    expect(before).toMatchObject({ status: 125 })
    expect(before.stderr).toContain(`login-needed: ${server.url.href} needs a login: nobody is logged in`)
    expect(before.stderr).toContain(`fix: log in: cordon mcp login ${server.url.href}`)

    const ended = await logIn([server.url.href, ...way], (url) => browse(url))
    expect(ended).toMatchObject({ status: 0 })
    expect(ended.stdout).toContain(`Logged in to ${server.url.href} (files:read).`)

    const after = await call()
    expect(after).toMatchObject({ status: 0 })
    expect(after.stdout).toContain('you are the user')
  })

  test('lets the gateway serve a remote server, whose bridge never has the token', async () => {
    const { server, way, folder } = await prepare()
    const entry = { type: 'http', url: server.url.href }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { remote: entry } }))
    writeFileSync(join(folder, 'tools.yaml'), '"*": {}\n')
    const words = [process.execPath, CORDON, 'mcp', '--config', 'mcp.json', '--tools', 'tools.yaml', ...way]
    const open = () => openProgram(folder, words, {}, undefined, OWN_FOLDERS)
    await expect(open()).rejects.toThrow(`log in: cordon mcp login ${server.url.href}`)

    await logIn([server.url.href, ...way], (url) => browse(url))
    const { client } = await open()
    expect(textOf(await client.callTool({ name: 'whoami', arguments: {} }))).toContain('you are the user')
    expect(server.authorizations().at(-1)).toMatch(/^Bearer .{43}$/)
  })

  test('accepts the pasted address of a browser on another machine, and no other line', IN_MATRIX, async () => {
    const { server, way } = await prepare()
    const ended = await logIn([server.url.href, ...way], async (url, type) => {
      const { href } = await redirectOf(url)
      type(href.replace(/state=[^&]+/, 'state=another'))
      type(href)
    })
    expect(ended).toMatchObject({ status: 0 })
    expect(ended.stderr).toContain('this is not the address of this login')
  })

  test('shows no token in its output, in JSON, in errors of a cell or in the audit log', async () => {
    const { server, way, call } = await prepare()
    const ended = await logIn([server.url.href, '--json', ...way], (url) => browse(url))
    expect(JSON.parse(ended.stdout)).toMatchObject({ servers: [server.url.href], renewable: true })
    const list = await cordonBeside(['mcp', 'login', '--list'])
    const json = await cordonBeside(['mcp', 'login', '--list', '--json'])
    expect(list.stdout).toContain(server.url.href)
    const ran = await call(['-v', '-H', 'Authorization: Bearer of-the-tool'])
    expect(ran).toMatchObject({ status: 0 })
    expect(server.authorizations().at(-1)).not.toContain('of-the-tool')
    const [token = ''] = /(?<=Bearer ).+/.exec(server.authorizations().at(-1) ?? '') ?? []
    expect(token).toHaveLength(43)
    const files = readFileSync(join(STATE_FOLDER, 'audit.jsonl'), 'utf8')
    expect(files).toContain('mcp.test')
    for (const text of [ended.stdout, ended.stderr, list.stdout, json.stdout, ran.stdout, ran.stderr, files])
      expect(text).not.toContain(token)
  })

  test('is needed again for more rights, and the line that helps is told', IN_MATRIX, async () => {
    const { server, way, call } = await prepare()
    await logIn([server.url.href, ...way], (url) => browse(url))
    server.scope = 'files:write'
    const refused = await call()
    expect(refused.stderr).toContain(`fix: log in: cordon mcp login ${server.url.href} --scope "files:write"`)
    await logIn([server.url.href, '--scope', 'files:write', ...way], (url) => browse(url))
    expect((await call()).stdout).toContain('you are the user')
  })

  test('is renewed by one of several processes at once, and all of them use the result', async () => {
    // Shorter than the margin before its end: every process renews it.
    const { server, way, call, authority } = await prepare({ lifetime: 14 })
    await logIn([server.url.href, ...way], (url) => browse(url))
    for (let round = 0; round < 2; round++)
      for (const { stdout, stderr } of await Promise.all([call(), call(), call()]))
        expect(stdout, stderr).toContain('you are the user')
    expect(authority.asked().filter((line) => line === 'POST /token').length).toBeGreaterThan(6)
  })

  test('sends no token to another host, whatever a policy says', async () => {
    const { server, way, call } = await prepare()
    await logIn([server.url.href, ...way], (url) => browse(url))
    const elsewhere = await call([], `other.test:${server.port}`)
    expect(elsewhere).toMatchObject({ status: 125, stdout: '' })
    expect(elsewhere.stderr).toContain(`it is a login to ${server.url.origin}, and its policy would send it to another`)
    expect((await call()).stdout).toContain('you are the user')
  })

  test('finds a server by its name in a file, and refuses a name that is not there', async () => {
    const { server, way } = await prepare()
    const folder = temporaryFolder()
    const [one, two] = [join(folder, 'one.json'), join(folder, 'two.json')]
    writeFileSync(one, JSON.stringify({ mcpServers: { files: { url: server.url.href } } }))
    writeFileSync(two, JSON.stringify({ mcpServers: { other: { command: 'true' } } }))
    expect(await logIn(['files', '--config', one, ...way], (url) => browse(url))).toMatchObject({ status: 0 })
    const unknown = await cordonBeside(['mcp', 'login', 'files', '--config', two])
    expect(unknown).toMatchObject({ status: 2 })
    expect(unknown.stderr).toContain('no remote server "files"')
  })

  test.each([
    [['http://mcp.test/mcp'], 'a server needs https'],
    [['http://localhost/mcp'], 'a server needs https'],
    [['https://user:pass@mcp.test/mcp'], 'it contains a password'],
    [['https://mcp.test/mcp', '--client-secret', 'env:X'], '--client-secret needs --client-id'],
    [['https://mcp.test/mcp', '--redirect', 'http://evil.test:1/'], '--redirect is an address like'],
    [['https://mcp.test/mcp', '--scope', 'a "b'], 'is not a scope'],
    [[], 'login takes one server or URL'],
  ])('refuses %j', async (words, problem) => {
    const ran = await cordonBeside(['mcp', 'login', ...words])
    expect(ran).toMatchObject({ status: 2, stdout: '' })
    expect(ran.stderr).toContain(problem)
  })
})

describe('cordon mcp logout', () => {
  test('revokes the tokens, and removes them', async () => {
    const { server, way, call, authority } = await prepare()
    await logIn([server.url.href, ...way], (url) => browse(url))
    await call()
    const token = server.authorizations().at(-1)?.replace('Bearer ', '') ?? ''
    expect(await authority.provider.AccessToken.find(token)).toBeDefined()
    const ended = await cordonBeside(['mcp', 'logout', server.url.href, ...way])
    expect(ended).toMatchObject({ status: 0, stdout: `Logged out of ${server.url.href}.\n`, stderr: '' })
    expect((await call()).stderr).toContain('nobody is logged in')
    expect(await authority.provider.AccessToken.find(token)).toBeUndefined()
    expect(await cordonBeside(['mcp', 'logout', server.url.href])).toMatchObject({ status: 2 })
  })

  test('removes the tokens if they cannot be revoked, and says so', IN_MATRIX, async () => {
    const { server, way, call, authority } = await prepare()
    await logIn([server.url.href, ...way], (url) => browse(url))
    await authority.close()
    const ended = await cordonBeside(['mcp', 'logout', server.url.href, ...way])
    expect(ended).toMatchObject({ status: 0 })
    expect(ended.stderr).toContain('the tokens are removed here, but were not revoked')
    expect((await call()).stderr).toContain('nobody is logged in')
  })
})
