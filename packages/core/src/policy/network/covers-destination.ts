// Whether one entry of a policy includes all hosts and ports of another.
import { coversPort } from './covers-host.js'
import { blockOf } from './host-grant.js'
import type { Endpoint } from './host-grant.js'
import { cidrContains } from './ip-address.js'

/** An omitted port means the ports of the web, on both sides. */
export const coversDestination = (outer: Endpoint, inner: Endpoint): boolean =>
  (inner.port.kind === 'web' ? outer.port.kind === 'web' : coversPort(outer.port, inner.port.port)) &&
  coversAllHosts(outer, inner)

export const coversAllHosts = ({ destination: outer }: Endpoint, { destination: inner }: Endpoint): boolean => {
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
