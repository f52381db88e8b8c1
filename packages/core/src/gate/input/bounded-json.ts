// The reader for all JSON that a tool or a server wrote. Parsing and hashing a hostile value can block the event loop
// for seconds and take a hundred times its size, so the reader measures the bytes first.
import { adoptParsed } from './json-value.js'
import type { JsonValue } from './json-value.js'
import { thrownMessage } from '../thrown-message.js'

export interface JsonLimits {
  /** Of the text, in UTF-8. */
  readonly bytes: number
  /** Values and keys together. */
  readonly elements: number
  /** Lists and mappings within each other. */
  readonly depth: number
}

export type BoundedJson =
  | { readonly kind: 'json'; /** Frozen, and nobody else has it. */ readonly value: JsonValue }
  | { readonly kind: 'too-large'; readonly problem: string }
  | { readonly kind: 'problem'; readonly problem: string }

/**
 * `keys`: whether a key that occurs twice is refused, or the last one counts. JSON.parse takes the last, other readers
 * take the first, and the gate must judge what everybody else reads.
 */
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
    return { kind: 'problem', problem: `is not JSON: ${thrownMessage(error)}` }
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
 * What is too large about a text, in words. It looks at every byte at most once, and leaves invalid JSON to the parser.
 */
export const excessOf = (bytes: Readonly<ArrayLike<number>>, limits: JsonLimits): string | undefined => {
  if (bytes.length > limits.bytes) return `it has ${bytes.length} bytes, and may have ${limits.bytes}`
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
        if (depth > limits.depth) return `it is nested more than ${limits.depth} deep`
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
    if (elements > limits.elements) return `it has more than ${limits.elements} values and keys`
  }
  return undefined
}

/** A key that one object has twice. Only for texts that JSON.parse accepts: it looks at strings and punctuation. */
const repeatedKey = (text: string): string | undefined => {
  const open: (Set<string> | undefined)[] = []
  let lastString: string | undefined
  for (let at = 0; at < text.length; at += 1) {
    const token = text.charAt(at)
    // By hand: a regular expression would need stack for each letter of a long string.
    if (token === '"') {
      const start = at
      at += 1
      while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1
      lastString = text.slice(start, at + 1)
      continue
    }
    if (!'{}[],:'.includes(token)) continue
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':' && lastString !== undefined) {
      // With escapes, one key has many spellings.
      const key = JSON.parse(lastString) as string
      const keys = open.at(-1)
      if (keys?.has(key) === true) return key
      keys?.add(key)
    }
    lastString = undefined
  }
  return undefined
}
