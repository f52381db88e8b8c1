import { once } from '../get-or-add.js'
import { cidrContains, parseIpAddress } from './ip-address.js'
import type { Cidr, IpAddress } from './ip-address.js'

const UNALLOCATED = 'not allocated'

/**
 * Addresses outside the public internet (IANA's registries of special purposes). `nobodys`: no server of one's own
 * network lies there, but cloud metadata, many machines, or none.
 */
const SPECIAL: readonly (readonly [block: string, what: string, whose?: 'nobodys'])[] = [
  ['0.0.0.0/8', 'this network', 'nobodys'],
  ['10.0.0.0/8', 'private'],
  ['100.100.100.200/32', 'cloud metadata', 'nobodys'],
  ['100.64.0.0/10', 'shared by a provider'],
  ['127.0.0.0/8', 'this machine'],
  // Azure's, within a public block.
  ['168.63.129.16/32', 'cloud metadata', 'nobodys'],
  ['169.254.0.0/16', 'link-local; cloud metadata', 'nobodys'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'for protocols', 'nobodys'],
  ['192.0.2.0/24', 'for documentation'],
  ['192.88.99.0/24', 'a former relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'for benchmarks'],
  ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'],
  ['224.0.0.0/4', 'multicast', 'nobodys'],
  ['240.0.0.0/4', 'reserved', 'nobodys'],
  ['::/128', 'no address', 'nobodys'],
  // Beyond loopback: IPv4 in a former notation.
  ['::/96', 'this machine, or IPv4 in disguise'],
  ['64:ff9b:1::/48', 'translated to private IPv4'],
  ['100::/64', 'discarded'],
  ['100:0:0:1::/64', 'a dummy prefix'],
  ['2001::/23', 'for protocols and tunnels'],
  ['2001:db8::/32', 'for documentation'],
  ['3fff::/20', 'for documentation'],
  ['5f00::/16', 'for segment routing'],
  ['fd00:ec2::/32', 'cloud metadata', 'nobodys'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local', 'nobodys'],
  ['fec0::/10', 'formerly private'],
  ['ff00::/8', 'multicast', 'nobodys'],
  // The public internet is a part of 2000::/3. Last, because the blocks above are in these.
  ['::/3', UNALLOCATED, 'nobodys'],
  ['2d00::/8', UNALLOCATED, 'nobodys'],
  ['2e00::/7', UNALLOCATED, 'nobodys'],
  ['3000::/4', UNALLOCATED, 'nobodys'],
  ['4000::/2', UNALLOCATED, 'nobodys'],
  ['8000::/1', UNALLOCATED, 'nobodys'],
]

const blockOf = (text: string): Cidr => {
  const [address = '', length = ''] = text.split('/')
  const { family, value } = parseIpAddress(address) ?? { family: 4 as const, value: 0n }
  return { family, first: value, prefixLength: Number(length) }
}

/** The blocks of special purposes. */
export const specialBlocks = once(() =>
  SPECIAL.map(([text, what, whose]) => ({ block: blockOf(text), what, isNobodys: whose === 'nobodys' })),
)

const NAT64 = blockOf('64:ff9b::/96')

/** Prefixes of an embedded IPv4 address, and the number of bits after it. */
export const EMBEDDING: readonly (readonly [Cidr, bigint])[] = [
  [NAT64, 0n],
  // 6to4
  [blockOf('2002::/16'), 80n],
]

const MAPPED = /^::ffff:(?<address>\d+\.\d+\.\d+\.\d+)$/i

/** The address of a resolver. IPv4 in IPv6 notation becomes the IPv4 address that is dialled. */
export const parseResolved = (text: string): IpAddress | undefined =>
  parseIpAddress(MAPPED.exec(text)?.groups?.['address'] ?? text)

/** The address itself, and the IPv4 address in it. */
export const readings = (address: IpAddress): readonly IpAddress[] => [
  address,
  ...EMBEDDING.flatMap(([block, shift]) =>
    cidrContains(block, address) ? [{ family: 4 as const, value: (address.value >> shift) & 0xffff_ffffn }] : [],
  ),
]

const blocksAround = (address: IpAddress): ReturnType<typeof specialBlocks> =>
  readings(address).flatMap((reading) =>
    specialBlocks().filter(
      ({ block, what }) => cidrContains(block, reading) && !(what === UNALLOCATED && cidrContains(NAT64, reading)),
    ),
  )

export const specialPurpose = (address: IpAddress): string | undefined => blocksAround(address).at(0)?.what

/** Whether no name of one's own network can mean it. */
export const isNobodysOwn = (address: IpAddress): boolean =>
  blocksAround(address).some(({ isNobodys, what }, at) => isNobodys && (at === 0 || what !== UNALLOCATED))

/** Whether an address is one of this machine: 127.0.0.0/8 or ::1. */
export const isLoopback = (address: IpAddress): boolean =>
  address.family === 4 ? specialPurpose(address) === 'this machine' : address.value === 1n

/** Whether the host of a URL is this machine: by its address, by the address that stands for all, or by its name. */
export const isThisHost = (hostname: string): boolean => {
  const address = parseIpAddress(hostname.replaceAll(/[[\]]/g, ''))
  return address === undefined ? /(?:^|\.)localhost\.?$/i.test(hostname) : isLoopback(address) || address.value === 0n
}
