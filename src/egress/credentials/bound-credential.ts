import type { Credential, HostGrant, RequestHost } from '../../policy/index.js'
import { cidrContains } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'

/** The credentials that belong to a destination. */
export const credentialsFor = (credentials: readonly Credential[], endpoint: Endpoint): readonly Credential[] =>
  credentials.filter(({ hosts }) => hosts.some((host) => isMeant(host, endpoint)))

/** A credential without a port is for the web, like a grant. */
const isMeant = ({ destination, port }: Pick<HostGrant, 'destination' | 'port'>, endpoint: Endpoint): boolean =>
  (port.kind === 'port' ? port.port === endpoint.port : endpoint.port === 443 || endpoint.port === 80) && isHost(destination, endpoint.host)

const isHost = (destination: HostGrant['destination'], host: RequestHost): boolean => {
  switch (destination.kind) {
    case 'host':
      return host.kind === 'name' && host.name === destination.host
    case 'subdomains':
      return host.kind === 'name' && host.name.endsWith(`.${destination.host}`)
    case 'address':
      return host.kind === 'address' && host.address.family === destination.address.family && host.address.value === destination.address.value
    case 'cidr':
      return host.kind === 'address' && cidrContains(destination.cidr, host.address)
  }
}
