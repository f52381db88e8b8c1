import { blockOf } from './host-grant.js'
import type { Destination, Endpoint, HostGrant, PortGrant } from './host-grant.js'
import { cidrContains } from './ip-address.js'
import type { RequestHost } from './network-request.js'

/** Whether an entry is about a host, as a grant or as a denial. */
export const coversHost = (destination: Destination, host: RequestHost): boolean => {
  switch (destination.kind) {
    case 'host':
      return host.kind === 'name' && host.name === destination.host
    case 'subdomains':
      return host.kind === 'name' && host.name.endsWith(`.${destination.host}`)
    case 'address':
    case 'cidr':
      return host.kind === 'address' && cidrContains(blockOf(destination), host.address)
  }
}

/** The ports of a grant that names none. */
export const WEB_PORTS: readonly number[] = [80, 443]

export const isWebPort = (port: number): boolean => WEB_PORTS.includes(port)

export const coversPort = (grant: PortGrant, port: number): boolean =>
  grant.kind === 'web' ? isWebPort(port) : port === grant.port

/** A grant without a port is for the web, a denial without one for every port. */
export const isAboutPort = ({ action, port: named }: Pick<HostGrant, 'action' | 'port'>, port: number): boolean =>
  (action === 'deny' && named.kind === 'web') || coversPort(named, port)

/** Whether an entry is about this port of this host. */
export const coversEndpoint = (entry: Endpoint, host: RequestHost, port: number): boolean =>
  coversPort(entry.port, port) && coversHost(entry.destination, host)
