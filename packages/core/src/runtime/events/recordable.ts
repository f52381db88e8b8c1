import { bug } from '../../errors/index.js'

import { cut, redactText } from './redact.js'

const MAX_DEPTH = 64
/** Tools determine some texts of an event: error messages, names of files and hosts. */
const MAX_TEXT = 16 * 1024

/**
 * A frozen copy of nothing but JSON, so that the record and the listeners get the same, and nobody can change it. Long
 * texts are cut, and text that looks like a secret is redacted.
 */
export const recordable = <Value>(value: Value): Value => copy(value, 0) as Value

const copy = (value: unknown, depth: number): unknown => {
  if (depth > MAX_DEPTH) return bug(`an event is nested more than ${MAX_DEPTH} deep`)
  switch (typeof value) {
    case 'string':
      return redactText(cut(value, MAX_TEXT))
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
    default:
      return null
  }
}

// A loop, because it is fast and runs for every event.
const copyMapping = (mapping: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> => {
  const copied: Record<string, unknown> = {}
  // Sorted, so that JSON.stringify writes canonical JSON.
  for (const key of Object.keys(mapping).sort()) {
    // Setting __proto__ would change the prototype of the copy.
    if (key !== '__proto__' && mapping[key] !== undefined) copied[key] = copy(mapping[key], depth + 1)
  }
  return copied
}
