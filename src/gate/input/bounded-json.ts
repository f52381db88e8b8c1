// The one reader for JSON that a tool or a server wrote. Parsing, copying and hashing a hostile value can hold the
// event loop for seconds and take a hundred times its size, so the bytes are measured before anything is made of them.
import { adoptParsed } from './json-value.js'
import type { JsonValue } from './json-value.js'
import { messageOf } from '../message-of.js'
import { repeatedKey } from './parse-json.js'

export interface JsonLimits {
  /** Of the text, in UTF-8. */
  readonly bytes: number
  /** Values and keys together. */
  readonly elements: number
  /** Lists and mappings within each other. */
  readonly depth: number
}

export type BoundedJson =
  | { readonly kind: 'json'; /** Frozen, and held by nobody else. */ readonly value: JsonValue }
  | { readonly kind: 'too-large'; readonly problem: string }
  | { readonly kind: 'problem'; readonly problem: string }

/** `keys`: whether a key that stands twice is refused, or the last one counts. */
export const readBoundedJson = (
  bytes: Uint8Array,
  limits: JsonLimits,
  keys: 'unique' | 'last-counts' = 'last-counts',
): BoundedJson => {
  const excess = excessOf(bytes, limits)
  if (excess !== undefined) return { kind: 'too-large', problem: excess }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    return { kind: 'problem', problem: `is not JSON: ${messageOf(error)}` }
  }
  const twice = keys === 'unique' ? repeatedKey(text) : undefined
  if (twice !== undefined)
    return { kind: 'problem', problem: `has the key ${JSON.stringify(twice)} twice in one object` }
  const adopted = adoptParsed(parsed)
  return adopted.kind === 'json'
    ? adopted
    : { kind: 'problem', problem: `${adopted.where === 'it' ? '' : `at ${adopted.where} `}${adopted.problem}` }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_MAPPING, CLOSE_MAPPING] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * What is too large about a text, in words. Looks at every byte at most once, and at none behind the first excess.
 * What is no JSON at all is measured as well as it can be, and left to the parser.
 */
export const excessOf = (bytes: Readonly<ArrayLike<number>>, limits: JsonLimits): string | undefined => {
  if (bytes.length > limits.bytes) return `it has ${String(bytes.length)} bytes, and may have ${String(limits.bytes)}`
  let depth = 0
  let elements = 1
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at += 1
        while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
        break
      case OPEN_LIST:
      case OPEN_MAPPING:
        depth += 1
        elements += 1
        if (depth > limits.depth) return `it is nested more than ${String(limits.depth)} deep`
        break
      case CLOSE_LIST:
      case CLOSE_MAPPING:
        depth -= 1
        break
      case COMMA:
      case COLON:
        elements += 1
        break
      default:
        continue
    }
    if (elements > limits.elements) return `it has more than ${String(limits.elements)} values and keys`
  }
  return undefined
}
