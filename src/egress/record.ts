// What happens on the network, as typed facts. The one who receives them adds time and number.
import type { Endpoint } from './endpoint.js'
import { renderHost } from './endpoint.js'
import type { Protocol } from './http/exchange.js'
import type { Denial, DenialReason } from './rules/denial.js'
import { denial } from './rules/denial.js'

interface OfConnection {
  readonly call_id: string
  /** Counts the connections of a call. */
  readonly connection: number
  readonly host: string
  readonly port: number
}

/** Before anything is sent to anybody. */
export interface ConnectionOpened extends OfConnection {
  readonly type: 'egress.opened'
  readonly treatment: 'http' | 'stream' | 'direct'
}

export interface ConnectionClosed extends OfConnection {
  readonly type: 'egress.closed'
  /** What passed by unread, in either direction; requests have their own events. */
  readonly bytes_sent: number
  readonly bytes_received: number
  readonly duration_ms: number
  /** What went wrong: an entry of docs/errors.md. */
  readonly problem: string | null
}

export interface RequestDone extends OfConnection {
  readonly type: 'egress.request'
  readonly protocol: Protocol
  readonly scheme: 'http' | 'https'
  readonly method: string
  /** Without the query, and with placeholders where they stood. */
  readonly path: string
  /** Null when there was no answer. */
  readonly status: number | null
  readonly bytes_sent: number
  readonly bytes_received: number
  readonly duration_ms: number
  /** The entry of the policy that granted it. */
  readonly rule: string
  /** Credentials that were put into it, by their ids. */
  readonly credentials: readonly string[]
  /** How often a credential was taken out of the answer. */
  readonly redactions: number
  /** What went wrong, without any value. */
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
  /** The line of a policy that would allow it. */
  readonly allow: string | null
}

export interface ViolationSeen {
  readonly type: 'sandbox.violation'
  readonly call_id: string
  readonly violation: EgressViolation
}

/** What happened to a connection that was granted. */
export type ConnectionEvent = ConnectionOpened | ConnectionClosed | RequestDone

export type EgressEvent = ConnectionEvent | ViolationSeen

/** What cannot be recorded does not happen: a rejection closes the connection. */
export type RecordEvent = (event: EgressEvent) => void | Promise<void>

export const violationSeen = (
  callId: string,
  endpoint: Endpoint,
  { reason, because, allow }: Denial,
  request?: { readonly method: string; readonly path: string },
): ViolationSeen => {
  const host = renderHost(endpoint.host)
  const violation: EgressViolation = {
    kind: 'egress',
    host,
    port: endpoint.port,
    method: request?.method ?? null,
    path: request?.path ?? null,
    reason,
    because,
    allow: allow ?? null,
  }
  return { type: 'sandbox.violation', call_id: callId, violation }
}

/** Of a connection to the proxy itself, which named no host yet. */
export const deniedSeen = (callId: string, { reason, because, allow }: Denial): ViolationSeen => {
  const violation: EgressViolation = {
    kind: 'egress',
    host: '',
    port: 0,
    method: null,
    path: null,
    reason,
    because,
    allow: allow ?? null,
  }
  return { type: 'sandbox.violation', call_id: callId, violation }
}

/** What a program said to the proxy that it was told of, and nobody can act on. */
export const malformedSeen = (callId: string, problem: string): ViolationSeen =>
  deniedSeen(callId, denial('malformed', problem))

const LONGEST_PATH = 1_024

/** As it is told of: a tool decides how long it is, and what stands in it. */
export const pathOf = (target: string): string => {
  const path = target.replace(/\?.*$/s, '')
  return path.length <= LONGEST_PATH ? path : `${path.slice(0, LONGEST_PATH)}… (${path.length - LONGEST_PATH} more)`
}
