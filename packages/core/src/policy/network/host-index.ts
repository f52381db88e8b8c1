// Finds the entries about a host without a look at the others, and decides by them which addresses the proxy may dial.
import type { RequestScope } from '../credential.js'
import { getOrAdd } from '../get-or-add.js'
import { nearestKey } from '../nearest-key.js'
import { coversHost, isAboutPort } from './covers-host.js'
import { blockOf } from './host-grant.js'
import type { HostGrant } from './host-grant.js'
import { BITS } from './ip-address.js'
import type { IpAddress } from './ip-address.js'
import { parseRequestHost } from './network-request.js'
import type { RequestHost } from './network-request.js'
import { readings } from './special-addresses.js'

/** The entries of a policy about a host. */
export type EntriesAbout = (host: RequestHost) => readonly HostGrant[]

export const indexHosts = (entries: readonly HostGrant[]): EntriesAbout => {
  const names = new Map<string, HostGrant[]>()
  const below = new Map<string, HostGrant[]>()
  /** By family and number of leading bits, then by those bits. */
  const blocks = new Map<string, { family: 4 | 6; shift: bigint; byPrefix: Map<bigint, HostGrant[]> }>()
  for (const entry of entries) {
    const { destination } = entry
    if ('host' in destination) {
      getOrAdd(destination.kind === 'host' ? names : below, destination.host, () => []).push(entry)
      continue
    }
    const { family, first, prefixLength } = blockOf(destination)
    const shift = BigInt(BITS[family] - prefixLength)
    const { byPrefix } = getOrAdd(blocks, `${family}/${prefixLength}`, () => ({
      family,
      shift,
      byPrefix: new Map<bigint, HostGrant[]>(),
    }))
    getOrAdd(byPrefix, first >> shift, () => []).push(entry)
  }

  const withBlock = ({ family, value }: IpAddress): readonly HostGrant[] =>
    [...blocks.values()].flatMap((block) =>
      block.family === family ? (block.byPrefix.get(value >> block.shift) ?? []) : [],
    )
  return (host) => {
    if (host.kind === 'address') return withBlock(host.address)
    const found = [...(names.get(host.name) ?? [])]
    for (let dot = host.name.indexOf('.'); dot !== -1; dot = host.name.indexOf('.', dot + 1))
      found.push(...(below.get(host.name.slice(dot + 1)) ?? []))
    return found
  }
}

// The proxy checks each address of a granted name or address, and dials no other.

/** A denial of some methods or paths denies the whole address: requests are judged by name. */
export const denialOfAddress = (about: EntriesAbout, address: IpAddress, port: number): HostGrant | undefined =>
  aboutAddress(about, address).find((entry) => entry.action === 'deny' && isAboutPort(entry, port))

/** A name may lead to an address that is not public only if an entry grants the address, for any port. */
export const isGrantedAddress = (about: EntriesAbout, address: IpAddress): boolean =>
  aboutAddress(about, address).some(({ action }) => action !== 'deny')

const aboutAddress = (about: EntriesAbout, address: IpAddress): readonly HostGrant[] =>
  readings(address).flatMap((reading) => about({ kind: 'address', address: reading }))

/**
 * A name that has a given address, but that no policy grants. It is probably misspelt, and the address of the right
 * name would be looked up as usual. `near`: a granted name that is close to it.
 */
export const strayName = (
  names: Iterable<string>,
  networks: readonly RequestScope['network'][],
): { readonly name: string; readonly near: string | undefined } | undefined => {
  if (networks.some(({ kind }) => kind === 'all')) return undefined
  const entries = networks.flatMap((network) => (network.kind === 'hosts' ? network.entries : []))
  for (const name of names) {
    const host = parseRequestHost(name)
    if (host === undefined || entries.some(({ destination }) => coversHost(destination, host))) continue
    const granted = entries.flatMap(({ destination }) => (destination.kind === 'host' ? [destination.host] : []))
    return { name, near: nearestKey(name, granted) }
  }
  return undefined
}
