import { bug } from '../../errors/index.js'

import { redactText } from './redact.js'

const MAX_DEPTH = 64
/**
 * A tool has a say in some texts of an event: what it threw, names of files and hosts. Nobody reads more of one than
 * this.
 */
const MAX_TEXT = 16 * 1024

/**
 * A frozen copy that consists of nothing but JSON, so that what is recorded is what listeners get and
 * nobody can change either. Every text is cut where it is very long, and loses what looks like a secret.
 */
export const recordable = <Value>(value: Value): Value => copy(value, 0) as Value

const copy = (value: unknown, depth: number): unknown => {
  if (depth > MAX_DEPTH) return bug(`an event is nested more than ${String(MAX_DEPTH)} deep`)
  switch (typeof value) {
    case 'string':
      return redactText(
        value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}… (${String(value.length - MAX_TEXT)} more)` : value,
      )
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'object':
      if (value === null) return null
      return Object.freeze(
        Array.isArray(value)
          ? value.map((item) => copy(item, depth + 1))
          : copyMapping(value as Readonly<Record<string, unknown>>, depth),
      )
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      return null
  }
}

// A loop, because every event of every call comes through here.
const copyMapping = (mapping: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> => {
  const copied: Record<string, unknown> = {}
  // In order, so that the record can be written by the built-in writer.
  for (const key of Object.keys(mapping).sort()) {
    // As a key it would change what the copy is.
    if (key !== '__proto__' && mapping[key] !== undefined) copied[key] = copy(mapping[key], depth + 1)
  }
  return copied
}
