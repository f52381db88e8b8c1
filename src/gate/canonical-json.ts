// RFC 8785: one text per value, so that equal arguments have equal hashes whatever the order of
// their keys. Numbers and strings are written by JSON.stringify, which is what the RFC refers to.
import { createHash } from 'node:crypto'

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
  if (isList(value)) return `[${value.map(writeInOrder).join(',')}]`
  // Sorted by UTF-16 code units, which is what comparing strings does here.
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${writeInOrder(value[key] ?? null)}`).join(',')}}`
}

export const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

export const isMapping = (value: JsonValue | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `sha256:…` of the canonical text. */
export const hashOf = (value: JsonValue): string => hashOfText(canonicalJson(value))

export const hashOfText = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
