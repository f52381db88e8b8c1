import { cidrContains } from '../../policy/index.js'
import type { HostGrant, RequestHost } from '../../policy/index.js'

/** Whether an entry speaks of a host, whatever it says about it. */
export const coversHost = (destination: HostGrant['destination'], host: RequestHost): boolean => {
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
