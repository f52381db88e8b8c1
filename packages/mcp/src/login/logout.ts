// Ends a login: its tokens are revoked where that is possible (RFC 7009), and removed.
import * as oauth from 'oauth4webapi'

import type { LoginPlace } from './access-token.js'
import { clientAuthOf } from './client.js'
import { readIssuer } from './discover.js'
import { pathOfLogin, readLogin, removeLogin } from './login-files.js'
import type { KeptLogin } from './login-files.js'
import { inTurn } from './login-turn.js'
import { failure, requestsTo } from './requests.js'

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
