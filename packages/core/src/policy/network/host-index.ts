// Finds the entries about a host without a look at the others.
import { getOrAdd } from '../get-or-add.js'
import type { EntriesAbout } from './dialled-address.js'
import { blockOf } from './host-grant.js'
import type { HostGrant } from './host-grant.js'
import { BITS } from './ip-address.js'
import type { IpAddress } from './ip-address.js'

export const indexHosts = (entries: readonly HostGrant[]): EntriesAbout => {
  const names = new Map<string, HostGrant[]>()
  const below = new Map<string, HostGrant[]>()
  /** By family and number of leading bits, then by those bits. */
  const blocks = new Map<
    string,
    { readonly family: 4 | 6; readonly shift: bigint; readonly byPrefix: Map<bigint, HostGrant[]> }
  >()
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

  const aboutAddress = ({ family, value }: IpAddress): readonly HostGrant[] =>
    [...blocks.values()].flatMap((block) =>
      block.family === family ? (block.byPrefix.get(value >> block.shift) ?? []) : [],
    )
  return (host) => {
    if (host.kind === 'address') return aboutAddress(host.address)
    const found = [...(names.get(host.name) ?? [])]
    for (let dot = host.name.indexOf('.'); dot !== -1; dot = host.name.indexOf('.', dot + 1))
      found.push(...(below.get(host.name.slice(dot + 1)) ?? []))
    return found
  }
}
