// Logs in to a server: authorization code with PKCE, for exactly this server. Logs out of it.
import { randomBytes } from 'node:crypto'

import * as oauth from 'oauth4webapi'

import { fail } from '../errors/errors.js'
import type { LoginPlace } from './access-token.js'
import { clientAuthOf, clientFor, earlierRegistration, usesGiven } from './client.js'
import type { ClientChoice } from './client.js'
import { discover, otherOriginsOf, readIssuer } from './discover.js'
import type { Discovered } from './discover.js'
import { inTurn, listLogins, pathOfLogin, readLogin, removeLogin, tokensOf, writeLogin } from './login-files.js'
import type { KeptLogin } from './login-files.js'
import { openRedirect, redirectedTo } from './redirect.js'
import type { Redirect } from './redirect.js'
import { failing, failure, requestsTo } from './requests.js'

export interface LoginOrder extends LoginPlace {
  readonly server: URL
  readonly client: ClientChoice
  /** The redirect address of a client that the user registered. */
  readonly redirect: URL | undefined
  /** Beside those that the server asks for. */
  readonly scopes: readonly string[]
}

export interface PendingLogin {
  readonly issuer: string
  /** Other origins that its authorization server uses: the browser goes there, or the code and the tokens. */
  readonly otherOrigins: readonly string[]
  readonly scopes: readonly string[]
  /** What the user opens. */
  readonly url: URL
  /** Where the browser returns to, on this machine. */
  readonly redirect: string
  /** The address of the redirect, if the text is one. For a browser on another machine. */
  readonly pasted: (text: string) => URL | undefined
  readonly arrived: Promise<URL>
  /** Exchanges the code of the redirect, and keeps the tokens. */
  readonly finish: (redirected: URL) => Promise<KeptLogin>
  readonly close: () => void
}

const PATIENCE_MINUTES = 5

export const beginLogin = async (order: LoginOrder): Promise<PendingLogin> => {
  const { server, folder, readSource } = order
  const requests = requestsTo(server, order.network)
  const discovered = await discover(server, requests)
  const { resource, authorizationServer } = discovered
  const redirect = await redirectFor(order, authorizationServer)
  try {
    const identity = await clientFor(order.client, {
      server,
      authorizationServer,
      requests,
      folder,
      redirect: redirect.uri,
    })
    const scopes = scopesFor(order, discovered)
    const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
    const url = await authorizationUrl(discovered, scopes, { state, verifier, redirect: redirect.uri, ...identity })
    const client = { client_id: identity.client_id }
    const finish = async (redirected: URL): Promise<KeptLogin> => {
      const parameters = codeIn(server, redirected, () =>
        oauth.validateAuthResponse(authorizationServer, client, redirected, state),
      )
      const auth = await clientAuthOf(identity, readSource)
      const asking = oauth.authorizationCodeGrantRequest(
        ...([authorizationServer, client, auth, parameters, redirect.uri, verifier] as const),
        { ...requests.options, additionalParameters: { resource } },
      )
      const answer = await asking
        .then((response) => oauth.processAuthorizationCodeResponse(authorizationServer, client, response))
        .catch(failing(server, 'no token'))
      const { issuer } = authorizationServer
      const tokens = tokensOf(server, answer, scopes.join(' '), undefined)
      const login = { issuer, resource, servers: [server.href], ...identity, ...tokens }
      // A renewal of the earlier login must not come after it.
      const kept = await inTurn(folder, login, () => keep(folder, server, login))
      await forgetOthers(folder, server, login)
      return kept
    }
    return {
      otherOrigins: otherOriginsOf(authorizationServer),
      issuer: authorizationServer.issuer,
      scopes,
      url,
      redirect: redirect.uri,
      finish,
      close: redirect.close,
      pasted: (text) => redirectedTo(text.trim(), redirect.uri, state),
      arrived: within(server, redirect.arrived(state)),
    }
  } catch (error) {
    redirect.close()
    throw error
  }
}

/** Refuses a redirect with another state or issuer, and one that says no. */
const codeIn = (server: URL, redirected: URL, validate: () => URLSearchParams): URLSearchParams => {
  try {
    return validate()
  } catch (error) {
    throw failure(server, `the redirect to ${redirected.origin}`, error)
  }
}

/** A client that the user registered has its own address. Otherwise the path is random, and registered with it. */
const redirectFor = async (
  { server, folder, client, redirect }: LoginOrder,
  authorizationServer: oauth.AuthorizationServer,
): Promise<Redirect> => {
  const isGiven = usesGiven(client, authorizationServer)
  const wish = isGiven ? redirect : earlierAddress(folder, authorizationServer.issuer)
  const fresh = isGiven ? '/callback' : `/${randomBytes(16).toString('hex')}`
  const opened =
    (wish === undefined ? undefined : await openRedirect(Number(wish.port), wish.pathname)) ??
    (wish !== undefined && isGiven ? undefined : await openRedirect(0, fresh))
  if (opened !== undefined) return opened
  throw fail('login-failed', {
    server: server.href,
    problem: `the port of ${redirect?.href ?? '127.0.0.1'} is taken`,
    fix: 'end the program that uses it, or register another address: --redirect http://127.0.0.1:PORT/PATH',
  })
}

