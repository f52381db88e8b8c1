// Requests of a login: to the server, and to the authorization server that it names.
import * as oauth from 'oauth4webapi'
import { createOwnRequests, isThisMachine } from 'cordon/egress'
import type { OwnRequestSettings, SendOwn } from 'cordon/egress'
import { CordonError } from 'cordon/errors'

import { fail } from '../errors/errors.js'

/** How the user reaches servers: `--resolve` and `--upstream-ca`. */
export type LoginNetwork = Omit<OwnRequestSettings, 'named'>

export interface Requests {
  readonly send: SendOwn
  /** For the functions of oauth4webapi. */
  readonly options: {
    readonly [oauth.customFetch]: (url: string, request: Asked) => Promise<Response>
    readonly [PLAIN_HTTP]: boolean
  }
}

// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so only to stand out; true for this machine alone
const PLAIN_HTTP: typeof oauth.allowInsecureRequests = oauth.allowInsecureRequests

interface Asked {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: unknown
}

export const requestsTo = (server: URL, network: LoginNetwork): Requests => {
  const send = createOwnRequests({ ...network, named: server })
  return {
    send,
    options: {
      [oauth.customFetch]: (url, { method, headers, body }) =>
        send(new URL(url), {
          method,
          headers,
          body: body instanceof URLSearchParams ? body.toString() : typeof body === 'string' ? body : undefined,
        }),
      // `send` refuses plain HTTP, except to the server itself on this machine.
      [PLAIN_HTTP]: server.protocol === 'http:' && isThisMachine(server),
    },
  }
}

const TRY_AGAIN = 'try again; if it fails again, ask the operator of the server'

/** Errors of the library may contain tokens and codes, so they are not passed on. */
export const failure = (server: URL, step: string, error: unknown): CordonError => {
  if (error instanceof CordonError) return error
  return fail('login-failed', { server: server.href, problem: `${step}: ${problemWith(error)}`, fix: TRY_AGAIN })
}

/** For `catch`. */
export const failing =
  (server: URL, step: string) =>
  (error: unknown): never => {
    throw failure(server, step, error)
  }

/** The code of an OAuth error, such as `invalid_grant`. */
export const codeOfOAuth = (error: unknown): string | undefined => {
  const code = errorIn(error)
  return code === undefined ? undefined : (/^[a-z_]{1,40}$/.exec(code)?.[0] ?? 'an unknown error')
}

const errorIn = (error: unknown): string | undefined => {
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) return error.error
  return error instanceof oauth.WWWAuthenticateChallengeError ? error.cause[0]?.parameters.error : undefined
}

/** Messages of the library are fixed texts. */
const problemWith = (error: unknown): string => {
  const code = codeOfOAuth(error)
  if (code !== undefined) return `the authorization server answered ${code}`
  return error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError
    ? error.message
    : 'an answer cannot be used'
}
