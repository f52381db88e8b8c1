import { readFileSync, readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { accessToken, findLogin } from '../../src/login/index.js'

import { DOCUMENT_CLIENT, SECRET_OF_KNOWN } from './authorization-server.js'
import { browse, redirectOf } from './browser.js'
import { openLoginStage, refusalOf } from './stage.js'

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

describe('a login', () => {
  test('gives a token that the server accepts, in files that only the user can read', async () => {
    const { server, place, logIn, authority } = await openLoginStage()
    const login = await logIn()
    expect(login).toMatchObject({ issuer: authority.issuer, resource: server.url.href, scope: 'files:read' })
    const { bytes, expiresAt } = await accessToken(server.url, place, undefined)
    const token = await authority.provider.AccessToken.find(bytes.toString())
    expect([token?.aud].flat()).toEqual([server.url.href])
    expect(expiresAt).toBe(login.expires_at)
    const files = filesOf(place.folder)
    expect(files).toHaveLength(2)
    for (const path of files) expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('asks with PKCE, state, resource and the scope of the server, and registers a native client', async () => {
    const { server, begin, authority } = await openLoginStage()
    const { url, redirect } = await begin()
    const asked = Object.fromEntries(url.searchParams)
    expect(asked).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: server.url.href,
      scope: 'files:read offline_access',
      redirect_uri: redirect,
    })
    expect(asked['state']?.length).toBeGreaterThan(20)
    expect(redirect).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}$/)
    const client = await authority.provider.Client.find(asked['client_id'] ?? '')
    expect(client).toMatchObject({ applicationType: 'native', redirectUris: [redirect], clientName: 'Cordon' })
  })

  test('takes the scopes of the metadata if the server asks for none, and keeps those of an earlier login', async () => {
    const { server, begin, logIn } = await openLoginStage()
    server.metadata = { ...server.metadata, scopes_supported: ['files:write'] }
    server.intercept = (request, response) => {
      if (request.url !== '/mcp') return false
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      return true
    }
    expect((await begin()).scopes).toEqual(['files:write', 'offline_access'])
    expect((await logIn()).scope).toBe('files:write')
    expect((await begin({ scopes: ['files:read'] })).scopes).toEqual(['files:write', 'files:read', 'offline_access'])
  })

  test('uses the registration of its issuer again, and registers anew if its port is taken', async () => {
    const { authority, begin, logIn } = await openLoginStage()
    const first = await logIn()
    const second = await begin()
    expect(second.url.searchParams.get('client_id')).toBe(first.client_id)
    const third = await begin()
    expect(third.redirect).not.toBe(second.redirect)
    expect(authority.asked().filter((line) => line === 'POST /reg')).toHaveLength(2)
  })

  test('can be finished with the pasted address of a browser on another machine', async () => {
    const { begin, server, place } = await openLoginStage()
    const pending = await begin()
    const { href } = await redirectOf(pending.url)
    expect(pending.pasted('https://elsewhere.test/?code=1')).toBeUndefined()
    expect(pending.pasted(href.replace(/state=[^&]*/, 'state=another'))).toBeUndefined()
    const pasted = pending.pasted(` ${href}\n`) ?? expect.fail('the address is not accepted')
    await pending.finish(pasted)
    expect(findLogin(place.folder, server.url)).toBeDefined()
  })

  test('of a path below a resource is for the resource, and both servers may use it', async () => {
    const { server, logIn, place, authority } = await openLoginStage()
    const below = new URL(`${server.url.href}/team`)
    server.intercept = (request, response) => {
      if (request.url !== '/mcp/team') return false
      const where = `${server.url.origin}/.well-known/oauth-protected-resource/mcp`
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}"` }).end()
      return true
    }
    await logIn()
    const login = await logIn({ server: below })
    expect(login).toMatchObject({ resource: server.url.href, servers: [server.url.href, below.href] })
    expect((await accessToken(below, place, undefined)).bytes).toEqual(
      (await accessToken(server.url, place, undefined)).bytes,
    )
    expect(authority.asked().filter((line) => line === 'POST /token')).toHaveLength(2)
  })
})

