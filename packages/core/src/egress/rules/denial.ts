import { isWebPort, renderHost } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'
import { renderEndpoint } from '../endpoint.js'
import type { SlotLimits } from '../slots.js'

/**
 * - `not-granted`: no entry covers it
 * - `denied`: an entry denies it
 * - `read-only`: the egress class permits only reading
 * - `unapproved`: it would write, and no approval was recorded
 * - `address`: the address is not public, and not granted
 * - `mismatch`: the connection, its TLS and its requests name different hosts
 * - `protocol`: only HTTP is granted, and this is not HTTP
 * - `malformed`: it has more than one reading
 * - `too-many`: the call or the runtime has reached its number of connections or requests
 */
export type DenialReason =
  'not-granted' | 'denied' | 'read-only' | 'unapproved' | 'address' | 'mismatch' | 'protocol' | 'malformed' | 'too-many'

export interface Denial {
  readonly kind: 'denial'
  readonly reason: DenialReason
  /** One sentence without the destination, safe to show to a model. */
  readonly because: string
  /** The policy line that would allow it, if there is one. */
  readonly allow: string | undefined
}

export const denial = (reason: DenialReason, because: string, allow?: string): Denial => ({
  kind: 'denial',
  reason,
  because,
  allow,
})

/** Thrown for a denial that is found while a connection or request is made. */
export class EgressDenied extends Error {
  readonly denial: Denial
  constructor(why: Denial) {
    super(why.because)
    this.denial = why
  }
}

export const tooManyConnections = ({ perCall, perRuntime }: SlotLimits): Denial =>
  denial(
    'too-many',
    `a call may hold ${perCall} connections at the same time, and all calls together ${perRuntime}: close ` +
      'some before opening more',
  )

export const tooManyExchanges = ({ perCall, perRuntime }: SlotLimits): Denial =>
  denial(
    'too-many',
    `a call may have ${perCall} unfinished requests at the same time, and all calls together ${perRuntime}: ` +
      'read their answers before asking for more',
  )

/** The narrowest entry that would grant a destination. */
export const grantLine = (endpoint: Endpoint, request?: { readonly method: string; readonly path: string }): string => {
  const host = JSON.stringify(isWebPort(endpoint.port) ? renderHost(endpoint.host) : renderEndpoint(endpoint))
  return request === undefined
    ? `network: [${host}]`
    : `network: [{ host: ${host}, methods: [${request.method}], paths: [${JSON.stringify(request.path)}] }]`
}
