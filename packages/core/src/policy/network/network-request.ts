// Hosts as tools and policies name them, and what a tool asks of one.
import type { IpAddress } from './ip-address.js'
import { parseIpAddress, renderIpAddress } from './ip-address.js'
import type { PathReadings } from './url-path.js'

export type RequestHost =
  { readonly kind: 'name'; readonly name: HostName } | { readonly kind: 'address'; readonly address: IpAddress }

/**
 * - `http`: one request that the proxy reads. Each of its `paths` must be allowed, because some server reads it so
 * - `stream`: a connection that may carry anything
 * - `direct`: a connection that the proxy does not look into
 */
export type NetworkUse =
  | { readonly kind: 'http'; readonly method: string; readonly paths: PathReadings }
  | { readonly kind: 'stream' }
  | { readonly kind: 'direct' }

export interface NetworkRequest {
  readonly host: RequestHost
  readonly port: number
  readonly use: NetworkUse
}

export const renderHost = (host: RequestHost): string =>
  host.kind === 'name' ? host.name : renderIpAddress(host.address)

/** A host in the spelling of a program: an address, `[v6]`, or a name in any case, with or without a final dot. */
export const parseRequestHost = (text: string): RequestHost | undefined => {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const address = parseIpAddress(bare)
  if (address !== undefined) return bare === text || address.family === 6 ? { kind: 'address', address } : undefined
  const parsed = parseHostName(text.endsWith('.') ? text.slice(0, -1) : text)
  return parsed.kind === 'host' ? { kind: 'name', name: parsed.host } : undefined
}

declare const hostNameBrand: unique symbol

/** A lower-case DNS name in ASCII, without a trailing dot, that no program can mistake for an IP address. */
export type HostName = string & { readonly [hostNameBrand]: true }

export type ParsedHostName =
  { readonly kind: 'host'; readonly host: HostName } | { readonly kind: 'problem'; readonly problem: string }

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
// The URL standard reads a name whose last label looks like a number as an IPv4 address.
const NUMERIC_LABEL = /^(\d+|0x[0-9a-f]*)$/
const ASCII = /^[\x00-\x7f]*$/

const problem = (text: string): ParsedHostName => ({ kind: 'problem', problem: text })

export const parseHostName = (text: string): ParsedHostName => {
  const host = text.toLowerCase()
  if (host === '') return problem('it is empty')
  if (!ASCII.test(text)) return problem('it is not ASCII; write its punycode form (xn--…)')
  if (host.endsWith('.')) return problem('it ends in a dot')
  if (host.length > 253) return problem('it is longer than 253 characters')
  const labels = host.split('.')
  const bad = labels.find((label) => !LABEL.test(label))
  if (bad !== undefined) return problem(`"${bad}" is not a valid part of a host name`)
  if (NUMERIC_LABEL.test(labels.at(-1) ?? '')) return problem('it could be read as an IP address in an unusual form')
  return { kind: 'host', host: host as HostName }
}
