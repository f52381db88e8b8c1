import { coversEndpoint } from '../../policy/index.js'
import type { Credential, RequestScope } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'

/** The credentials that belong to a destination. */
export const credentialsFor = (credentials: readonly Credential[], endpoint: Endpoint): readonly Credential[] =>
  credentials.filter(({ hosts }) => hosts.some((named) => coversEndpoint(named, endpoint.host, endpoint.port)))

/** Those for a request. Each is there once, though several policies may have brought it along. */
export const credentialsOf = (bound: readonly Credential[], isWithin: (scope: RequestScope) => boolean): readonly Credential[] => {
  const found = new Map<string, Credential>()
  for (const credential of bound) {
    const key = JSON.stringify([credential.id, credential.inject])
    if (!found.has(key) && isWithin(credential.scope)) found.set(key, credential)
  }
  return [...found.values()]
}
