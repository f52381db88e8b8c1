import type { HostGrant } from '../../policy/index.js'
import { WEB_PORTS, renderCidr, renderIpAddress } from '../../policy/index.js'

import type { Reach } from './plan.js'

/**
 * The destinations for which connect() is led to the proxy. Only the proxy knows denials: it judges every connection
 * again.
 */
export const reachesOf = (entries: readonly HostGrant[]): readonly Reach[] => {
  const reaches = entries
    .filter(({ action }) => action !== 'deny')
    .flatMap(({ destination, port }) => {
      const ports = port.kind === 'web' ? WEB_PORTS : [port.port]
      return ports.map((each) => ({ ...whereOf(destination), port: each }))
    })
  return [...new Map(reaches.map((reach) => [`${reach.kind} ${reach.value} ${reach.port}`, reach])).values()]
}

const whereOf = (destination: HostGrant['destination']): Pick<Reach, 'kind' | 'value'> => {
  switch (destination.kind) {
    case 'host':
      return { kind: 'name', value: destination.host }
    case 'subdomains':
      return { kind: 'below', value: destination.host }
    case 'address':
      return {
        kind: 'block',
        value: `${renderIpAddress(destination.address)}/${destination.address.family === 4 ? '32' : '128'}`,
      }
    case 'cidr':
      return { kind: 'block', value: renderCidr(destination.cidr) }
  }
}

export const renderReach = ({ kind, value, port }: Reach): string => {
  const where = kind === 'below' ? `*.${value}` : value.includes(':') ? `[${value}]` : value
  return `${where}:${port}`
}
