import { fail } from '../errors/index.js'
import { MOST_REQUESTS_OF_CALL } from '../shapes/index.js'

import type { EgressCall } from './admitted-call.js'
import { admitCall } from './admitted-call.js'
import { createTlsAuthority } from './authority/tls-authority.js'
import type { CallRights } from './call.js'
import type { ProxyParts } from './connection/context.js'
import { requireUsable } from './credentials/inject.js'
import type { SecretStore } from './credentials/secret-store.js'
import type { SlotLimits } from './slots.js'
import { createSlots } from './slots.js'
import type { RecordEvent } from './record.js'
import { createSecureUpstream } from './upstream/dial.js'
import { createUpstreamPool } from './upstream/pool.js'
import type { Resolve } from './upstream/resolve.js'
import { systemResolver } from './upstream/resolve.js'

export interface EgressSettings {
  readonly secrets: SecretStore
  readonly record: RecordEvent
  /** More trusted authorities, in PEM. */
  readonly authorities?: readonly string[]
  readonly resolve?: Resolve
  /** Whether this process is inside a cell. Asked for each connection. */
  readonly isNested?: () => boolean
  readonly now?: () => number
  readonly connections?: SlotLimits
  readonly exchanges?: SlotLimits
}

/** The proxy of one runtime. Its secrets are only in the memory of this process. */
export interface Egress {
  /** The authority that cells have to trust, in PEM. */
  readonly authorityCertificate: string
  /** Opens the network for one call. Fails if a credential of the call has no usable value. */
  readonly admit: (rights: CallRights) => Promise<EgressCall>
  readonly close: () => void
}

/** An idle connection with TLS on both sides costs about 100 KB of memory. */
const CONNECTIONS: SlotLimits = { perCall: 512, perRuntime: 2_048, always: 16 }
/** An exchange whose answer the tool does not read costs about 500 KB. */
const EXCHANGES: SlotLimits = { perCall: MOST_REQUESTS_OF_CALL, perRuntime: 512, always: 8 }

export const createEgress = ({
  secrets,
  record,
  authorities = [],
  resolve = systemResolver(),
  isNested = () => false,
  now = Date.now,
  connections = CONNECTIONS,
  exchanges = EXCHANGES,
}: EgressSettings): Egress => {
  const authority = createTlsAuthority({ now })
  const secure = createSecureUpstream(authorities)
  const shared: ProxyParts = {
    authority,
    secure,
    pool: createUpstreamPool(secure, isNested),
    resolve,
    isNested,
    secrets,
    record,
    connections: createSlots(connections),
    exchanges: createSlots(exchanges),
    now,
  }
  const calls = new Set<EgressCall>()
  let isClosed = false
  return {
    authorityCertificate: authority.certificate,
    admit: async (rights) => {
      if (isClosed) throw fail('egress-closed', {})
      for (const credential of rights.credentials) secrets.check(credential)
      await Promise.all(
        rights.credentials.map(async (credential) => {
          requireUsable({ credential, value: (await secrets.get(credential.id)).reveal() })
        }),
      )
      const admitted = admitCall(rights, shared)
      const call: EgressCall = {
        ...admitted,
        end: () => {
          calls.delete(call)
          return admitted.end()
        },
      }
      calls.add(call)
      return call
    },
    close: () => {
      isClosed = true
      for (const call of calls) void call.end()
      shared.pool.close()
      secrets.close()
    },
  }
}
