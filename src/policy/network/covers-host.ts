import type { Destination, HostGrant, PortGrant } from './host-grant.js'
import { cidrContains } from './ip-address.js'
import type { RequestHost } from './network-request.js'

/** Whether an entry speaks of a host, whatever it says about it. */
export const coversHost = (destination: Destination, host: RequestHost): boolean => {
  switch (destination.kind) {
    case 'host':
      return host.kind === 'name' && host.name === destination.host
    case 'subdomains':
      return host.kind === 'name' && host.name.endsWith(`.${destination.host}`)
    case 'address':
      return (
        host.kind === 'address' &&
        host.address.family === destination.address.family &&
        host.address.value === destination.address.value
      )
    case 'cidr':
      return host.kind === 'address' && cidrContains(destination.cidr, host.address)
  }
}

/** What a grant that names no port is for. */
export const WEB_PORTS: readonly number[] = [80, 443]

export const isWebPort = (port: number): boolean => WEB_PORTS.includes(port)

export const coversPort = (grant: PortGrant, port: number): boolean =>
  grant.kind === 'web' ? isWebPort(port) : port === grant.port

/** Whether an entry speaks of this port of this host. */
export const coversEndpoint = (
  entry: Pick<HostGrant, 'destination' | 'port'>,
  host: RequestHost,
  port: number,
): boolean => coversPort(entry.port, port) && coversHost(entry.destination, host)
