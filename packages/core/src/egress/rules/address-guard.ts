import {
  cidrContains,
  coversHost,
  denialOfAddress,
  isGrantedAddress,
  renderHost,
  renderIpAddress,
  specialPurpose,
} from '../../policy/index.js'
import type { Boundary, EntriesAbout, IpAddress } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'
import type { Resolve } from '../upstream/resolve.js'

import type { Denial } from './denial.js'
import { EgressDenied, denial } from './denial.js'

interface AddressRights {
  readonly network: Pick<Boundary, 'network'>
  /** Addresses that the operator gave to names. They need no grant. */
  readonly pins: ReadonlyMap<string, readonly IpAddress[]>
}

interface Lookup {
  readonly resolve: Resolve
  /** Whether names resolve to stand-in addresses of an outer cell, which judges the real ones. */
  readonly isNested: () => boolean
}

/** The addresses of a granted endpoint that may be dialled. The caller resolves nothing again. */
export const findAddresses = async (
  endpoint: Endpoint,
  { network: { network }, pins }: AddressRights,
  { resolve, isNested }: Lookup,
): Promise<readonly IpAddress[]> => {
  const pinned = pins.get(renderHost(endpoint.host))
  const entries = network.kind === 'hosts' ? network.entries : []
  const about: EntriesAbout = (host) => entries.filter(({ destination }) => coversHost(destination, host))
  const found = pinned ?? (endpoint.host.kind === 'name' ? await resolve(endpoint.host.name) : [endpoint.host.address])
  const isStandIn = (address: IpAddress) =>
    isNested() && endpoint.host.kind === 'name' && cidrContains(STAND_INS, address)
  const refusals = found.map(
    (address) =>
      denialOf(address, endpoint.port, about) ??
      (pinned === undefined && !isStandIn(address) ? strangeness(address, about) : undefined),
  )
  const usable = found.filter((_, at) => refusals[at] === undefined)
  if (usable.length > 0) return usable
  throw new EgressDenied(
    refusals.find((refusal) => refusal !== undefined) ?? denial('address', 'the name has no address'),
  )
}

/** 198.18.0.0/15, for names of calls that are granted a part of 22.18.0.0/15 (native/keeper/network/dns.c). */
const STAND_INS = { family: 4, first: 0xc612_0000n, prefixLength: 15 } as const

const denialOf = (address: IpAddress, port: number, about: EntriesAbout): Denial | undefined => {
  const entry = denialOfAddress(about, address, port)
  return entry === undefined ? undefined : denial('denied', `an entry of the policy denies its address: ${entry.text}`)
}

const strangeness = (address: IpAddress, about: EntriesAbout): Denial | undefined => {
  const special = specialPurpose(address)
  if (special === undefined || isGrantedAddress(about, address)) return undefined
  const text = renderIpAddress(address)
  return denial(
    'address',
    `its address ${text} is not public (${special}), and is not granted`,
    `network: ["${text}/${address.family === 4 ? 32 : 128}"]`,
  )
}
