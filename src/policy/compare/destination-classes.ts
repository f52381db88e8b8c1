// All hosts there are, in finitely many classes: hosts of one class are spoken of by the same entries.
import { WEB_PORTS } from '../network/covers-host.js'
import type { HostGrant } from '../network/host-grant.js'
import { parseHostName } from '../network/host-name.js'
import type { IpAddress } from '../network/ip-address.js'
import type { RequestHost } from '../network/network-request.js'

/** One host of every class. */
export const hostRepresentatives = (entries: readonly HostGrant[]): readonly RequestHost[] => [
  ...nameRepresentatives(entries),
  ...addressRepresentatives(entries, 4),
  ...addressRepresentatives(entries, 6),
]

/** A name that is mentioned is a class of its own; all unmentioned names right below one are another. */
const nameRepresentatives = (entries: readonly HostGrant[]): readonly RequestHost[] => {
  const mentioned = new Set(
    entries.flatMap(({ destination }) =>
      destination.kind === 'host' || destination.kind === 'subdomains' ? [destination.host] : [],
    ),
  )
  const labels = new Set([...mentioned].flatMap((host) => host.split('.')))
  const fresh = unused((at) => (at === 0 ? 'x' : `x${at}`), labels)
  // The part below a name that is as long as names can be does not exist.
  const texts = [...mentioned, ...[...mentioned].map((host) => `${fresh}.${host}`), `${fresh}.example`]
  return texts.flatMap((text) => {
    const parsed = parseHostName(text)
    return parsed.kind === 'host' ? [{ kind: 'name', name: parsed.host } as const] : []
  })
}

const LAST = { 4: 2n ** 32n - 1n, 6: 2n ** 128n - 1n } as const
// IPv4 addresses in the clothes of IPv6: no entry can name them, and no request has one.
const MAPPED = { first: 0xffffn << 32n, last: (0xffffn << 32n) + 0xffffffffn }

/** Blocks cut the line of addresses into stretches; the first address of each stands for all of it. */
const addressRepresentatives = (entries: readonly HostGrant[], family: 4 | 6): readonly RequestHost[] => {
  const cuts = new Set<bigint>([0n])
  if (family === 6) cuts.add(MAPPED.last + 1n)
  for (const { destination } of entries) {
    if (destination.kind === 'address' && destination.address.family === family)
      cuts.add(destination.address.value).add(destination.address.value + 1n)
    if (destination.kind === 'cidr' && destination.cidr.family === family) {
      const { first, prefixLength } = destination.cidr
      cuts.add(first).add(first + (1n << BigInt((family === 4 ? 32 : 128) - prefixLength)))
    }
  }
  const isUsable = (value: bigint) =>
    value <= LAST[family] && !(family === 6 && value >= MAPPED.first && value <= MAPPED.last)
  return [...cuts]
    .filter(isUsable)
    .map((value): RequestHost => ({ kind: 'address', address: { family, value } satisfies IpAddress }))
}

/** Every port that is mentioned, and one that stands for the rest. */
export const portRepresentatives = (entries: readonly HostGrant[]): readonly number[] => {
  const mentioned = new Set([
    ...WEB_PORTS.toReversed(),
    ...entries.flatMap(({ port }) => (port.kind === 'port' ? [port.port] : [])),
  ])
  return [...mentioned, ...(mentioned.size < 65_535 ? [unused((at) => 1 + ((8079 + at) % 65_535), mentioned)] : [])]
}

const COMMON_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']

/** Every method that matters, and one that nobody mentions. */
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
