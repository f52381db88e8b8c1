// RFC 8785: one text per value, so that equal arguments have equal hashes whatever the order of
// their keys. Numbers and strings are written by JSON.stringify, which is what the RFC refers to.
import crypto from 'node:crypto'

import { isSnapshot } from './json-value.js'
import type { JsonObject, JsonValue } from './json-value.js'

export const canonicalJson = (value: JsonValue): string => {
  const unordered = new Set<JsonValue>()
  markUnordered(value, unordered)
  return write(value, unordered)
}

/**
 * Whether all keys stand in order, down to the last. Lists and mappings of which that is not true are put into a set,
 * so that each is looked at once however deep it lies.
 */
const markUnordered = (value: JsonValue, unordered: Set<JsonValue>): boolean => {
  if (typeof value !== 'object' || value === null) return true
  let isOrdered = true
  if (isList(value)) {
    for (const item of value) if (!markUnordered(item, unordered)) isOrdered = false
  } else {
    let last = ''
    for (const key of Object.keys(value)) {
      if (!markUnordered(value[key] ?? null, unordered) || key < last) isOrdered = false
      last = key
    }
  }
  if (!isOrdered) unordered.add(value)
  return isOrdered
}

/** Most arguments come with their keys in order, and then the built-in writer says the same, faster. */
const write = (value: JsonValue, unordered: ReadonlySet<JsonValue>): string => {
  if (typeof value !== 'object' || value === null || !unordered.has(value)) return JSON.stringify(value)
  if (isList(value)) return `[${value.map((item) => write(item, unordered)).join(',')}]`
  // Sorted by UTF-16 code units, which is what comparing strings does here.
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${write(value[key] ?? null, unordered)}`).join(',')}}`
}

export const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

export const isMapping = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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

/**
 * The same in steps, for values that are too large for one turn of an event loop: each step writes and hashes some
 * 64 Ki letters. Afterwards `sizeOf` knows the answer of a snapshot at once.
 */
export function* sizeInSteps(value: JsonValue): Generator<undefined, Sized> {
  const known = isSnapshot(value) ? KNOWN.get(value) : undefined
  if (known !== undefined) return known
  const hash = crypto.createHash('sha256')
  let bytes = 0
  let text = ''
  for (const piece of piecesOf(value)) {
    text += piece
    if (text.length < LONG) continue
    bytes += Buffer.byteLength(text)
    hash.update(text)
    text = ''
    yield
  }
  hash.update(text)
  const sized = { hash: `sha256:${hash.digest('hex')}`, bytes: bytes + Buffer.byteLength(text) }
  if (isSnapshot(value)) KNOWN.set(value, sized)
  return sized
}

/** The canonical text, in pieces that are short. */
function* piecesOf(value: JsonValue): Generator<string, void> {
  if (typeof value === 'string') yield* piecesOfText(value)
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value)
  else if (isList(value)) {
    yield '['
    for (const [at, item] of value.entries()) {
      if (at > 0) yield ','
      yield* piecesOf(item)
    }
    yield ']'
  } else {
    yield '{'
    for (const [at, key] of Object.keys(value).sort().entries()) {
      if (at > 0) yield ','
      yield* piecesOfText(key)
      yield ':'
      yield* piecesOf(value[key] ?? null)
    }
    yield '}'
  }
}

function* piecesOfText(text: string): Generator<string, void> {
  if (text.length <= LONG) {
    yield JSON.stringify(text)
    return
  }
  yield '"'
  for (let at = 0; at < text.length;) {
    const end = Math.min(at + LONG, text.length)
    // Both halves of a character belong together.
    const after = end < text.length && isFirstHalf(text.charCodeAt(end - 1)) ? end + 1 : end
    yield JSON.stringify(text.slice(at, after)).slice(1, -1)
    at = after
  }
  yield '"'
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** `sha256:…` of the canonical text. */
export const hashOf = (value: JsonValue): string => sizeOf(value).hash

export const hashOfText = (text: string | Uint8Array): string => `sha256:${digestOf(text)}`

// In one step where this Node has it (20.12), which takes half the time for what is short.
const digestOf = (text: string | Uint8Array): string =>
  typeof crypto.hash === 'function'
    ? crypto.hash('sha256', text)
    : crypto.createHash('sha256').update(text).digest('hex')
