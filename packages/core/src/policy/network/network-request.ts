import type { HostName } from './host-name.js'
import { parseHostName } from './host-name.js'
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
