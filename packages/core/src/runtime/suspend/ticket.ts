// A ticket: the sealed proof with which a suspended call goes on, in this process or in another one. Its contents can
// be read by everybody and changed by nobody without the key.
import { bug, fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { hashOf, openText, sealText } from '../../gate/index.js'
import type { JsonObject, JsonValue, PermissionDecision } from '../../gate/index.js'

export interface TicketSettings {
  /**
   * At least 32 bytes, known only to the hosts that resume calls. In a list the first key signs, and tickets of all of
   * them are good: put a new key first, and remove the old one when its last ticket has expired.
   */
  readonly key: Uint8Array | readonly Uint8Array[]
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
  /** A hash of the code that the call would run, and of its place. */
  readonly code: string
  /** Who asked, and in which way the rules asked. */
  readonly principal: string
  readonly session: string
  readonly question: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** The call in the registry, where the approval lives; null without a registry. */
  readonly invocation: string | null
}

const FORM = 'cordon-ticket-2'

export const keysOf = ({ key }: TicketSettings): readonly Uint8Array[] => (key instanceof Uint8Array ? [key] : key)

export const sealTicket = (ticket: Ticket, settings: TicketSettings): string => {
  const [key = bug('tickets without a key')] = keysOf(settings)
  return sealText(FORM, { ...ticket }, key)
}

export const openTicket = (text: unknown, settings: TicketSettings): Ticket => {
  const opened = typeof text === 'string' ? keysOf(settings).map((key) => openText(FORM, text, key)) : []
  const [value] = opened.flatMap((each) => (each.kind === 'value' ? [each.value] : []))
  if (value !== undefined) return value as JsonObject & Ticket
  throw opened.some((each) => each.kind === 'refused' && each.problem === 'forged')
    ? ticketRefused('was changed, or signed with another key', 'use the ticket as it was given, and the same key')
    : ticketRefused('is not a ticket', 'use the ticket of the pending result')
}

export const ticketRefused = (problem: string, fix = 'make the call again'): CordonError =>
  fail('ticket-refused', { problem, fix })

/** Which rules asked, and in whose name. Where this has changed, an approval of before is for another question. */
export const questionOf = ({ decision_source, rule_refs, destructive }: PermissionDecision): string =>
  hashOf({ source: decision_source, rules: [...rule_refs].sort(), destructive })
