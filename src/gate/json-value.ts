import { messageOf } from './message-of.js'

/** What arguments are made of. Anything else could mean one thing to the gate and another to the tool. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export type JsonObject = { readonly [key: string]: JsonValue }

export type Snapshot = { readonly kind: 'json'; readonly value: JsonValue } | { readonly kind: 'problem'; readonly where: string; readonly problem: string }

const MAX_DEPTH = 128
// Far more than 10 MB of JSON can hold, and few enough that an object that contains itself
// twice on every level is given up on.
const MAX_VALUES = 8_000_000

// With the u flag a pair is one character, so only halves are found.
const LONE_SURROGATE = /[\ud800-\udfff]/u

class NotJson extends Error {
  readonly where: string
  constructor(where: string, problem: string) {
    super(problem)
    this.where = where
  }
}

/**
 * A frozen copy that nobody else holds, so that what is judged is what runs. Every property is read
 * exactly once: a getter or a proxy cannot answer differently later.
 */
export const takeSnapshot = (value: unknown): Snapshot => {
  try {
    return { kind: 'json', value: copy(value, [], { values: 0 }) }
  } catch (error) {
    if (error instanceof NotJson) return { kind: 'problem', where: error.where, problem: error.message }
    return { kind: 'problem', where: 'it', problem: `cannot be read: ${messageOf(error)}` }
  }
}

type Keys = readonly (string | number)[]

const copy = (value: unknown, at: Keys, count: { values: number }): JsonValue => {
  count.values += 1
  if (count.values > MAX_VALUES) throw new NotJson('it', 'holds too many values')
  switch (typeof value) {
    case 'boolean':
      return value
    case 'string':
      if (LONE_SURROGATE.test(value)) throw new NotJson(renderKeys(at), 'contains half of a character (a lone surrogate)')
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(renderKeys(at), `is ${String(value)}`)
      // JSON has one zero.
      return value === 0 ? 0 : value
    case 'object':
      if (value === null) return null
      if (at.length >= MAX_DEPTH) throw new NotJson('it', `is nested more than ${MAX_DEPTH} deep`)
      return Array.isArray(value) ? copyList(value, at, count) : copyMapping(value, at, count)
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      throw new NotJson(renderKeys(at), `is of the type ${typeof value}`)
  }
}

const copyList = (list: readonly unknown[], at: Keys, count: { values: number }): JsonValue =>
  Object.freeze(Array.from(list, (item, index) => copy(item, [...at, index], count)))

const copyMapping = (mapping: object, at: Keys, count: { values: number }): JsonValue => {
  const prototype: unknown = Object.getPrototypeOf(mapping)
  if (prototype !== null && prototype !== Object.prototype && !isForeignPlain(prototype)) {
    throw new NotJson(renderKeys(at), `is ${describeObject(mapping)}, not a plain mapping`)
  }
  const copied: Record<string, JsonValue> = {}
  for (const key of Object.keys(mapping)) {
    // It would not become a key of the copy but change what the copy is.
    if (key === '__proto__') throw new NotJson(renderKeys(at), 'has a key "__proto__"')
    if (LONE_SURROGATE.test(key)) throw new NotJson(renderKeys(at), 'has a key with half of a character (a lone surrogate)')
    const child = (mapping as Record<string, unknown>)[key]
    if (child !== undefined) copied[key] = copy(child, [...at, key], count)
  }
  return Object.freeze(copied)
}

/** Plain objects of another realm (a worker, a test runner) have another Object.prototype. */
const isForeignPlain = (prototype: unknown): boolean =>
  typeof prototype === 'object' && prototype !== null && Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')

const describeObject = (value: object): string => {
  const { constructor } = value as { readonly constructor?: unknown }
  return typeof constructor === 'function' && constructor.name !== '' ? `a ${constructor.name}` : 'an object of a class'
}

/** `files[2].path`; the whole input is `it`. */
export const renderKeys = (keys: Keys): string => {
  if (keys.length === 0) return 'it'
  return keys.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('')
}
