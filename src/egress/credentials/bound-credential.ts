import { coversHost } from '../../policy/index.js'
import type { Credential, HostGrant, RequestScope } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'

/** The credentials that belong to a destination. */
export const credentialsFor = (credentials: readonly Credential[], endpoint: Endpoint): readonly Credential[] =>
  credentials.filter(({ hosts }) => hosts.some((host) => isMeant(host, endpoint)))

/** A credential without a port is for the web, like a grant. */
const isMeant = ({ destination, port }: Pick<HostGrant, 'destination' | 'port'>, endpoint: Endpoint): boolean =>
  (port.kind === 'port' ? port.port === endpoint.port : endpoint.port === 443 || endpoint.port === 80) && coversHost(destination, endpoint.host)

/** Those for a request. Each is there once, though several policies may have brought it along. */
export const credentialsOf = (bound: readonly Credential[], isWithin: (scope: RequestScope) => boolean): readonly Credential[] => {
  const found = new Map<string, Credential>()
  for (const credential of bound) {
    const key = JSON.stringify([credential.id, credential.inject])
    if (!found.has(key) && isWithin(credential.scope)) found.set(key, credential)
  }
  return [...found.values()]
}
