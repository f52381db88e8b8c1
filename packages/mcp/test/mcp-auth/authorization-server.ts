// A real authorization server (oidc-provider) with TLS on this machine. Its user agrees to everything at once.
import type { IncomingMessage, ServerResponse } from 'node:http'

import { Provider, errors } from 'oidc-provider'
import type { Configuration } from 'oidc-provider'

import { startHttps } from '../../../core/test/egress/servers.js'
import type { TestServer } from '../../../core/test/egress/servers.js'

export const AUTHORITY_HOST = 'auth.test'
export const SECRET_OF_KNOWN = 'secret-of-the-known-client-0001'
export const REDIRECT_OF_KNOWN = 'http://127.0.0.1:1/callback'
export const DOCUMENT_CLIENT = 'https://client.test/cordon.json'

export interface AuthorizationServer extends TestServer {
  readonly issuer: string
  readonly provider: Provider
  /** Methods and paths of requests, oldest first. */
  readonly asked: () => readonly string[]
  /** Answers requests in its place, if it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean
}

export interface Known {
  /** Resources that tokens may be asked for. */
  readonly resources: () => readonly string[]
  /** Seconds that an access token lives. */
  readonly lifetime?: number
  readonly more?: Configuration['features']
}

export const startAuthorizationServer = async ({
  resources,
  lifetime = 3600,
  more = {},
}: Known): Promise<AuthorizationServer> => {
  const asked: string[] = []
  const server = await startHttps(
    (request, response) => {
      asked.push(`${request.method ?? ''} ${(request.url ?? '').split('?')[0] ?? ''}`)
      if (started.intercept(request, response)) return
      const isInteraction = request.url?.startsWith('/interaction/') === true
      void (isInteraction ? agree(provider, request, response) : provider.callback()(request, response))
    },
    { host: AUTHORITY_HOST },
  )
  const issuer = `https://${AUTHORITY_HOST}:${server.port}`
  const provider = new Provider(issuer, configurationOf(resources, lifetime, more))
  const started: AuthorizationServer = { ...server, issuer, provider, asked: () => asked, intercept: () => false }
  return started
}

const configurationOf = (
  resources: Known['resources'],
  lifetime: number,
  more: Configuration['features'],
): Configuration => ({
  clients: [
    {
      client_id: 'known',
      client_secret: SECRET_OF_KNOWN,
      application_type: 'native',
      redirect_uris: [REDIRECT_OF_KNOWN],
      grant_types: ['authorization_code', 'refresh_token'],
    },
  ],
  ttl: {
    AccessToken: lifetime,
    AuthorizationCode: 60,
    Grant: 3600,
    Interaction: 600,
    RefreshToken: 3600,
    Session: 3600,
  },
  cookies: { keys: ['only for tests'] },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: () => Promise.resolve(true),
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  findAccount: (_context, id) => ({ accountId: id, claims: () => Promise.resolve({ sub: id }) }),
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, resource) => {
        if (!resources().includes(resource)) throw new errors.InvalidTarget()
        return {
          scope: 'files:read files:write',
          audience: resource,
          accessTokenTTL: lifetime,
          accessTokenFormat: 'opaque' as const,
        }
      },
    },
    ...more,
  },
  // The document of a client, as its address would serve it.
  fetch: (url) =>
    Promise.resolve(
      new URL(url instanceof Request ? url.url : url).href === DOCUMENT_CLIENT
        ? Response.json({
            client_id: DOCUMENT_CLIENT,
            client_name: 'Cordon of a test',
            application_type: 'native',
            redirect_uris: ['http://127.0.0.1/callback'],
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
            token_endpoint_auth_method: 'none',
          })
        : new Response(null, { status: 404 }),
    ),
})

const agree = async (provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: 'user' } })
    return
  }
  const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) })
  const scope = typeof params['scope'] === 'string' ? params['scope'] : ''
  grant.addOIDCScope(scope)
  grant.addResourceScope(String(params['resource']), scope)
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}
