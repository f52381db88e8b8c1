// RFC 8785: one text per value, so that equal arguments have equal hashes in any order of their keys. JSON.stringify
// writes numbers and strings, as the RFC requires.
import crypto from 'node:crypto'

import { isSnapshot } from './json-value.js'
import type { JsonValue } from './json-value.js'

export const canonicalJson = (value: JsonValue): string => {
  const unordered = new Set<JsonValue>()
  markUnordered(value, unordered)
  return write(value, unordered)
}

/**
 * Whether all keys are in order, at every depth. It collects the lists and mappings whose keys are not, so that each is
 * looked at once.
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

/** Most arguments have their keys in order. Then JSON.stringify writes the same text, faster. */
const write = (value: JsonValue, unordered: ReadonlySet<JsonValue>): string => {
  if (typeof value !== 'object' || value === null || !unordered.has(value)) return JSON.stringify(value)
  if (isList(value)) return `[${value.map((item) => write(item, unordered)).join(',')}]`
  // By UTF-16 code units, like every comparison of strings.
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${write(value[key] ?? null, unordered)}`).join(',')}}`
}

export const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

export interface HashAndSize {
  /** `sha256:…` of the canonical text. */
  readonly hash: string
  /** Of the canonical text. */
  readonly bytes: number
}

// Only of snapshots, because they never change.
const KNOWN = new WeakMap<object, HashAndSize>()

export const sizeOf = (value: JsonValue): HashAndSize => {
  const known = isSnapshot(value) ? KNOWN.get(value) : undefined
  if (known !== undefined) return known
  const text = canonicalJson(value)
  // A long text is encoded once, for the hash and for the size.
  const bytes = text.length > LONG ? Buffer.from(text) : undefined
  return remember(value, digestOf(bytes ?? text), bytes?.length ?? Buffer.byteLength(text))
}

const remember = (value: JsonValue, digest: string, bytes: number): HashAndSize => {
  const sized = { hash: `sha256:${digest}`, bytes }
  if (isSnapshot(value)) KNOWN.set(value, sized)
  return sized
}

const LONG = 65_536

/**
 * The same in steps, for values that are too large for one turn of the event loop: each step hashes about 64 Ki
 * letters. Afterwards `sizeOf` has the answer for a snapshot at once.
 */
export function* sizeInSteps(value: JsonValue): Generator<undefined, HashAndSize> {
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
  return remember(value, hash.digest('hex'), bytes + Buffer.byteLength(text))
}

/** The canonical text, in short pieces. */
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
    // Do not cut between the two halves of a character.
    const after = end < text.length && isFirstHalf(text.charCodeAt(end - 1)) ? end + 1 : end
    yield JSON.stringify(text.slice(at, after)).slice(1, -1)
    at = after
  }
  yield '"'
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** `sha256:…` of the canonical text. */
export const hashOf = (value: JsonValue): string => sizeOf(value).hash

// crypto.hash exists since Node 20.12, and takes half the time for a short text.
const digestOf = (text: string | Uint8Array): string =>
  typeof crypto.hash === 'function'
    ? crypto.hash('sha256', text)
    : crypto.createHash('sha256').update(text).digest('hex')
