// From the URL of a server to its authorization server (RFC 9728, RFC 8414, OpenID Connect Discovery).
import * as oauth from 'oauth4webapi'
import { isThisMachine } from 'cordon/egress'
import { isMapping, isTexts } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { failing } from './requests.js'
import type { Requests } from './requests.js'

export interface Discovered {
  /** What tokens are asked for: the URL of the server, or one above it. */
  readonly resource: string
  readonly authorizationServer: oauth.AuthorizationServer
  /** What the server asks for. */
  readonly scopes: readonly string[]
}

export const discover = async (server: URL, requests: Requests): Promise<Discovered> => {
  const challenge = await askWithoutToken(server, requests)
  const { resource, issuer, scopes } = await readResource(server, challenge, requests)
  return { resource, authorizationServer: await readIssuer(server, issuer, requests), scopes }
}

const failed = (server: URL, problem: string, fix = 'ask the operator of the server') =>
  fail('login-failed', { server: server.href, problem, fix })

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

const askWithoutToken = async (server: URL, { send }: Requests): Promise<Challenge> => {
  const answer = await send(server, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream' },
    body: PING,
  })
  if (answer.status === 401) return challengeOf(401, answer.headers.get('www-authenticate') ?? undefined)
  if (isRedirect(answer))
    throw failed(server, 'it redirects to another address', 'log in to the address that it redirects to')
  throw answer.ok
    ? failed(server, `it asks for no login: it answered ${answer.status} without one`, 'use the server without a login')
    : failed(
        server,
        `it answered ${answer.status} instead of asking for a login`,
        'check the address, or try again later',
      )
}

const isRedirect = ({ status }: Response): boolean => status >= 300 && status < 400

interface Resource extends Pick<Discovered, 'resource' | 'scopes'> {
  readonly issuer: string
}

const RESOURCE = '/.well-known/oauth-protected-resource'

const readResource = async (server: URL, challenge: Challenge, requests: Requests): Promise<Resource> => {
  const places =
    challenge.metadata === undefined
      ? [...new Set([`${server.origin}${RESOURCE}${pathOf(server)}`, `${server.origin}${RESOURCE}`])]
      : [challenge.metadata]
  const found = await readFirst(server, places, requests)
  const value: unknown = await found?.json().catch(() => undefined)
  if (!isMapping(value)) throw failed(server, 'it does not say which authorization server it uses (RFC 9728)')
  const { resource, authorization_servers: issuers, scopes_supported: supported } = value
  if (typeof resource !== 'string' || !isAbove(resource, server))
    throw failed(server, 'its metadata is about another resource')
  if (!isTexts(issuers) || issuers[0] === undefined) throw failed(server, 'its metadata names no authorization server')
  const scopes = challenge.scope?.split(' ') ?? (isTexts(supported) ? supported : [])
  return { resource, issuer: issuers[0], scopes: scopes.filter((scope) => scope !== '') }
}

/**
 * Whether a resource is the server, or a path above it on the same host: many servers name only their host. The query
 * of a server does not count.
 */
const isAbove = (resource: string, server: URL): boolean => {
  if (!URL.canParse(resource)) return false
  const { origin, pathname, search, hash, username, password } = new URL(resource)
  return (
    origin === server.origin &&
    [search, hash, username, password].every((part) => part === '') &&
    `${server.pathname}/`.startsWith(pathname.endsWith('/') ? pathname : `${pathname}/`)
  )
}

/** An authorization server publishes its metadata in one of three places. */
export const readIssuer = async (
  server: URL,
  issuer: string,
  requests: Requests,
): Promise<oauth.AuthorizationServer> => {
  if (!URL.canParse(issuer)) throw failed(server, 'its authorization server has no valid address')
  const url = new URL(issuer)
  const path = pathOf(url)
  const places = [
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
    `${url.origin}/.well-known/openid-configuration${path}`,
    `${url.origin}${path}/.well-known/openid-configuration`,
  ]
  const found = await readFirst(server, [...new Set(places)], requests)
  if (found === undefined) throw failed(server, `the authorization server ${url.href} has no metadata`)
  const metadata = await oauth
    .processDiscoveryResponse(url, found)
    .catch(failing(server, `the metadata of ${url.origin}`))
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
    throw failed(server, `the authorization server ${url.href} does not support PKCE with S256`)
  for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint])
    if (endpoint === undefined || !isSafe(endpoint, server))
      throw failed(server, `the authorization server ${url.href} names no https address for its endpoints`)
  // A hostile issuer could send the user to the login of another one, and get the code of that login. `iss` in the
  // redirect names the issuer that made the code.
  const { authorization_endpoint: login = '', authorization_response_iss_parameter_supported: namesItself } = metadata
  if (new URL(login).origin !== url.origin && namesItself !== true)
    throw failed(
      server,
      `the authorization server ${url.href} sends the browser to ${new URL(login).origin}, and would not say who answers`,
      'ask its operator for an authorization server that sends "iss" (RFC 9207)',
    )
  return metadata
}

