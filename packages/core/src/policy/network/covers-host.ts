// Whether an entry of a policy is about a host and a port, or about everything that another entry is about.
import { blockOf } from './host-grant.js'
import type { Destination, Endpoint, HostGrant, PortGrant } from './host-grant.js'
import { cidrContains } from './ip-address.js'
import type { RequestHost } from './network-request.js'

/** Whether an entry is about a host, as a grant or as a denial. */
export const coversHost = (destination: Destination, host: RequestHost): boolean =>
  includesHosts(destination, host.kind === 'name' ? { kind: 'host', host: host.name } : host)

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

/** Whether one entry includes all that another is about. An omitted port means the ports of the web, on both sides. */
export const coversDestination = (outer: Endpoint, inner: Endpoint): boolean =>
  (inner.port.kind === 'web' ? outer.port.kind === 'web' : coversPort(outer.port, inner.port.port)) &&
  includesHosts(outer.destination, inner.destination)

export const includesHosts = (outer: Destination, inner: Destination): boolean => {
  switch (outer.kind) {
    case 'host':
      return inner.kind === 'host' && inner.host === outer.host
    case 'subdomains':
      return (
        'host' in inner &&
        (inner.host.endsWith(`.${outer.host}`) || (inner.kind === 'subdomains' && inner.host === outer.host))
      )
    case 'address':
    case 'cidr': {
      if ('host' in inner) return false
      const [block, { family, first, prefixLength }] = [blockOf(outer), blockOf(inner)]
      return prefixLength >= block.prefixLength && cidrContains(block, { family, value: first })
    }
  }
}
