// Cordon as a client of an authorization server: given by the user, described by a document, or registered.
import * as oauth from 'oauth4webapi'

import { fail } from '../errors/errors.js'
import { readRegistration, writeRegistration } from './login-files.js'
import type { KeptLogin, Registration } from './login-files.js'
import { failure } from './requests.js'
import type { Requests } from './requests.js'

/** What a token request needs. It is kept with the login. */
export type ClientIdentity = Pick<KeptLogin, 'client_id' | 'client_method' | 'client_secret' | 'client_secret_source'>

/** What the user said about the client. */
export interface ClientChoice {
  /** `--client-id`: registered by the user, or the https address of a metadata document. */
  readonly id: string | undefined
  /** `--client-secret`: where the secret comes from. */
  readonly secretSource: string | undefined
}

/** Reads the value of a source such as `env:NAME`. */
export type ReadSource = (source: string) => Promise<string>

interface Enrolment {
  readonly server: URL
  readonly authorizationServer: oauth.AuthorizationServer
  readonly requests: Requests
  readonly folder: string
  readonly redirect: string
}

/** Whether a login would use the client that the user named. Otherwise Cordon registers itself. */
export const usesGiven = ({ id }: ClientChoice, authorizationServer: oauth.AuthorizationServer): boolean =>
  id !== undefined && (!isDocument(id) || authorizationServer['client_id_metadata_document_supported'] === true)

const isDocument = (id: string): boolean => id.startsWith('https://')

export const clientFor = async (choice: ClientChoice, enrolment: Enrolment): Promise<ClientIdentity> => {
  const { id, secretSource } = choice
  const { authorizationServer } = enrolment
  if (id === undefined || !usesGiven(choice, authorizationServer)) return register(enrolment)
  if (isDocument(id) && new URL(id).pathname === '/')
    throw fail('login-failed', {
      server: enrolment.server.href,
      problem: `${id} is not the address of a document: it has no path`,
      fix: 'name the whole address: --client-id https://example.org/client.json',
    })
  return secretSource === undefined
    ? { client_id: id, client_method: 'none' }
    : { client_id: id, client_method: methodFor(authorizationServer), client_secret_source: secretSource }
}

/** The ways to show a secret. Basic is the default of the standard. */
const methodFor = ({ token_endpoint_auth_methods_supported: supported }: oauth.AuthorizationServer) =>
  supported === undefined || supported.includes('client_secret_basic')
    ? ('client_secret_basic' as const)
    : ('client_secret_post' as const)

/** An earlier registration, if it can be used again. */
export const earlierRegistration = (folder: string, issuer: string, now: number): Registration | undefined => {
  const kept = readRegistration(folder, issuer)
  return kept === undefined || (kept.expires_at ?? Infinity) <= now ? undefined : kept
}

const register = async (enrolment: Enrolment): Promise<ClientIdentity> => {
  const { server, authorizationServer, requests, folder, redirect } = enrolment
  const {
    issuer,
    registration_endpoint: endpoint,
    token_endpoint_auth_methods_supported: supported,
  } = authorizationServer
  const earlier = earlierRegistration(folder, issuer, Date.now())
  if (earlier?.redirect === redirect) return identityOf(earlier)
  if (endpoint === undefined)
    throw fail('login-failed', {
      server: server.href,
      problem: `clients cannot register themselves at ${issuer}`,
      fix: 'register one there, and name it: --client-id ID, with --client-secret env:NAME if it has a secret',
    })
  const isPublic = supported === undefined || supported.includes('none')
  try {
    const registered = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(
        authorizationServer,
        {
          client_name: 'Cordon',
          application_type: 'native',
          redirect_uris: [redirect],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: isPublic ? 'none' : methodFor(authorizationServer),
        },
        requests.options,
      ),
    )
    const { client_id, client_secret, client_secret_expires_at: until, token_endpoint_auth_method: method } = registered
    const registration: Registration = {
      issuer,
      client_id,
      client_method:
        typeof client_secret !== 'string' || method === 'none'
          ? 'none'
          : method === 'client_secret_post'
            ? method
            : 'client_secret_basic',
      ...(typeof client_secret === 'string' ? { client_secret } : {}),
      redirect,
      ...(typeof until === 'number' && until > 0 ? { expires_at: until * 1000 } : {}),
    }
    writeRegistration(folder, registration)
    return identityOf(registration)
  } catch (error) {
    throw failure(server, `the registration at ${issuer}`, error)
  }
}

const identityOf = ({ client_id, client_method, client_secret }: Registration): ClientIdentity => ({
  client_id,
  client_method,
  ...(client_secret === undefined ? {} : { client_secret }),
})

export const clientAuthOf = async (
  { client_method, client_secret, client_secret_source }: ClientIdentity,
  readSource: ReadSource,
): Promise<oauth.ClientAuth> => {
  const secret = client_secret ?? (client_secret_source === undefined ? '' : await readSource(client_secret_source))
  switch (client_method) {
    case 'none':
      return oauth.None()
    case 'client_secret_basic':
      return oauth.ClientSecretBasic(secret)
    case 'client_secret_post':
      return oauth.ClientSecretPost(secret)
  }
}
