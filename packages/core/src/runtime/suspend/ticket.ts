// A ticket: the sealed proof with which a suspended call goes on, in this process or in another one. Its contents can
// be read by everybody and changed by nobody without the key.
import { closeSync, fsyncSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { bug, codeOf, fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { hashOf, openText, sealText } from '../../gate/index.js'
import type { JsonObject, JsonValue, PermissionDecision } from '../../gate/index.js'
import { makeFolders } from '../../platform/index.js'

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

/** Marks a ticket as used. Throws where it was used before, or where that cannot be found out. */
export type UseTicket = (ticket: Ticket) => void

const CLOCKS_DIFFER_MS = 24 * 60 * 60_000
const OTHERS_WRITE = 0o022
const MARK = /^(\d{1,16})-[0-9A-Za-z-]{1,64}$/

/**
 * Marks used tickets as files in a folder that all hosts share. Making a file that must not exist is one step for the
 * kernel, so that of two hosts that show the same ticket at once only one goes on.
 */
export const openUsedTickets = (folder: string, now: () => number): UseTicket => {
  const inFolder = <Result>(act: () => Result): Result => {
    try {
      return act()
    } catch (cause) {
      throw fail('tickets-unwritable', { path: folder, problem: codeOf(cause) ?? String(cause) }, cause)
    }
  }
  inFolder(() => {
    makeFolders(folder, 0o700)
  })
  // Whoever removes a mark makes its ticket good again.
  const { mode, uid } = inFolder(() => statSync(folder))
  if ((mode & OTHERS_WRITE) !== 0 || (uid !== 0 && uid !== process.geteuid?.()))
    throw fail('tickets-unsafe', {
      path: folder,
      problem: (mode & OTHERS_WRITE) === 0 ? 'belongs to another user' : 'can be written by other users',
    })
  inFolder(() => {
    // An expired ticket is refused for that, so its mark is not needed any more. Clocks of hosts differ.
    for (const name of readdirSync(folder)) {
      const [, expiresAt] = MARK.exec(name) ?? []
      if (expiresAt !== undefined && Number(expiresAt) + CLOCKS_DIFFER_MS <= now())
        rmSync(join(folder, name), { force: true })
    }
  })
  return ({ id, expiresAt }) => {
    const isFirst = inFolder(() => mark(join(folder, `${expiresAt}-${id}`)))
    if (!isFirst) throw ticketRefused('was used before')
    // The mark has to outlive a crash of this host: the call runs next.
    inFolder(() => {
      const held = openSync(folder, 'r')
      try {
        fsyncSync(held)
      } finally {
        closeSync(held)
      }
    })
  }
}

const mark = (path: string): boolean => {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}
