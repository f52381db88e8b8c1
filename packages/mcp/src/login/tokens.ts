import type { TokenEndpointResponse } from 'oauth4webapi'

import { fail } from '../errors/errors.js'
import type { KeptLogin } from './login-files.js'

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
