// Logins and registrations, in files of the user's state folder. Tools cannot reach them.
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { CordonError, codeOf, reasonOf } from 'cordon/errors'
import { makeFolders, replaceFile, takeLock } from 'cordon/runtime'
import { count, fields, list, oneOf, optional, placeInFile, text } from 'cordon/shapes'
import type { Shape, Shaped } from 'cordon/shapes'
import type { TokenEndpointResponse } from 'oauth4webapi'

import { fail } from '../errors/errors.js'

const METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const

/** A client of an authorization server. */
const CLIENT = {
  client_id: text(),
  client_method: oneOf(...METHODS),
  /** Given by the authorization server at a registration. */
  client_secret: optional(text()),
  /** Where the user's secret comes from, such as `env:NAME`. Its value is not kept. */
  client_secret_source: optional(text()),
}

const LOGIN = fields({
  issuer: text(),
  resource: text(),
  /** The URLs that were logged in to. */
  servers: list(text()),
  ...CLIENT,
  scope: text(),
  access_token: text(),
  refresh_token: optional(text()),
  /** In milliseconds since 1970. */
  issued_at: count(),
  expires_at: optional(count()),
})

const REGISTRATION = fields({ issuer: text(), ...CLIENT, redirect: text(), expires_at: optional(count()) })

export type KeptLogin = Shaped<typeof LOGIN>
export type Registration = Shaped<typeof REGISTRATION>

/** `of`: the issuer, and for a login its resource too. */
const pathOf = (folder: string, kind: 'logins' | 'registrations', of: readonly string[]): string =>
  join(folder, kind, `${createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 32)}.json`)

export const pathOfLogin = (folder: string, { issuer, resource }: Pick<KeptLogin, 'issuer' | 'resource'>): string =>
  pathOf(folder, 'logins', [issuer, resource])

export const listLogins = (folder: string): readonly KeptLogin[] =>
  namesIn(join(folder, 'logins')).flatMap((name) => read(join(folder, 'logins', name), LOGIN) ?? [])

export const findLogin = (folder: string, server: URL): KeptLogin | undefined =>
  listLogins(folder).find(({ servers }) => servers.includes(server.href))

export const readLogin = (path: string): KeptLogin | undefined => read(path, LOGIN)

export const writeLogin = (folder: string, login: KeptLogin): void => {
  write(pathOfLogin(folder, login), login)
}

export const removeLogin = (folder: string, login: KeptLogin): void => {
  rmSync(pathOfLogin(folder, login), { force: true })
}

export const readRegistration = (folder: string, issuer: string): Registration | undefined =>
  read(pathOf(folder, 'registrations', [issuer]), REGISTRATION)

export const writeRegistration = (folder: string, registration: Registration): void => {
  write(pathOf(folder, 'registrations', [registration.issuer]), registration)
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw fail('login-unreadable', { path: folder, problem: reasonOf(error) })
  }
}

/** Undefined if there is no such file. Errors contain nothing of it. */
const read = <Value>(path: string, shape: Shape<Value>): Value | undefined => {
  try {
    return shape.read(JSON.parse(readFileSync(path, 'utf8')) as unknown, placeInFile('it'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    const problem = error instanceof SyntaxError || error instanceof CordonError ? 'it is not valid' : reasonOf(error)
    throw fail('login-unreadable', { path, problem })
  }
}

/** On the disk before the old version is gone: a refresh token that was used once may be of no use again. */
const write = (path: string, value: unknown): void => {
  try {
    makeFolders(dirname(path), 0o700)
    replaceFile(path, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 })
  } catch (error) {
    throw fail('login-unwritable', { path, problem: reasonOf(error) })
  }
}

/** One process at a time changes a login: logs in, renews its token or logs out. */
export const inTurn = async <Result>(
  folder: string,
  login: Pick<KeptLogin, 'issuer' | 'resource'>,
  act: () => Result | Promise<Result>,
): Promise<Result> => {
  const path = pathOfLogin(folder, login)
  const done = await begin(path)
  try {
    return await act()
  } finally {
    done()
  }
}

const begin = async (path: string): Promise<() => void> => {
  try {
    makeFolders(dirname(path), 0o700)
    return await takeLock(`${path}.lock`)
  } catch (error) {
    throw fail('login-unwritable', { path, problem: reasonOf(error) })
  }
}

type Tokens = Pick<KeptLogin, 'scope' | 'access_token' | 'refresh_token' | 'issued_at' | 'expires_at'>

/** What is kept of an answer. An authorization server that gives no new refresh token means the old one. */
export const tokensOf = (
  server: URL,
  answer: TokenEndpointResponse,
  scope: string,
  refreshToken: string | undefined,
): Tokens => {
  if (answer.token_type !== 'bearer')
    throw fail('login-failed', {
      server: server.href,
      problem: 'its authorization server issues tokens of a kind that is not supported',
      fix: 'ask its operator for bearer tokens',
    })
  const renewing = answer.refresh_token ?? refreshToken
  const now = Date.now()
  return {
    scope: answer.scope ?? scope,
    access_token: answer.access_token,
    ...(renewing === undefined ? {} : { refresh_token: renewing }),
    issued_at: now,
    ...(answer.expires_in === undefined ? {} : { expires_at: now + Math.floor(answer.expires_in) * 1000 }),
  }
}
