// RFC 8785: one text per value, so that equal arguments have equal hashes whatever the order of
// their keys. Numbers and strings are written by JSON.stringify, which is what the RFC refers to.
import { createHash } from 'node:crypto'

import type { JsonObject, JsonValue } from './json-value.js'

export const canonicalJson = (value: JsonValue): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  // Sorted by UTF-16 code units, which is what comparing strings does here.
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`
}

export const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

export const isMapping = (value: JsonValue | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `sha256:…` of the canonical text. */
export const hashOf = (value: JsonValue): string => hashOfText(canonicalJson(value))

export const hashOfText = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
