import { renderHost } from '../../policy/index.js'
import type { ActiveCall } from '../call.js'
import type { Endpoint } from '../endpoint.js'
import type { TlsAuthority } from '../authority/tls-authority.js'
import type { SecretStore } from '../credentials/secret-store.js'
import type { Slots } from '../slots.js'
import type { OfConnection, RecordEvent } from '../record.js'
import type { SecureUpstream } from '../upstream/dial.js'
import type { UpstreamPool } from '../upstream/pool.js'
import type { Resolve } from '../upstream/resolve.js'

export interface ProxyParts {
  readonly authority: TlsAuthority
  readonly secure: SecureUpstream
  readonly pool: UpstreamPool
  readonly resolve: Resolve
  /**
   * Whether this process is inside a cell. Names then resolve to stand-in addresses, and the outer proxy judges the
   * real ones.
   */
  readonly isNested: () => boolean
  readonly secrets: SecretStore
  readonly record: RecordEvent
  readonly connections: Slots
  readonly exchanges: Slots
  readonly now: () => number
}

export interface Connection {
  readonly call: ActiveCall
  readonly number: number
  readonly endpoint: Endpoint
}

/** The fields that all events of a connection have. */
export const placeOf = ({ call, number, endpoint }: Connection): OfConnection => ({
  call_id: call.rights.callId,
  connection: number,
  host: renderHost(endpoint.host),
  port: endpoint.port,
})
