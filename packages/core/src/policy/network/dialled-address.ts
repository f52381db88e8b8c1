// The addresses that the proxy may dial. It checks each address of a granted name or address, and dials no other.
import { isAboutPort } from './covers-host.js'
import type { HostGrant } from './host-grant.js'
import type { IpAddress } from './ip-address.js'
import type { RequestHost } from './network-request.js'
import { readings } from './special-addresses.js'

/** The entries of a policy about a host. */
export type EntriesAbout = (host: RequestHost) => readonly HostGrant[]

/** A denial of some methods or paths denies the whole address: requests are judged by name. */
export const denialOfAddress = (about: EntriesAbout, address: IpAddress, port: number): HostGrant | undefined =>
  aboutAddress(about, address).find((entry) => entry.action === 'deny' && isAboutPort(entry, port))

/** A name may lead to an address that is not public only if an entry grants the address, for any port. */
export const isGrantedAddress = (about: EntriesAbout, address: IpAddress): boolean =>
  aboutAddress(about, address).some(({ action }) => action !== 'deny')

const aboutAddress = (about: EntriesAbout, address: IpAddress): readonly HostGrant[] =>
  readings(address).flatMap((reading) => about({ kind: 'address', address: reading }))
