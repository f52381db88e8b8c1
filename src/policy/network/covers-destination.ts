import { coversPort } from './covers-host.js'
import type { HostGrant } from './host-grant.js'
import { cidrContains } from './ip-address.js'

type Place = Pick<HostGrant, 'destination' | 'port'>

/** Whether everything that `inner` names is named by `outer`, too. A missing port is the web on both sides. */
export const coversDestination = (outer: Place, inner: Place): boolean =>
  coversSomePort(outer, inner) && coversAllHosts(outer, inner)

const coversSomePort = ({ port: outer }: Place, { port: inner }: Place): boolean =>
  inner.kind === 'web' ? outer.kind === 'web' : coversPort(outer, inner.port)

export const coversAllHosts = (
  { destination: outer }: Pick<Place, 'destination'>,
  { destination: inner }: Pick<Place, 'destination'>,
): boolean => {
  switch (outer.kind) {
    case 'host':
      return inner.kind === 'host' && inner.host === outer.host
    case 'subdomains':
      return (
        (inner.kind === 'host' || inner.kind === 'subdomains') &&
        (inner.host.endsWith(`.${outer.host}`) || (inner.kind === 'subdomains' && inner.host === outer.host))
      )
    case 'address':
      return (
        inner.kind === 'address' &&
        inner.address.family === outer.address.family &&
        inner.address.value === outer.address.value
      )
    case 'cidr':
      if (inner.kind === 'address') return cidrContains(outer.cidr, inner.address)
      return (
        inner.kind === 'cidr' &&
        inner.cidr.prefixLength >= outer.cidr.prefixLength &&
        cidrContains(outer.cidr, { family: inner.cidr.family, value: inner.cidr.first })
      )
  }
}
