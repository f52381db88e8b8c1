import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { accessToken, findLogin, logOut, loginAdvice } from '../../src/login/index.js'
import type { KeptLogin } from '../../src/login/index.js'

import { redirectOf } from './browser.js'
import { openLoginStage, refusalOf } from './stage.js'
import type { LoginStage } from './stage.js'

/** Changes the file of the only login. */
const changeLogin = ({ place: { folder } }: LoginStage, change: (login: KeptLogin) => Partial<KeptLogin>): void => {
  const [name = ''] = readdirSync(join(folder, 'logins'))
  const path = join(folder, 'logins', name)
  const login = JSON.parse(readFileSync(path, 'utf8')) as KeptLogin
  writeFileSync(path, JSON.stringify({ ...login, ...change(login) }))
}

const tokenRequests = ({ authority }: LoginStage): number =>
  authority.asked().filter((line) => line === 'POST /token').length

const textOf = async ({ server, place }: LoginStage, rejected?: string): Promise<string> =>
  (await accessToken(server.url, place, rejected === undefined ? undefined : Buffer.from(rejected))).bytes.toString()

const EXPIRED = { expires_at: 1 }
const OLD = { issued_at: 1 }

describe('a token', () => {
  test('is used until it expires, and is then renewed for the same resource with a new refresh token', async () => {
    const stage = await openLoginStage()
    const login = await stage.logIn()
    expect(await textOf(stage)).toBe(login.access_token)
    changeLogin(stage, () => EXPIRED)
    const next = await textOf(stage)
    expect(next).not.toBe(login.access_token)
    expect([(await stage.authority.provider.AccessToken.find(next))?.aud].flat()).toEqual([stage.server.url.href])
    const kept = findLogin(stage.place.folder, stage.server.url)
    expect(kept).toMatchObject({ access_token: next, scope: 'files:read' })
    expect(kept?.refresh_token).not.toBe(login.refresh_token)
  })

  test('that many ask for at once is renewed once', async () => {
    const stage = await openLoginStage()
    await stage.logIn()
    changeLogin(stage, () => EXPIRED)
    const before = tokenRequests(stage)
    const tokens = await Promise.all(Array.from({ length: 8 }, () => textOf(stage)))
    expect(new Set(tokens).size).toBe(1)
    expect(tokenRequests(stage) - before).toBe(1)
  })

  test('that a server rejects is renewed, but not again within a minute', async () => {
    const stage = await openLoginStage()
    const { access_token: first } = await stage.logIn()
    expect(await textOf(stage, first), 'it was just issued').toBe(first)
    changeLogin(stage, () => OLD)
    const second = await textOf(stage, first)
    expect(second).not.toBe(first)
    expect(await textOf(stage, first), 'the rejected one is another').toBe(second)
    expect(await textOf(stage, second)).toBe(second)
    expect(tokenRequests(stage)).toBe(2)
  })

  test('whose login was ended elsewhere needs another login, and asks the authorization server once', async () => {
    const stage = await openLoginStage()
    await stage.logIn()
    changeLogin(stage, () => ({ ...EXPIRED, refresh_token: 'of-nobody' }))
    const before = tokenRequests(stage)
    for (let at = 0; at < 2; at++) {
      const refusal = await refusalOf(textOf(stage))
      expect(refusal.code).toBe('login-needed')
      expect(refusal.message).not.toContain('of-nobody')
    }
    expect(tokenRequests(stage) - before).toBe(1)
    await stage.logIn()
    expect(await textOf(stage)).toMatch(/\S/)
  })

  test('stays renewable if the authorization server does not answer for a while', async () => {
    const stage = await openLoginStage()
    await stage.logIn()
    changeLogin(stage, () => EXPIRED)
    stage.authority.intercept = (_request, response) => {
      response.writeHead(503).end()
      return true
    }
    expect(await refusalOf(textOf(stage))).toMatchObject({ code: 'login-failed' })
    stage.authority.intercept = () => false
    expect(await textOf(stage)).toMatch(/\S/)
  })

  test('that is being renewed does not replace that of a new login, nor come back after a logout', async () => {
    const stage = await openLoginStage()
    const { server, place, authority, begin, logIn } = stage
    for (const end of ['login', 'logout'] as const) {
      await logIn()
      changeLogin(stage, () => EXPIRED)
      const pending = await begin()
      const redirected = await redirectOf(pending.url)
      // Holds the renewal until the other one waits for it.
      const held = new Promise<() => void>((resolve) => {
        authority.intercept = (request, response) => {
          if (request.url !== '/token') return false
          authority.intercept = () => false
          resolve(() => {
            void authority.provider.callback()(request, response)
          })
          return true
        }
      })
      const renewing = textOf(stage)
      const goOn = await held
      const before = tokenRequests(stage)
      const login = findLogin(place.folder, server.url) ?? expect.fail('no login')
      const ending = end === 'login' ? pending.finish(redirected) : logOut(server.url, login, place)
      // The new login has its tokens, and waits for its turn.
      if (end === 'login') await expect.poll(() => tokenRequests(stage)).toBe(before + 1)
      goOn()
      await Promise.all([renewing, ending])
      const kept = findLogin(place.folder, server.url)?.access_token
      const expected = end === 'login' ? ((await ending) as KeptLogin).access_token : undefined
      expect(kept).toBe(expected)
    }
  })

  test('is for its own server alone', async () => {
    const { server, place, logIn } = await openLoginStage()
    await logIn()
    const { origin, port } = server.url
    for (const other of [`${origin}/other`, `${origin}/`, `https://other.test:${port}/mcp`, 'https://mcp.test/mcp'])
      expect(await refusalOf(accessToken(new URL(other), place, undefined))).toMatchObject({ code: 'login-needed' })
    expect((await accessToken(server.url, place, undefined)).bytes.length).toBeGreaterThan(20)
  })

  test('in a damaged file is an error that quotes nothing of it', async () => {
    const stage = await openLoginStage()
    const { access_token: token } = await stage.logIn()
    const [name = ''] = readdirSync(join(stage.place.folder, 'logins'))
    const path = join(stage.place.folder, 'logins', name)
    const whole = readFileSync(path, 'utf8')
    for (const text of [`"${token}`, whole.replace('"scope"', '"other"'), whole.slice(0, -20)]) {
      writeFileSync(path, text)
      const refusal = await refusalOf(textOf(stage))
      expect(refusal.code).toBe('login-unreadable')
      expect(refusal.message).not.toContain(token)
    }
    writeFileSync(path, whole)
    expect(await textOf(stage)).toBe(token)
  })
})

describe('the advice after a refusal', () => {
  const advice = async ({ server, place }: LoginStage, status: number, challenge?: string) =>
    (await loginAdvice(server.url, place, status, challenge))?.fix

  test('names the login with the scope that the server asks for', async () => {
    const stage = await openLoginStage()
    const line = `log in: cordon mcp login ${stage.server.url.href}`
    const asks = (scope: string): string => `Bearer error="insufficient_scope", scope="${scope}"`
    expect(await advice(stage, 403, asks('files:write admin'))).toBe(`${line} --scope "files:write admin"`)
    expect(await advice(stage, 403, asks('$(reboot) a;b')), 'no text for a shell').toBe(line)
    expect(await advice(stage, 403, 'Bearer error="other"')).toBeUndefined()
    expect(await advice(stage, 403)).toBeUndefined()
  })

  test('is silent about a token that the next request renews', async () => {
    const stage = await openLoginStage()
    expect(await advice(stage, 401)).toContain('cordon mcp login')
    await stage.logIn()
    expect(await advice(stage, 401), 'it was just issued').toContain('cordon mcp login')
    changeLogin(stage, () => OLD)
    expect(await advice(stage, 401)).toBeUndefined()
  })
})
