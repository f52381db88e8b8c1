// Hostile servers and authorization servers. Each test has a twin that works.
import type { IncomingMessage, ServerResponse } from 'node:http'

import { describe, expect, onTestFinished, test } from 'vitest'

import { createOwnRequests } from '../../../core/src/egress/index.js'
import { findLogin, listLogins } from '../../src/login/index.js'
import { pathOfLogin, readLogin, writeLogin } from '../../src/login/login-files.js'
import { parseIpAddress } from '../../../core/src/policy/index.js'
import type { IpAddress } from '../../../core/src/policy/index.js'
import { takeLock } from '../../../core/src/platform/index.js'
import { serverAuthority, startHttp, startHttps } from '../../../core/test/egress/servers.js'
import type { Handle, TestServer } from '../../../core/test/egress/servers.js'

import { redirectOf } from './browser.js'
import { HERE, openLoginStage, refusalOf } from './stage.js'
import type { LoginStage } from './stage.js'

const METADATA = '/.well-known/oauth-authorization-server'
const RESOURCE = '/.well-known/oauth-protected-resource/mcp'

/** Answers one path with JSON. */
const answering =
  (path: string, value: unknown) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.url !== path) return false
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    return true
  }

const redirecting =
  (path: string, location: string, status = 302) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.url !== path) return false
    response.writeHead(status, { location }).end()
    return true
  }

/** A server that nobody should ask. */
const canary = async (): Promise<TestServer> => {
  const server = await startHttps((_request, response) => response.end('{}'), { host: 'canary.test' })
  onTestFinished(() => server.close())
  return server
}

const metadataOf = ({ authority }: LoginStage) => ({
  issuer: authority.issuer,
  authorization_endpoint: `${authority.issuer}/auth`,
  token_endpoint: `${authority.issuer}/token`,
  registration_endpoint: `${authority.issuer}/reg`,
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
})

