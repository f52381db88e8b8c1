import { messageOf } from './message-of.js'

/** What arguments are made of. Anything else could mean one thing to the gate and another to the tool. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export type JsonObject = { readonly [key: string]: JsonValue }

export type Snapshot = { readonly kind: 'json'; readonly value: JsonValue } | { readonly kind: 'problem'; readonly where: string; readonly problem: string }

const MAX_DEPTH = 128
// Far more than 10 MB of JSON can hold, and few enough that an object that contains itself
// twice on every level is given up on.
const MAX_VALUES = 8_000_000

class NotJson extends Error {
  readonly where: string
  constructor(where: string, problem: string) {
    super(problem)
    this.where = where
  }
}

// A mark that nobody else can set: what bears it was made here and is frozen to its depth, so a copy of
// it would be the same again. Arguments are looked at by gate, permit and record, and may be large.
const SNAPSHOTS = new WeakSet<object>()

export const isSnapshot = (value: unknown): value is JsonValue & object => typeof value === 'object' && value !== null && SNAPSHOTS.has(value)

/**
 * A frozen copy that nobody else holds, so that what is judged is what runs. Every property is read
 * exactly once: a getter or a proxy cannot answer differently later.
 */
export const takeSnapshot = (value: unknown): Snapshot => {
  if (isSnapshot(value)) return { kind: 'json', value }
  try {
    const taken = copy(value, undefined, { values: 0 })
    if (typeof taken === 'object' && taken !== null) SNAPSHOTS.add(taken)
    return { kind: 'json', value: taken }
  } catch (error) {
    if (error instanceof NotJson) return { kind: 'problem', where: error.where, problem: error.message }
    return { kind: 'problem', where: 'it', problem: `cannot be read: ${messageOf(error)}` }
  }
}

/** Where in the input something is. Linked, because it is built for every value and read for hardly any. */
export interface KeyPlace {
  readonly parent: KeyPlace | undefined
  readonly key: string | number
  readonly depth: number
}

export const placeOfKey = (parent: KeyPlace | undefined, key: string | number): KeyPlace => ({ parent, key, depth: (parent?.depth ?? 0) + 1 })

const copy = (value: unknown, at: KeyPlace | undefined, count: { values: number }): JsonValue => {
  count.values += 1
  if (count.values > MAX_VALUES) throw new NotJson('it', 'holds too many values')
  switch (typeof value) {
    case 'boolean':
      return value
    case 'string':
      if (!value.isWellFormed()) throw new NotJson(renderPlace(at), 'contains half of a character (a lone surrogate)')
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(renderPlace(at), `is ${String(value)}`)
      // JSON has one zero.
      return value === 0 ? 0 : value
    case 'object':
      if (value === null) return null
      if ((at?.depth ?? 0) >= MAX_DEPTH) throw new NotJson('it', `is nested more than ${MAX_DEPTH} deep`)
      return Array.isArray(value) ? copyList(value, at, count) : copyMapping(value, at, count)
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      throw new NotJson(renderPlace(at), `is of the type ${typeof value}`)
  }
}

const copyList = (list: readonly unknown[], at: KeyPlace | undefined, count: { values: number }): JsonValue =>
  Object.freeze(Array.from(list, (item, index) => (isPlainText(item) ? item : copy(item, placeOfKey(at, index), count))))

/** Nearly all that arguments are made of needs no place to be named by. */
const isPlainText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed()

const copyMapping = (mapping: object, at: KeyPlace | undefined, count: { values: number }): JsonValue => {
  const prototype: unknown = Object.getPrototypeOf(mapping)
  if (prototype !== null && prototype !== Object.prototype && !isForeignPlain(prototype)) {
    throw new NotJson(renderPlace(at), `is ${describeObject(mapping)}, not a plain mapping`)
  }
  const copied: Record<string, JsonValue> = {}
  for (const key of Object.keys(mapping)) {
    // It would not become a key of the copy but change what the copy is.
    if (key === '__proto__') throw new NotJson(renderPlace(at), 'has a key "__proto__"')
    if (!key.isWellFormed()) throw new NotJson(renderPlace(at), 'has a key with half of a character (a lone surrogate)')
    const child = (mapping as Record<string, unknown>)[key]
    if (child !== undefined) copied[key] = isPlainText(child) ? child : copy(child, placeOfKey(at, key), count)
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
export const renderPlace = (place: KeyPlace | undefined): string => {
  if (place === undefined) return 'it'
  const keys: (string | number)[] = []
  for (let at: KeyPlace | undefined = place; at !== undefined; at = at.parent) keys.unshift(at.key)
  return keys.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('')
}
