import type { Destination, PortGrant } from './host-grant.js'
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
      return host.kind === 'address' && host.address.family === destination.address.family && host.address.value === destination.address.value
    case 'cidr':
      return host.kind === 'address' && cidrContains(destination.cidr, host.address)
  }
}

/** A grant that names no port is for the web. */
export const coversPort = (grant: PortGrant, port: number): boolean => (grant.kind === 'web' ? port === 80 || port === 443 : port === grant.port)
