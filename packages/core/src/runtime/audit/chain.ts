// One line of the log. The whole line is canonical JSON (RFC 8785), so every changed byte shows:
//
//   {"event":{…},"hash":"sha256:…","previous":"sha256:…","sequence":7}
//
// `hash` is the hash of the other three fields, `previous` that of the line before.
import { createHash } from 'node:crypto'

import { canonicalJson } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import type { CordonEvent } from '../events/event.js'

/** Longer lines are neither written nor read. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

/** How far a chain has come. */
export interface ChainEnd {
  readonly sequence: number
  readonly hash: string
}

export const CHAIN_BEGIN: ChainEnd = { sequence: 0, hash: `sha256:${'0'.repeat(64)}` }

export interface AuditLine {
  readonly sequence: number
  readonly previous: string
  readonly hash: string
  readonly event: CordonEvent
}

export const hashText = (text: string | Uint8Array): string =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`

const hashOfParts = (event: string, previous: string, sequence: number): string =>
  hashText(`{"event":${event},"previous":${JSON.stringify(previous)},"sequence":${sequence}}`)

/** The line after `end`, with its line feed, and the new end. */
export const sealLine = (end: ChainEnd, event: CordonEvent): { readonly text: string; readonly end: ChainEnd } => {
  const sequence = end.sequence + 1
  const eventText = canonicalJson(event as unknown as JsonValue)
  const hash = hashOfParts(eventText, end.hash, sequence)
  return {
    text: `{"event":${eventText},"hash":"${hash}","previous":"${end.hash}","sequence":${sequence}}\n`,
    end: { sequence, hash },
  }
}

export type ReadLine =
  | { readonly kind: 'line'; readonly line: AuditLine; readonly isIntact: boolean }
  | { readonly kind: 'unreadable'; readonly problem: string }

/** Reads a line without its line feed. `isIntact`: no byte was changed. */
export const readLine = (text: string): ReadLine => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'unreadable', problem: text.trim() === '' ? 'it is empty' : 'it is no JSON' }
  }
  if (!isLine(value)) return { kind: 'unreadable', problem: 'it lacks sequence, previous, hash or event' }
  const event = canonicalJson(value.event as unknown as JsonValue)
  const isIntact =
    value.hash === hashOfParts(event, value.previous, value.sequence) &&
    canonicalJson(value as unknown as JsonValue) === text
  return { kind: 'line', line: value, isIntact }
}

const HASH = /^sha256:[0-9a-f]{64}$/

const isLine = (value: unknown): value is AuditLine => {
  if (typeof value !== 'object' || value === null) return false
  const { sequence, previous, hash, event } = value as Readonly<Record<string, unknown>>
  return (
    Number.isSafeInteger(sequence) &&
    [previous, hash].every((each) => typeof each === 'string' && HASH.test(each)) &&
    typeof event === 'object' &&
    typeof (event as { type?: unknown } | null)?.type === 'string'
  )
}
