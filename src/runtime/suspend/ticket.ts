// A ticket: the sealed proof with which a suspended call goes on, in this process or in another one. Its contents can
// be read by everybody and changed by nobody without the key.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { hashOf, openText, sealText } from '../../gate/index.js'
import type { JsonObject, JsonValue, PermissionDecision } from '../../gate/index.js'

export interface TicketSettings {
  /** At least 32 bytes, known only to the hosts that resume calls. */
  readonly key: Uint8Array
  /**
   * A folder that these hosts share. Used tickets are marked there, so that each is used once. With a registry it is
   * not needed: the registry lets a call run once.
   */
  readonly folder?: string
  /** Milliseconds until a ticket expires (default: 24 hours). */
  readonly lifetime?: number
}

export const TICKET_LIFETIME = 24 * 60 * 60_000

/** What a ticket is bound to. */
export interface Ticket {
  /** Of the approval that the call waits for. */
  readonly id: string
  readonly callId: string
  readonly tool: string
  /** As the model sent it. */
  readonly input: JsonValue
  readonly argumentsHash: string
  readonly policyHash: string
  /** A hash of the tool's code and its place. */
  readonly toolMark: string
  /** Who asked, and in which way the rules asked. */
  readonly principal: string
  readonly session: string
  readonly question: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** The call in the registry, where the approval lives; null without a registry. */
  readonly invocation: string | null
}

const FORM = 'cordon-ticket-1'

export const sealTicket = (ticket: Ticket, key: Uint8Array): string => sealText(FORM, { ...ticket }, key)

export const openTicket = (text: unknown, { key }: TicketSettings): Ticket => {
  const opened =
    typeof text === 'string' ? openText(FORM, text, key) : ({ kind: 'refused', problem: 'malformed' } as const)
  if (opened.kind === 'value') return opened.value as JsonObject & Ticket
  throw opened.problem === 'forged'
    ? ticketRefused('was changed, or signed with another key', 'use the ticket as it was given, and the same key')
    : ticketRefused('is not a ticket', 'use the ticket of the pending result')
}

export const ticketRefused = (problem: string, fix = 'make the call again'): CordonError =>
  fail('ticket-refused', { problem, fix })

/** Which rules asked, and in whose name. Where this has changed, an approval of before is for another question. */
export const questionOf = ({ decision_source, rule_refs, destructive }: PermissionDecision): string =>
  hashOf({ source: decision_source, rules: [...rule_refs].sort(), destructive })
