// The events of the network. The receiver adds time and number.
import { renderHost } from '../policy/index.js'
import type { Endpoint } from './endpoint.js'
import type { Protocol } from './http/exchange.js'
import type { Denial, DenialReason } from './rules/denial.js'

export interface OfConnection {
  readonly call_id: string
  /** Counts the connections of a call. */
  readonly connection: number
  readonly host: string
  readonly port: number
}

/** Recorded before anything is sent. */
export interface ConnectionOpened extends OfConnection {
  readonly type: 'egress.opened'
  readonly treatment: 'http' | 'stream' | 'direct'
}

export interface ConnectionClosed extends OfConnection {
  readonly type: 'egress.closed'
  /** Bytes that were passed on unread. Requests have their own events. */
  readonly bytes_sent: number
  readonly bytes_received: number
  readonly duration_ms: number
  /** An error code of docs/errors.md. */
  readonly problem: string | null
}

export interface RequestDone extends OfConnection {
  readonly type: 'egress.request'
  readonly protocol: Protocol
  readonly scheme: 'http' | 'https'
  readonly method: string
  /** Without the query. Placeholders are not replaced. */
  readonly path: string
  /** Null if there was no answer. */
  readonly status: number | null
  readonly bytes_sent: number
  readonly bytes_received: number
  readonly duration_ms: number
  readonly rule: string
  readonly credentials: readonly string[]
  /** How often a credential was taken out of the answer. */
  readonly redactions: number
  readonly problem: string | null
}

export interface EgressViolation {
  readonly kind: 'egress'
  readonly host: string
  readonly port: number
  readonly method: string | null
  readonly path: string | null
  readonly reason: DenialReason
  readonly because: string
  /** The policy line that would allow it. */
  readonly allow: string | null
}

export interface ViolationSeen {
  readonly type: 'sandbox.violation'
  readonly call_id: string
  readonly violation: EgressViolation
}

export type ConnectionEvent = ConnectionOpened | ConnectionClosed | RequestDone

export type EgressEvent = ConnectionEvent | ViolationSeen

/** A rejection closes the connection: what cannot be recorded does not happen. */
export type RecordEvent = (event: EgressEvent) => void | Promise<void>

/** `endpoint`: undefined for a connection to the proxy that named no host yet. */
export const violationSeen = (
  callId: string,
  endpoint: Endpoint | undefined,
  { reason, because, allow }: Denial,
  request?: { readonly method: string; readonly path: string },
): ViolationSeen => ({
  type: 'sandbox.violation',
  call_id: callId,
  violation: {
    kind: 'egress',
    host: endpoint === undefined ? '' : renderHost(endpoint.host),
    port: endpoint?.port ?? 0,
    method: request?.method ?? null,
    path: request?.path ?? null,
    reason,
    because,
    allow: allow ?? null,
  },
})

/** For an event that has happened, whether or not it can be recorded. */
export const recordIfPossible = async (record: RecordEvent, event: EgressEvent): Promise<void> => {
  try {
    await record(event)
  } catch {
    // The connection is closed already, or refused.
  }
}

const LONGEST_PATH = 1_024

/** The path for the record, shortened: the tool decides how long it is. */
export const pathOf = (target: string): string => {
  const path = target.replace(/\?.*$/s, '')
  return path.length <= LONGEST_PATH ? path : `${path.slice(0, LONGEST_PATH)}… (${path.length - LONGEST_PATH} more)`
}
