// The header `WWW-Authenticate`, with which a server says what it lacks.
import * as oauth from 'oauth4webapi'

export interface Challenge {
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
