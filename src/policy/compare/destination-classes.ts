// All hosts, in finitely many classes: the same entries are about all hosts of one class.
import { WEB_PORTS } from '../network/covers-host.js'
import { blockOf } from '../network/host-grant.js'
import type { HostGrant } from '../network/host-grant.js'
import { parseHostName } from '../network/host-name.js'
import { BITS } from '../network/ip-address.js'
import type { RequestHost } from '../network/network-request.js'

/** One host of every class. */
export const hostRepresentatives = (entries: readonly HostGrant[]): readonly RequestHost[] => [
  ...nameRepresentatives(entries),
  ...addressRepresentatives(entries, 4),
  ...addressRepresentatives(entries, 6),
]

/** Each mentioned name is a class of its own. All unmentioned names directly below one are another class. */
const nameRepresentatives = (entries: readonly HostGrant[]): readonly RequestHost[] => {
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

/** Blocks cut the line of addresses into stretches. The first address represents its stretch. */
const addressRepresentatives = (entries: readonly HostGrant[], family: 4 | 6): readonly RequestHost[] => {
  const cuts = new Set<bigint>([0n])
  if (family === 6) cuts.add(MAPPED.last + 1n)
  for (const { destination } of entries) {
    if ('host' in destination) continue
    const { family: own, first, prefixLength } = blockOf(destination)
    if (own === family) cuts.add(first).add(first + (1n << BigInt(BITS[family] - prefixLength)))
  }
  const isUsable = (value: bigint) =>
    value < 2n ** BigInt(BITS[family]) && !(family === 6 && value >= MAPPED.first && value <= MAPPED.last)
  return [...cuts].filter(isUsable).map((value): RequestHost => ({ kind: 'address', address: { family, value } }))
}

/** Every mentioned port, and one that represents the others. */
export const portRepresentatives = (entries: readonly HostGrant[]): readonly number[] => {
  const mentioned = new Set([
    ...WEB_PORTS.toReversed(),
    ...entries.flatMap(({ port }) => (port.kind === 'port' ? [port.port] : [])),
  ])
  return [...mentioned, ...(mentioned.size < 65_535 ? [unused((at) => 1 + ((8079 + at) % 65_535), mentioned)] : [])]
}

const COMMON_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']

/** Common and mentioned methods, and one that represents the others. */
export const methodRepresentatives = (entries: readonly HostGrant[]): readonly string[] => {
  const mentioned = new Set([
    ...COMMON_METHODS,
    ...entries.flatMap(({ methods }) => (methods.kind === 'list' ? methods.items : [])),
  ])
  return [...mentioned, unused((at) => `OTHER${'-X'.repeat(at)}`, mentioned)]
}

const unused = <Value>(candidate: (at: number) => Value, used: ReadonlySet<Value>): Value => {
  let at = 0
  while (used.has(candidate(at))) at += 1
  return candidate(at)
}
