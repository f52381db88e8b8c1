// One entry of the section `network`: a host, an address or a block, and what is granted or denied there.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import type { HostName } from './network-request.js'
import { parseHostName } from './network-request.js'
import type { Cidr, IpAddress } from './ip-address.js'
import { BITS, parseCidr, parseIpAddress, renderCidr, renderIpAddress } from './ip-address.js'
import type { PathGlob } from '../glob/path-glob.js'

export type Destination =
  | { readonly kind: 'host'; readonly host: HostName }
  /** `*.host`: every name below `host`, not `host` itself. */
  | { readonly kind: 'subdomains'; readonly host: HostName }
  | { readonly kind: 'address'; readonly address: IpAddress }
  | { readonly kind: 'cidr'; readonly cidr: Cidr }

/** `web`: ports 80 and 443, for an entry without a port. */
export type PortGrant = { readonly kind: 'web' } | { readonly kind: 'port'; readonly port: number }

export type HostAction = 'allow' | 'deny' | 'direct'

export interface HostGrant {
  /** As written. */
  readonly text: string
  readonly destination: Destination
  readonly port: PortGrant
  readonly methods: { readonly kind: 'all' } | { readonly kind: 'list'; readonly items: readonly string[] }
  readonly paths: { readonly kind: 'all' } | { readonly kind: 'list'; readonly items: readonly PathGlob[] }
  readonly action: HostAction
}

export type Endpoint = Pick<HostGrant, 'destination' | 'port'>

/** A single address is the smallest block. */
export const blockOf = (destination: Extract<Destination, { kind: 'address' | 'cidr' }>): Cidr => {
  if (destination.kind === 'cidr') return destination.cidr
  const { family, value } = destination.address
  return { family, first: value, prefixLength: BITS[family] }
}

const WITH_PORT = /^(?<host>\[[^\]]*\]|[^:]*):(?<port>\d{1,5})$/

/** Reads `host`, `*.host`, `host:port`, an IP address (`[v6]:port` with a port) or a CIDR block. */
export const parseDestination = (text: string, where: string): Endpoint => {
  const reject: Reject = (problem, fix = USUAL) => fail('host-malformed', { where, entry: text, problem, fix })
  if (text.includes('://')) throw reject('it is a URL', hostOfUrl(text))
  if (text.includes('@'))
    throw reject('it contains "@"', `leave out what stands before it: ${text.replace(/^.*@/s, '')}`)
  if (text === '*')
    throw reject(
      'no host is named so',
      'list the hosts that are needed, such as *.example.org; the whole network is network: all (--net all), ' +
        'which the proxy is not on the way of',
    )
  if (/[,\s]/.test(text.trim()))
    throw reject('it has several hosts in it', eachByItself(text.split(/[,\s]+/).filter((host) => host !== '')))
  if (text.includes('/')) return { destination: { kind: 'cidr', cidr: parseCidr(text, reject) }, port: { kind: 'web' } }

  const { host = text, port } = WITH_PORT.exec(text)?.groups ?? {}
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  const address = parseIpAddress(bare)
  if (bare !== host && address?.family !== 6) throw reject('only an IPv6 address stands in brackets')
  return {
    destination: address === undefined ? parseNamed(bare, reject) : { kind: 'address', address },
    port: port === undefined ? { kind: 'web' } : parsePort(port, reject),
  }
}

type Reject = (problem: string, fix?: string) => CordonError

const USUAL =
  'write a host as api.example.org, *.example.org, api.example.org:8443, 192.0.2.1, [2001:db8::1]:8443 or 10.0.0.0/8'

const eachByItself = (hosts: readonly string[]): string =>
  `write each by itself: network: [ ${hosts.join(', ')} ], or ${hosts.map((host) => `--net ${host}`).join(' ')}`

/** Advice for a URL in place of a host. Its path belongs into "paths". */
const hostOfUrl = (text: string): string => {
  if (!URL.canParse(text)) return USUAL
  const { host, pathname } = new URL(text)
  return host === ''
    ? USUAL
    : `name the host: ${host}${pathname === '/' || pathname === '' ? '' : `; in a policy file paths can be named besides: { host: ${host}, paths: [ ${pathname} ] }`}`
}

const parsePort = (text: string, reject: Reject): PortGrant => {
  const port = Number(text)
  if (port < 1 || port > 65535 || text.startsWith('0')) throw reject('the port must be a number from 1 to 65535')
  return { kind: 'port', port }
}

const parseNamed = (text: string, reject: Reject): Destination => {
  const below = text.startsWith('*.')
  const name = below ? text.slice(2) : text
  if (name.includes('*')) throw reject('a "*" may stand only for the first part, as in *.example.org')
  const parsed = parseHostName(name)
  if (parsed.kind === 'problem') throw reject(parsed.problem)
  return { kind: below ? 'subdomains' : 'host', host: parsed.host }
}

/** One spelling per destination, for comparisons and messages. */
export const renderDestination = ({ destination, port }: Endpoint): string => {
  const suffix = port.kind === 'web' ? '' : `:${port.port}`
  switch (destination.kind) {
    case 'host':
      return `${destination.host}${suffix}`
    case 'subdomains':
      return `*.${destination.host}${suffix}`
    case 'cidr':
      return renderCidr(destination.cidr)
    case 'address': {
      const text = renderIpAddress(destination.address)
      return suffix !== '' && destination.address.family === 6 ? `[${text}]${suffix}` : `${text}${suffix}`
    }
  }
}