describe('a client', () => {
  const SECRET = { id: 'known', secretSource: 'env:SECRET' }

  test('that the user registered is used with its secret, which is not kept', async () => {
    const { logIn, place, begin } = await openLoginStage()
    const readSource = (source: string): Promise<string> =>
      Promise.resolve(source === 'env:SECRET' ? SECRET_OF_KNOWN : '')
    const login = await logIn({ client: SECRET, readSource })
    expect(login).toMatchObject({ client_id: 'known', client_secret_source: 'env:SECRET' })
    expect((await begin({ client: SECRET })).redirect).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    for (const path of filesOf(place.folder)) expect(readFileSync(path, 'utf8')).not.toContain(SECRET_OF_KNOWN)
  })

  test('with a wrong secret gets no token, and the error does not quote it', async () => {
    const { begin, place, server } = await openLoginStage()
    const pending = await begin({ client: SECRET, readSource: () => Promise.resolve('wrong-secret-000000') })
    const refusal = await refusalOf(pending.finish(await redirectOf(pending.url)))
    expect(refusal).toMatchObject({
      code: 'login-failed',
      message: expect.stringContaining('invalid_client') as string,
    })
    expect(refusal.message).not.toContain('wrong-secret')
    expect(findLogin(place.folder, server.url)).toBeUndefined()
  })

  test('can be a document, which comes before a registration', async () => {
    const { logIn, authority } = await openLoginStage({
      more: { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } },
    })
    const login = await logIn({ client: { id: DOCUMENT_CLIENT, secretSource: undefined } })
    expect(login).toMatchObject({ client_id: DOCUMENT_CLIENT, client_method: 'none' })
    expect(authority.asked()).not.toContain('POST /reg')
  })

  test('is registered if the authorization server does not read documents', async () => {
    const { logIn, authority } = await openLoginStage()
    const login = await logIn({ client: { id: DOCUMENT_CLIENT, secretSource: undefined } })
    expect(login.client_id).not.toBe(DOCUMENT_CLIENT)
    expect(authority.asked()).toContain('POST /reg')
  })

  test('cannot be registered where the authorization server offers no registration', async () => {
    const { begin } = await openLoginStage({ more: { registration: { enabled: false } } })
    expect(await refusalOf(begin())).toMatchObject({
      code: 'login-failed',
      message: expect.stringContaining('clients cannot register themselves') as string,
    })
  })

  test('with a redirect address of its own listens exactly there', async () => {
    const { begin } = await openLoginStage()
    const free = (await begin()).redirect.replace(/\/[^/]*$/, '/own')
    const port = Number(new URL(free).port) + 1
    const pending = await begin({ client: SECRET, redirect: new URL(`http://127.0.0.1:${port}/own`) })
    expect(pending.redirect).toBe(`http://127.0.0.1:${port}/own`)
    expect(await refusalOf(begin({ client: SECRET, redirect: new URL(pending.redirect) }))).toMatchObject({
      message: expect.stringContaining('is taken') as string,
    })
  })
})

describe('the address for the browser', () => {
  test('answers one redirect with the right state, and is gone then', async () => {
    const { begin } = await openLoginStage()
    const pending = await begin()
    const right = await redirectOf(pending.url)
    const wrong = new URL(right)
    wrong.searchParams.set('state', 'another')
    expect((await browse(wrong)).status).toBe(400)
    expect((await browse(new URL('/', right))).status).toBe(400)
    expect((await browse(right)).status).toBe(200)
    expect((await pending.arrived).href).toBe(right.href)
    const again = await new Promise<string>((resolve) => {
      connect(Number(right.port), '127.0.0.1')
        .once('connect', () => {
          resolve('open')
        })
        .once('error', (error: NodeJS.ErrnoException) => {
          resolve(error.code ?? '')
        })
    })
    expect(again).toBe('ECONNREFUSED')
  })
})
