// Addresses of names. A name may lead anywhere: its owner or the operator decides. The proxy dials an address unless an
// entry denies it. An address that is not public must be granted, or given to the name by the operator.
import type { RequestScope } from '../credential.js'
import { entriesOf } from './compile-network.js'
import { addressRepresentatives, blocksOf } from './destination-classes.js'
import { denialOfAddress, isGrantedAddress } from '../network/dialled-address.js'
import { indexHosts } from '../network/host-index.js'
import { renderIpAddress } from '../network/ip-address.js'
import type { IpAddress } from '../network/ip-address.js'
import { SPECIAL_BLOCKS, specialPurpose } from '../network/special-addresses.js'

/** For a port, an address that a name may lead to in `a` and not in `b`. */
export const addressBeyond = (a: RequestScope, b: RequestScope): ((port: number) => string | undefined) => {
  if (a.network.kind !== 'hosts' || b.network.kind !== 'hosts') return () => undefined
  const [aboutA, aboutB] = [indexHosts(entriesOf(a)), indexHosts(entriesOf(b))]
  const entries = [...entriesOf(a), ...entriesOf(b)]
  const denials = entries.filter(({ action, destination }) => action === 'deny' && !('host' in destination))
  const addresses = addressRepresentatives([...blocksOf(entries), ...SPECIAL_BLOCKS.map(({ block }) => block)])
  const isBeyond = (address: IpAddress, port: number): boolean =>
    denialOfAddress(aboutA, address, port) === undefined &&
    (denialOfAddress(aboutB, address, port) !== undefined ||
      (specialPurpose(address) !== undefined &&
        isGrantedAddress(aboutA, address) &&
        !isGrantedAddress(aboutB, address)))
  const found = new Map<number, string | undefined>()
  return (port) => {
    // A port that no denial names is like all others.
    const key = denials.some((entry) => entry.port.kind === 'port' && entry.port.port === port) ? port : 0
    if (!found.has(key)) {
      const address = addresses.find((each) => isBeyond(each, port))
      found.set(key, address === undefined ? undefined : renderIpAddress(address))
    }
    return found.get(key)
  }
}
