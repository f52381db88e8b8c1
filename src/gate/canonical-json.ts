// RFC 8785: one text per value, so that equal arguments have equal hashes whatever the order of
// their keys. Numbers and strings are written by JSON.stringify, which is what the RFC refers to.
import crypto from 'node:crypto'

import { isSnapshot } from './json-value.js'
import type { JsonObject, JsonValue } from './json-value.js'

export const canonicalJson = (value: JsonValue): string => (isInOrder(value) ? JSON.stringify(value) : writeInOrder(value))

/** Most arguments come with their keys in order, and then the built-in writer says the same, faster. */
const isInOrder = (value: JsonValue): boolean => {
  if (typeof value !== 'object' || value === null) return true
  if (isList(value)) return value.every(isInOrder)
  let last = ''
  for (const key of Object.keys(value)) {
    if (key < last || !isInOrder(value[key] ?? null)) return false
    last = key
  }
  return true
}

const writeInOrder = (value: JsonValue): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  // What is in order within is still left to the built-in writer.
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  // Sorted by UTF-16 code units, which is what comparing strings does here.
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`
}

export const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

export const isMapping = (value: JsonValue | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Sized {
  /** `sha256:…` of the canonical text. */
  readonly hash: string
  /** Of the canonical text. */
  readonly bytes: number
}

// Of snapshots alone: they never change, and neither does their hash.
const KNOWN = new WeakMap<object, Sized>()

export const sizeOf = (value: JsonValue): Sized => {
  const known = isSnapshot(value) ? KNOWN.get(value) : undefined
  if (known !== undefined) return known
  const text = canonicalJson(value)
  // What is long is made into bytes once, for both.
  const bytes = text.length > LONG ? Buffer.from(text) : undefined
  const sized = { hash: hashOfText(bytes ?? text), bytes: bytes?.length ?? Buffer.byteLength(text) }
  if (isSnapshot(value)) KNOWN.set(value, sized)
  return sized
}

const LONG = 65_536

/** `sha256:…` of the canonical text. */
export const hashOf = (value: JsonValue): string => sizeOf(value).hash

export const hashOfText = (text: string | Uint8Array): string => `sha256:${digestOf(text)}`

// In one step where this Node has it (20.12), which takes half the time for what is short.
const digestOf = (text: string | Uint8Array): string => (typeof crypto.hash === 'function' ? crypto.hash('sha256', text) : crypto.createHash('sha256').update(text).digest('hex'))
