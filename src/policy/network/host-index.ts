import type { HostGrant } from './host-grant.js'
import type { IpAddress } from './ip-address.js'
import type { RequestHost } from './network-request.js'

/** The entries that speak of a host, found without looking at the others. */
export interface HostIndex {
  readonly about: (host: RequestHost) => readonly HostGrant[]
  readonly aboutAddress: (address: IpAddress) => readonly HostGrant[]
}

const BITS = { 4: 32, 6: 128 } as const

export const indexHosts = (entries: readonly HostGrant[]): HostIndex => {
  const names = new Map<string, HostGrant[]>()
  const below = new Map<string, HostGrant[]>()
  /** By family and number of leading bits, then by those bits. */
  const blocks = new Map<
    string,
    { readonly family: 4 | 6; readonly shift: bigint; readonly byPrefix: Map<bigint, HostGrant[]> }
  >()

  const addBlock = (entry: HostGrant, family: 4 | 6, first: bigint, length: number) => {
    const key = `${family}/${length}`
    const block = blocks.get(key) ?? {
      family,
      shift: BigInt(BITS[family] - length),
      byPrefix: new Map<bigint, HostGrant[]>(),
    }
    blocks.set(key, block)
    append(block.byPrefix, first >> block.shift, entry)
  }
  for (const entry of entries) {
    const { destination } = entry
    switch (destination.kind) {
      case 'host':
        append(names, destination.host, entry)
        break
      case 'subdomains':
        append(below, destination.host, entry)
        break
      case 'address':
        addBlock(entry, destination.address.family, destination.address.value, BITS[destination.address.family])
        break
      case 'cidr':
        addBlock(entry, destination.cidr.family, destination.cidr.first, destination.cidr.prefixLength)
        break
    }
  }

  const aboutAddress = ({ family, value }: IpAddress): readonly HostGrant[] => {
    const found: HostGrant[] = []
    for (const block of blocks.values()) {
      if (block.family === family) found.push(...(block.byPrefix.get(value >> block.shift) ?? []))
    }
    return found
  }
  const about = (host: RequestHost): readonly HostGrant[] => {
    if (host.kind === 'address') return aboutAddress(host.address)
    const found = [...(names.get(host.name) ?? [])]
    for (let dot = host.name.indexOf('.'); dot !== -1; dot = host.name.indexOf('.', dot + 1))
      found.push(...(below.get(host.name.slice(dot + 1)) ?? []))
    return found
  }
  return { about, aboutAddress }
}

const append = <Key>(map: Map<Key, HostGrant[]>, key: Key, entry: HostGrant): void => {
  const entries = map.get(key)
  if (entries === undefined) map.set(key, [entry])
  else entries.push(entry)
}
