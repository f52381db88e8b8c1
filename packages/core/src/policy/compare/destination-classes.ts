// All hosts, in finitely many classes: the same entries are about all hosts of one class.
import { WEB_PORTS } from '../network/covers-host.js'
import { blockOf } from '../network/host-grant.js'
import type { Endpoint, HostGrant } from '../network/host-grant.js'
import { parseHostName } from '../network/network-request.js'
import { BITS } from '../network/ip-address.js'
import type { Cidr, IpAddress } from '../network/ip-address.js'
import type { RequestHost } from '../network/network-request.js'
import { EMBEDDING } from '../network/special-addresses.js'

/** One host of every class. */
export const hostRepresentatives = (entries: readonly Endpoint[]): readonly RequestHost[] => [
  ...nameRepresentatives(entries),
  ...addressRepresentatives(blocksOf(entries)).map((address) => ({ kind: 'address', address }) as const),
]

/** Each mentioned name is a class of its own. All unmentioned names directly below one are another class. */
const nameRepresentatives = (entries: readonly Endpoint[]): readonly RequestHost[] => {
  const mentioned = new Set(entries.flatMap(({ destination }) => ('host' in destination ? [destination.host] : [])))
  const labels = new Set([...mentioned].flatMap((host) => host.split('.')))
  const fresh = unused((at) => (at === 0 ? 'x' : `x${at}`), labels)
  // Below a name of the greatest length there are no names, so such a text is not a host.
  const texts = [...mentioned, ...[...mentioned].map((host) => `${fresh}.${host}`), `${fresh}.example`]
  return texts.flatMap((text) => {
    const parsed = parseHostName(text)
    return parsed.kind === 'host' ? [{ kind: 'name', name: parsed.host } as const] : []
  })
}

// IPv4 addresses in IPv6 form. No entry and no request can have one.
const MAPPED = { first: 0xffffn << 32n, last: (0xffffn << 32n) + 0xffffffffn }

export const blocksOf = (entries: readonly Endpoint[]): readonly Cidr[] =>
  entries.flatMap(({ destination }) => ('host' in destination ? [] : [blockOf(destination)]))

/**
 * Blocks cut the line of addresses into stretches. The first address represents its stretch. A block of IPv4 also cuts
 * the IPv6 addresses that contain one of its addresses.
 */
export const addressRepresentatives = (blocks: readonly Cidr[]): readonly IpAddress[] => {
  const embedded = blocks.flatMap((block) => (block.family === 4 ? embeddingsOf(block) : []))
  const cutsOf = (family: 4 | 6): ReadonlySet<bigint> =>
    new Set(
      [...blocks, ...embedded]
        .filter((block) => block.family === family)
        .flatMap(({ first, prefixLength }) => [first, first + (1n << BigInt(BITS[family] - prefixLength))]),
    )
  const isUsable = ({ family, value }: IpAddress) =>
    value < 2n ** BigInt(BITS[family]) && !(family === 6 && value >= MAPPED.first && value <= MAPPED.last)
  const addresses = ([4, 6] as const).flatMap((family) =>
    [...new Set([0n, ...(family === 6 ? [MAPPED.last + 1n] : []), ...cutsOf(family)])].map((value) => ({
      family,
      value,
    })),
  )
  return addresses.filter(isUsable)
}

const embeddingsOf = ({ first, prefixLength }: Cidr): readonly Cidr[] =>
  EMBEDDING.map(([block, shift]) => ({
    family: 6,
    first: block.first + (first << shift),
    prefixLength: block.prefixLength + prefixLength,
  }))

/** Every mentioned port, and one that represents the others. */
export const portRepresentatives = (entries: readonly Endpoint[]): readonly number[] => {
  const mentioned = new Set([
    ...WEB_PORTS.toReversed(),
    ...entries.flatMap(({ port }) => (port.kind === 'port' ? [port.port] : [])),
  ])
  return [...mentioned, ...(mentioned.size < 65_535 ? [unused((at) => 1 + ((8079 + at) % 65_535), mentioned)] : [])]
}

/** The proxy refuses these, whatever a policy says. */
const NEVER_PASSED = ['TRACE', 'CONNECT']
const COMMON_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']

/** Common and mentioned methods, and one that represents the others. */
export const methodRepresentatives = (entries: readonly HostGrant[]): readonly string[] => {
  const mentioned = new Set([
    ...COMMON_METHODS,
    ...entries.flatMap(({ methods }) => (methods.kind === 'list' ? methods.items : [])),
  ])
  for (const method of NEVER_PASSED) mentioned.delete(method)
  return [...mentioned, unused((at) => `OTHER${'-X'.repeat(at)}`, mentioned)]
}

const unused = <Value>(candidate: (at: number) => Value, used: ReadonlySet<Value>): Value => {
  let at = 0
  while (used.has(candidate(at))) at += 1
  return candidate(at)
}
