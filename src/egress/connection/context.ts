import type { ActiveCall } from '../call.js'
import type { Endpoint } from '../endpoint.js'
import type { TlsAuthority } from '../authority/tls-authority.js'
import type { SecretStore } from '../credentials/secret-store.js'
import type { Places } from '../places.js'
import type { RecordEvent } from '../record.js'
import type { UpstreamTls } from '../upstream/dial.js'
import type { Pool } from '../upstream/pool.js'
import type { Resolve } from '../upstream/resolve.js'

/** What all connections of a runtime share. */
export interface Shared {
  readonly authority: TlsAuthority
  readonly tls: UpstreamTls
  readonly pool: Pool
  readonly resolve: Resolve
  /**
   * Whether this process is itself inside a cell: names then lead to addresses that stand for them, and the outer proxy
   * judges the real ones.
   */
  readonly isNested: () => boolean
  readonly secrets: SecretStore
  readonly record: RecordEvent
  /** Connections of tools. */
  readonly connections: Places
  /** Requests that are being answered. */
  readonly exchanges: Places
  readonly now: () => number
}

/** One connection of a tool, to one endpoint. */
export interface Connection {
  readonly call: ActiveCall
  readonly number: number
  readonly endpoint: Endpoint
}