const earlierAddress = (folder: string, issuer: string): URL | undefined => {
  const earlier = earlierRegistration(folder, issuer, Date.now())
  return earlier === undefined ? undefined : new URL(earlier.redirect)
}

/** Scopes of an earlier login stay, so that a login for one more scope loses none. */
const scopesFor = (
  { folder, scopes: asked }: LoginOrder,
  { resource, scopes, authorizationServer: { issuer, scopes_supported: supported } }: Discovered,
): readonly string[] => {
  const earlier = readLogin(pathOfLogin(folder, { issuer, resource }))?.scope.split(' ') ?? []
  const offline = supported?.includes(OFFLINE) === true ? [OFFLINE] : []
  return [...new Set([...earlier, ...scopes, ...asked, ...offline])].filter((scope) => scope !== '')
}

/** Asks for a refresh token. OpenID Connect then demands that the user is asked. */
const OFFLINE = 'offline_access'

const authorizationUrl = async (
  { resource, authorizationServer: { authorization_endpoint: endpoint = '' } }: Discovered,
  scopes: readonly string[],
  values: Readonly<Record<'state' | 'verifier' | 'redirect' | 'client_id', string>>,
): Promise<URL> => {
  const url = new URL(endpoint)
  const parameters = {
    response_type: 'code',
    client_id: values.client_id,
    redirect_uri: values.redirect,
    code_challenge: await oauth.calculatePKCECodeChallenge(values.verifier),
    code_challenge_method: 'S256',
    state: values.state,
    resource,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    ...(scopes.includes(OFFLINE) ? { prompt: 'consent' } : {}),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

const within = async (server: URL, arriving: Promise<URL>): Promise<URL> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const problem = `nobody logged in within ${PATIENCE_MINUTES} minutes`
      reject(fail('login-failed', { server: server.href, problem, fix: 'start again, and open the new address' }))
      // The open port keeps the process alive, until the login is closed.
    }, PATIENCE_MINUTES * 60_000).unref()
  })
  return Promise.race([arriving, late]).finally(() => {
    clearTimeout(timer)
  })
}

const keep = (folder: string, server: URL, login: KeptLogin): KeptLogin => {
  const path = pathOfLogin(folder, login)
  const servers = new Set([...(readLogin(path)?.servers ?? []), server.href])
  const kept = { ...login, servers: [...servers] }
  writeLogin(folder, kept)
  return kept
}

/**
 * Another login to the same server, of another authorization server, no longer counts. Each is changed in its own turn,
 * one after the other, so that two processes never wait for each other.
 */
const forgetOthers = async (folder: string, server: URL, login: KeptLogin): Promise<void> => {
  const path = pathOfLogin(folder, login)
  for (const other of listLogins(folder))
    if (other.servers.includes(server.href) && pathOfLogin(folder, other) !== path)
      await inTurn(folder, other, () => {
        // It may have been renewed meanwhile.
        const latest = readLogin(pathOfLogin(folder, other))
        const left = latest?.servers.filter((each) => each !== server.href) ?? []
        if (latest === undefined || left.length === 0) removeLogin(folder, other)
        else writeLogin(folder, { ...latest, servers: left })
      })
}

/** What became of the tokens at the authorization server (RFC 7009). */
export type Revocation =
  | { readonly kind: 'revoked' }
  | { readonly kind: 'not-offered' }
  | { readonly kind: 'failed'; readonly because: string }

/** The tokens are removed in any case. */
export const logOut = async (server: URL, found: KeptLogin, place: LoginPlace): Promise<Revocation> => {
  const login = await inTurn(place.folder, found, () => {
    // It may have been renewed meanwhile.
    const latest = readLogin(pathOfLogin(place.folder, found)) ?? found
    removeLogin(place.folder, found)
    return latest
  })
  try {
    const requests = requestsTo(server, place.network)
    const authorizationServer = await readIssuer(server, login.issuer, requests)
    if (authorizationServer.revocation_endpoint === undefined) return { kind: 'not-offered' }
    const client = { client_id: login.client_id }
    const auth = await clientAuthOf(login, place.readSource)
    for (const token of [login.refresh_token, login.access_token])
      if (token !== undefined)
        await oauth.processRevocationResponse(
          await oauth.revocationRequest(authorizationServer, client, auth, token, requests.options),
        )
    return { kind: 'revoked' }
  } catch (error) {
    return { kind: 'failed', because: failure(server, 'the revocation', error).message }
  }
}