/** The origins of its endpoints that differ from its own. */
export const otherOriginsOf = (server: oauth.AuthorizationServer): readonly string[] => {
  const { issuer, authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint } = server
  const endpoints = [authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint]
  const origins = endpoints.flatMap((each) => (each === undefined ? [] : [new URL(each).origin]))
  return [...new Set(origins)].filter((origin) => origin !== new URL(issuer).origin)
}

/** The user opens the address of one of these in a browser. */
const isSafe = (endpoint: string, server: URL): boolean => {
  if (!URL.canParse(endpoint)) return false
  const { protocol, origin } = new URL(endpoint)
  return protocol === 'https:' || (protocol === 'http:' && origin === server.origin && isThisMachine(server))
}

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/$/, '')

/** Undefined if nothing is at any of these places. */
const readFirst = async (server: URL, places: readonly string[], { send }: Requests): Promise<Response | undefined> => {
  for (const place of places) {
    if (!URL.canParse(place)) throw failed(server, 'its metadata has no valid address')
    const answer = await send(new URL(place), { method: 'GET', headers: { Accept: 'application/json' } })
    if (answer.status === 200) return answer
    if (isRedirect(answer)) throw failed(server, `${new URL(place).origin} redirects to another address`)
    if (answer.status >= 500) throw failed(server, `${new URL(place).origin} answered ${answer.status}`)
  }
  return undefined
}

/** Of the header `WWW-Authenticate`, with which a server says what it lacks. */
interface Challenge {
  readonly error: string | undefined
  readonly scope: string | undefined
  /** The address of the server's metadata. */
  readonly metadata: string | undefined
}

const NONE: Challenge = { error: undefined, scope: undefined, metadata: undefined }

/** The library reads the header only of an answer to a request with a token. Nothing is sent here. */
export const challengeOf = async (status: number, header: string | undefined): Promise<Challenge> => {
  if (header === undefined) return NONE
  const answer = new Response(null, { status, headers: { 'www-authenticate': header } })
  try {
    await oauth.protectedResourceRequest('none', 'GET', new URL('https://server.invalid'), undefined, undefined, {
      [oauth.customFetch]: () => Promise.resolve(answer),
    })
    return NONE
  } catch (error) {
    if (!(error instanceof oauth.WWWAuthenticateChallengeError)) return NONE
    const { parameters } = error.cause.find(({ scheme }) => scheme === 'bearer') ?? {}
    return { error: parameters?.error, scope: parameters?.scope, metadata: parameters?.resource_metadata }
  }
}

const PLAIN_SCOPES = /^[\w.:/~-]+(?: [\w.:/~-]+)*$/

/** Scopes that can be shown, and typed at a shell. Those of a server are foreign text. */
export const plainScopes = (scope: string | undefined): string | undefined =>
  scope !== undefined && scope.length <= 500 ? PLAIN_SCOPES.exec(scope)?.[0] : undefined

/** The URL of a remote server. Plain HTTP only to an address of this machine. */
export const parseServerUrl = (text: string): URL => {
  const wrong = (problem: string, fix: string) => fail('usage-error', { problem: `${text}: ${problem}`, fix })
  if (!URL.canParse(text)) throw wrong('this is not a URL', 'write it like https://mcp.example.org/mcp')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isThisMachine(url)))
    throw wrong('a server needs https', 'only a server at 127.0.0.1 or [::1] may have http')
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw wrong('it contains a password or a fragment', `write ${url.origin}${url.pathname}`)
  return url
}
