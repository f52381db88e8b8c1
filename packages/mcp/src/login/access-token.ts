// The token of a login as egress puts it into requests: renewed before it expires, by one process at a time.
import * as oauth from 'oauth4webapi'
import { SECRET_MARGIN } from 'cordon/egress'
import type { CordonError } from 'cordon/errors'
import { shellWord } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { challengeOf, plainScopes, readIssuer } from './discover.js'
import { clientAuthOf } from './client.js'
import type { ReadSource } from './client.js'
import { findLogin, inTurn, pathOfLogin, readLogin, tokensOf, writeLogin } from './login-files.js'
import type { KeptLogin } from './login-files.js'
import { codeOfOAuth, failure, requestsTo } from './requests.js'
import type { LoginNetwork } from './requests.js'

export interface LoginPlace {
  /** Where logins are kept. */
  readonly folder: string
  readonly network: LoginNetwork
  readonly readSource: ReadSource
}

export interface AccessToken {
  readonly bytes: Buffer
  readonly expiresAt: number | undefined
}

/** A token that egress would read again at once is renewed first. */
const MARGIN = SECRET_MARGIN + 5_000
/** A server that rejects every token must not cause endless requests. */
const LEAST_AGE = 60_000

/** The current token for exactly this server. `rejected`: one that the server did not accept. */
export const accessToken = async (
  server: URL,
  place: LoginPlace,
  rejected: Buffer | undefined,
): Promise<AccessToken> => {
  const login = findLogin(place.folder, server)
  if (login === undefined) throw needed(server, 'nobody is logged in')
  const refused = rejected?.toString('utf8')
  return isUsable(login, refused) ? tokenOf(login) : tokenOf(await renew(server, login, place, refused))
}

const tokenOf = ({ access_token, expires_at }: KeptLogin): AccessToken => ({
  bytes: Buffer.from(access_token, 'utf8'),
  expiresAt: expires_at,
})

const isUsable = ({ access_token, issued_at, expires_at }: KeptLogin, refused: string | undefined): boolean =>
  (expires_at ?? Infinity) - MARGIN > Date.now() && (access_token !== refused || Date.now() - issued_at < LEAST_AGE)

/** With rotation, a refresh token works once. Of two gateways one uses it, and the other takes the result. */
const renew = (
  server: URL,
  { issuer, resource }: KeptLogin,
  place: LoginPlace,
  refused: string | undefined,
): Promise<KeptLogin> =>
  inTurn(place.folder, { issuer, resource }, async () => {
    const login = readLogin(pathOfLogin(place.folder, { issuer, resource }))
    if (login === undefined) throw needed(server, 'nobody is logged in')
    if (isUsable(login, refused)) return login
    const { refresh_token: refreshToken, ...ended } = login
    if (refreshToken === undefined) throw needed(server, 'the login has expired, and cannot be renewed')
    try {
      const renewed = await refresh(server, login, refreshToken, place)
      writeLogin(place.folder, renewed)
      return renewed
    } catch (error) {
      if (codeOfOAuth(error) !== 'invalid_grant') throw failure(server, 'the renewal of the login', error)
      writeLogin(place.folder, ended)
      throw needed(server, 'the authorization server no longer accepts the login')
    }
  })

const refresh = async (
  server: URL,
  login: KeptLogin,
  refreshToken: string,
  { network, readSource }: LoginPlace,
): Promise<KeptLogin> => {
  const requests = requestsTo(server, network)
  const authorizationServer = await readIssuer(server, login.issuer, requests)
  const client = { client_id: login.client_id }
  const answer = await oauth.processRefreshTokenResponse(
    authorizationServer,
    client,
    await oauth.refreshTokenGrantRequest(
      ...([authorizationServer, client, await clientAuthOf(login, readSource), refreshToken] as const),
      { ...requests.options, additionalParameters: { resource: login.resource } },
    ),
  )
  return { ...login, ...tokensOf(server, answer, login.scope, refreshToken) }
}

const needed = (server: URL, problem: string, more = ''): CordonError =>
  fail('login-needed', { server: server.href, problem, command: `cordon mcp login ${shellWord(server.href)}${more}` })

/** What helps after a 401 or 403 of the server. Undefined if the next request renews the token, or nothing helps. */
export const loginAdvice = async (
  server: URL,
  { folder }: Pick<LoginPlace, 'folder'>,
  status: number,
  challenge: string | undefined,
): Promise<CordonError | undefined> => {
  const { error, scope } = await challengeOf(status, challenge)
  if (status === 403) {
    if (error !== 'insufficient_scope') return undefined
    const scopes = plainScopes(scope)
    return scopes === undefined
      ? needed(server, 'it asks for more rights than the login has')
      : needed(server, `it asks for the scope "${scopes}"`, ` --scope "${scopes}"`)
  }
  const login = findLogin(folder, server)
  const isRenewed = login?.refresh_token !== undefined && Date.now() - login.issued_at >= LEAST_AGE
  return isRenewed ? undefined : needed(server, 'it does not accept the token of the login')
}
