// IP addresses and blocks, in their canonical form only. Octal, hexadecimal, shortened and IPv4-mapped forms are
// refused, because other programs read them differently and would dial another address than the one that was checked.

export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

export interface Cidr {
  readonly family: 4 | 6
  readonly first: bigint
  readonly prefixLength: number
}

export const BITS = { 4: 32, 6: 128 } as const

const DECIMAL_BYTE = /^(0|[1-9]\d{0,2})$/
const HEX_GROUP = /^[0-9a-f]{1,4}$/i

export const parseIpAddress = (text: string): IpAddress | undefined => parseIpv4(text) ?? parseIpv6(text)

const parseIpv4 = (text: string): IpAddress | undefined => {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => DECIMAL_BYTE.test(part) && Number(part) <= 255)) return undefined
  return { family: 4, value: parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n) }
}

const parseIpv6 = (text: string): IpAddress | undefined => {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail]
  if (!groups.every((group) => HEX_GROUP.test(group))) return undefined
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
  return value >> 32n === 0xffffn ? undefined : { family: 6, value }
}

export const parseCidr = (text: string, reject: (problem: string) => Error): Cidr => {
  const [addressText = '', lengthText = '', ...rest] = text.split('/')
  const address = parseIpAddress(addressText)
  if (address === undefined || rest.length > 0) throw reject('not an address block such as 10.0.0.0/8')
  const bits = BITS[address.family]
  const prefixLength = Number(lengthText)
  if (!DECIMAL_BYTE.test(lengthText) || prefixLength > bits)
    throw reject(`the part after the slash must be a number from 0 to ${bits}`)
  const hostBits = BigInt(bits - prefixLength)
  const cidr: Cidr = { family: address.family, first: (address.value >> hostBits) << hostBits, prefixLength }
  // The author of 10.1.2.3/8 seems to mean one address, and would grant 16 million.
  if (cidr.first !== address.value) throw reject(`the block that contains it is written ${renderCidr(cidr)}`)
  return cidr
}

export const cidrContains = (cidr: Cidr, address: IpAddress): boolean => {
  const hostBits = BigInt(BITS[cidr.family] - cidr.prefixLength)
  return cidr.family === address.family && address.value >> hostBits === cidr.first >> hostBits
}

export const renderCidr = (cidr: Cidr): string =>
  `${renderIpAddress({ family: cidr.family, value: cidr.first })}/${cidr.prefixLength}`

export const renderIpAddress = ({ family, value }: IpAddress): string => {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.')
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16))
  return shortenLongestZeroRun(groups)
}

/** RFC 5952: the longest run of two or more zero groups, the first of equals, becomes `::`. */
const shortenLongestZeroRun = (groups: readonly string[]): string => {
  let best = { start: 0, length: 1 }
  groups.forEach((_, start) => {
    const after = groups.findIndex((group, at) => at >= start && group !== '0')
    const length = (after === -1 ? groups.length : after) - start
    if (length > best.length) best = { start, length }
  })
  if (best.length < 2) return groups.join(':')
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`
}