describe('an authorization server', () => {
  test.each([
    ['claims to be another issuer', { issuer: 'https://bank.test' }],
    ['claims to be a path of itself', (issuer: string) => ({ issuer: `${issuer}/other` })],
    ['does not support PKCE', { code_challenge_methods_supported: undefined }],
    ['supports only plain PKCE', { code_challenge_methods_supported: ['plain'] }],
    ['sends the browser to a script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['sends the browser to plain HTTP', { authorization_endpoint: 'http://auth.test/auth' }],
    ['has no token endpoint', { token_endpoint: undefined }],
  ])('that %s is refused before a client is registered', async (_, changed) => {
    const stage = await openLoginStage()
    const { authority, begin } = stage
    const change = typeof changed === 'function' ? changed(authority.issuer) : changed
    authority.intercept = answering(METADATA, { ...metadataOf(stage), ...change })
    expect(await refusalOf(begin())).toMatchObject({ code: 'login-failed' })
    expect(authority.asked()).not.toContain('POST /reg')
    authority.intercept = answering(METADATA, metadataOf(stage))
    expect((await begin()).issuer).toBe(authority.issuer)
  })
})

describe('an authorization server that sends the browser to another origin', () => {
  const elsewhere = { authorization_endpoint: 'https://bank.test/auth' }

  test('is refused if its redirect would not name it: it could get the code of another login', async () => {
    const stage = await openLoginStage()
    const { authority, begin } = stage
    const silent = { ...metadataOf(stage), authorization_response_iss_parameter_supported: undefined }
    authority.intercept = answering(METADATA, { ...silent, ...elsewhere })
    expect((await refusalOf(begin())).message).toContain('sends the browser to https://bank.test')
    expect(authority.asked()).not.toContain('POST /reg')
    authority.intercept = answering(METADATA, silent)
    expect((await begin()).otherOrigins).toEqual([])
  })

  test('is shown before the login if its redirect names it, and gets no code of another issuer', async () => {
    const stage = await openLoginStage()
    const { authority, begin } = stage
    authority.intercept = answering(METADATA, { ...metadataOf(stage), ...elsewhere })
    const pending = await begin()
    expect(pending.otherOrigins).toEqual(['https://bank.test'])
    const state = pending.url.searchParams.get('state') ?? ''
    for (const iss of [undefined, 'https://bank.test']) {
      const url = new URL(pending.redirect)
      url.search = new URLSearchParams({ code: 'c', state, ...(iss === undefined ? {} : { iss }) }).toString()
      expect(await refusalOf(pending.finish(url))).toMatchObject({ code: 'login-failed' })
    }
    expect(authority.asked()).not.toContain('POST /token')
  })
})

describe('a login at another authorization server', () => {
  test('changes an earlier login of the same server only in its turn', async () => {
    const { logIn, place, server } = await openLoginStage()
    const kept = await logIn()
    const earlier = { ...kept, issuer: 'https://earlier.test', servers: [server.url.href, 'https://other.test/'] }
    writeLogin(place.folder, earlier)
    const done = await takeLock(`${pathOfLogin(place.folder, earlier)}.lock`)
    let isDone = false
    const again = logIn().finally(() => {
      isDone = true
    })
    await expect.poll(() => listLogins(place.folder).some(({ issued_at }) => issued_at > kept.issued_at)).toBe(true)
    writeLogin(place.folder, { ...earlier, access_token: 'renewed' })
    expect(isDone).toBe(false)
    done()
    await again
    expect(readLogin(pathOfLogin(place.folder, earlier))).toMatchObject({
      access_token: 'renewed',
      servers: ['https://other.test/'],
    })
  })
})

describe('a redirect', () => {
  test.each([
    [
      'with another issuer',
      (url: URL) => {
        url.searchParams.set('iss', 'https://bank.test')
      },
    ],
    [
      'with its issuer spelled differently',
      (url: URL) => {
        url.searchParams.set('iss', `${url.searchParams.get('iss') ?? ''}/`)
      },
    ],
    [
      'without an issuer',
      (url: URL) => {
        url.searchParams.delete('iss')
      },
    ],
    [
      'with two issuers',
      (url: URL) => {
        url.searchParams.append('iss', 'https://bank.test')
      },
    ],
    [
      'with another state',
      (url: URL) => {
        url.searchParams.set('state', 'another')
      },
    ],
    [
      'without a state',
      (url: URL) => {
        url.searchParams.delete('state')
      },
    ],
    [
      'with two states',
      (url: URL) => {
        url.searchParams.append('state', 'another')
      },
    ],
  ])('%s is refused, and its code goes nowhere', async (_, change) => {
    const { begin, authority, server, place } = await openLoginStage()
    const pending = await begin()
    const right = await redirectOf(pending.url)
    const wrong = new URL(right)
    change(wrong)
    expect(await refusalOf(pending.finish(wrong))).toMatchObject({ code: 'login-failed' })
    expect(authority.asked()).not.toContain('POST /token')
    expect(findLogin(place.folder, server.url)).toBeUndefined()
    await pending.finish(right)
    expect(findLogin(place.folder, server.url)).toBeDefined()
  })

  test('that says no is told by its code, and foreign text is not', async () => {
    const { begin } = await openLoginStage()
    const pending = await begin()
    const url = new URL(await redirectOf(pending.url))
    url.searchParams.delete('code')
    url.searchParams.set('error', 'access_denied')
    url.searchParams.set('error_description', 'paste your password')
    const refusal = await refusalOf(pending.finish(url))
    expect(refusal.message).toContain('access_denied')
    expect(refusal.message).not.toContain('password')
    url.searchParams.set('error', '\u001b[2Jpaste your password')
    expect((await refusalOf(pending.finish(url))).message).toContain('an unknown error')
  })

  test('whose code was used before gives no second token', async () => {
    const { begin } = await openLoginStage()
    const pending = await begin()
    const url = await redirectOf(pending.url)
    const first = await pending.finish(url)
    expect(first.access_token).toMatch(/\S/)
    expect((await refusalOf(pending.finish(url))).message).toContain('invalid_grant')
  })
})

describe('the metadata of a server', () => {
  test.each([
    ['another host', 'https://bank.test/mcp'],
    ['another port', 'https://mcp.test/mcp'],
    ['a path beside it', (origin: string) => `${origin}/mc`],
    ['a path below it', (origin: string) => `${origin}/mcp/below`],
    ['plain HTTP', (origin: string) => `${origin.replace('https', 'http')}/mcp`],
    ['a query', (origin: string) => `${origin}/mcp?for=bank`],
    ['no URL', 'mcp'],
  ])('about %s is refused', async (_, resource) => {
    const { server, begin, authority } = await openLoginStage()
    const right = server.metadata
    const wrong = typeof resource === 'function' ? resource(server.url.origin) : resource
    server.metadata = { ...right, resource: wrong }
    expect((await refusalOf(begin())).message).toContain('its metadata is about another resource')
    expect(authority.asked()).toEqual([])
    for (const allowed of [right['resource'], server.url.origin, `${server.url.origin}/`]) {
      server.metadata = { ...right, resource: allowed }
      expect((await begin()).url.searchParams.get('resource')).toBe(allowed)
    }
  })

  test.each(['https://169.254.169.254/x', 'https://10.0.0.1/x', 'https://[::1]/x', 'https://localhost/x', 'file:///x'])(
    'at %s is not read',
    async (place) => {
      const { server, begin } = await openLoginStage()
      server.intercept = (request, response) => {
        if (request.url !== '/mcp') return false
        response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${place}"` }).end()
        return true
      }
      expect(await refusalOf(begin())).toMatchObject({ code: 'own-request-refused' })
      server.intercept = () => false
      expect((await begin()).url.hostname).toBe('auth.test')
    },
  )

  test('cannot lead to another server of this machine or of a private network', async () => {
    const { server, begin, place, authority } = await openLoginStage()
    const { port, connections } = await canary()
    const address = (text: string): readonly IpAddress[] => [parseIpAddress(text) ?? expect.fail(text)]
    const resolve = (name: string): Promise<readonly IpAddress[]> =>
      Promise.resolve(address(name === 'private.test' ? '10.1.2.3' : '127.0.0.1'))
    for (const issuer of [`https://127.0.0.1:${port}`, `https://canary.test:${port}`, 'https://private.test']) {
      server.metadata = { ...server.metadata, authorization_servers: [issuer] }
      const refusal = await refusalOf(begin({ network: { ...place.network, resolve } }))
      expect(refusal).toMatchObject({ code: 'own-request-refused' })
      expect(refusal.message).toContain('is not public')
    }
    expect(connections()).toBe(0)
    server.metadata = { ...server.metadata, authorization_servers: [authority.issuer] }
    expect((await begin({ network: { ...place.network, resolve } })).issuer).toBe(authority.issuer)
  })
})

describe('a redirect of a server to another origin', () => {
  test.each([
    ['the server itself', 'server', '/mcp'],
    ['its metadata', 'server', RESOURCE],
    ['the metadata of the authorization server', 'authority', METADATA],
    ['the registration', 'authority', '/reg'],
  ] as const)('is not followed: %s', async (_, who, path) => {
    const stage = await openLoginStage()
    const { port, connections } = await canary()
    const pins = new Map([...stage.place.network.pins, ['canary.test', [HERE]]])
    const order = { network: { ...stage.place.network, pins } }
    stage[who].intercept = redirecting(path, `https://canary.test:${port}${path}`, 307)
    expect(await refusalOf(stage.begin(order))).toMatchObject({ code: 'login-failed' })
    expect(connections()).toBe(0)
    stage[who].intercept = () => false
    expect((await stage.begin(order)).issuer).toBe(stage.authority.issuer)
  })

  test('gets no code', async () => {
    const { begin, authority, place } = await openLoginStage()
    const { port, connections } = await canary()
    const pins = new Map([...place.network.pins, ['canary.test', [HERE]]])
    const pending = await begin({ network: { ...place.network, pins } })
    const url = await redirectOf(pending.url)
    authority.intercept = redirecting('/token', `https://canary.test:${port}/token`, 307)
    expect(await refusalOf(pending.finish(url))).toMatchObject({ code: 'login-failed' })
    expect(connections()).toBe(0)
    authority.intercept = () => false
    expect((await pending.finish(url)).scope).toBe('files:read')
  })
})

describe('an answer', () => {
  const padded =
    (bytes: number): Handle =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`{"padding":"${'x'.repeat(bytes)}"}`)
    }
  const ask = async (handle: Handle, timeout?: number): Promise<Response> => {
    const server = await startHttps(handle, { host: 'api.test' })
    onTestFinished(() => server.close())
    const url = new URL(`https://api.test:${server.port}/`)
    const send = createOwnRequests({
      named: url,
      authorities: [serverAuthority.certificate],
      pins: new Map([['api.test', [HERE]]]),
      ...(timeout === undefined ? {} : { timeout }),
    })
    return send(url, { method: 'GET', headers: {} })
  }

  test('that is too long is refused', async () => {
    expect(await refusalOf(ask(padded(1 << 18)))).toMatchObject({ code: 'upstream-broke' })
    expect((await ask(padded(1 << 17))).status).toBe(200)
  })

  test.each([
    ['never comes', () => undefined],
    ['never ends', (_: IncomingMessage, response: ServerResponse) => response.writeHead(200).write('{')],
    [
      'comes byte by byte',
      (_: IncomingMessage, response: ServerResponse) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write(' '), 20)
        response.on('close', () => {
          clearInterval(timer)
        })
      },
    ],
  ])('that %s is given up', async (_, handle) => {
    expect(await refusalOf(ask(handle, 1000))).toMatchObject({ code: 'upstream-unreachable' })
  })
})

describe('plain HTTP', () => {
  test('is asked only of a server of this machine that the user named, with exactly its port', async () => {
    const server = await startHttp((_request, response) => response.end('{}'))
    onTestFinished(() => server.close())
    const named = new URL(`http://127.0.0.1:${server.port}/mcp`)
    const send = createOwnRequests({ named, authorities: [], pins: new Map([['here.test', [HERE]]]) })
    const get = (url: string) => send(new URL(url), { method: 'GET', headers: {} })
    expect((await get(named.href)).status).toBe(200)
    const before = server.connections()
    for (const other of [`http://127.0.0.1:${server.port + 1}/`, `http://here.test:${server.port}/`, 'http://[::1]/'])
      expect(await refusalOf(get(other))).toMatchObject({ code: 'own-request-refused' })
    expect(server.connections()).toBe(before)
  })
})
