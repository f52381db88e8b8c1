import { keyOf } from '../../policy/index.js'

import { thrownMessage } from '../thrown-message.js'

/** The values of arguments. Anything else could mean one thing to the gate and another to the tool. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export type JsonObject = { readonly [key: string]: JsonValue }

export type Snapshot =
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'problem'; readonly where: string; readonly problem: string; readonly isTooLarge: boolean }

interface SnapshotLimits {
  /** Values and keys together. */
  readonly elements: number
  /** Letters of all texts and keys together. */
  readonly letters: number
}

const MAX_DEPTH = 128
// More than 10 MB of JSON can have, and few enough to give up on an object that contains itself twice on every level.
const NO_LIMITS: SnapshotLimits = { elements: 8_000_000, letters: Infinity }

class NotJson extends Error {
  readonly where: string
  readonly isTooLarge: boolean
  constructor(where: string, problem: string, isTooLarge = false) {
    super(problem)
    this.where = where
    this.isTooLarge = isTooLarge
  }
}

/** The rest of the limits. */
interface Left {
  elements: number
  letters: number
}

// The values that this module made and froze at every depth. They need no further copy for the permit and the record.
const SNAPSHOTS = new WeakSet<object>()

export const isSnapshot = (value: unknown): value is JsonValue & object =>
  typeof value === 'object' && value !== null && SNAPSHOTS.has(value)

/**
 * A frozen copy that nobody else has, so that the judged value is the one that runs. It reads every property exactly
 * once, so a getter or a proxy cannot answer differently later.
 */
export const takeSnapshot = (value: unknown, limits: SnapshotLimits = NO_LIMITS): Snapshot => {
  if (isSnapshot(value)) return { kind: 'json', value }
  try {
    const taken = copy(value, undefined, { ...limits })
    if (typeof taken === 'object' && taken !== null) SNAPSHOTS.add(taken)
    return { kind: 'json', value: taken }
  } catch (error) {
    if (error instanceof NotJson) return problemOf(error)
    return { kind: 'problem', where: 'it', problem: `cannot be read: ${thrownMessage(error)}`, isTooLarge: false }
  }
}

/**
 * Freezes a value that JSON.parse has just made. Nobody else has it and it has no getters, so it needs no copy. It
 * refuses what JSON.parse accepts and a snapshot does not: `1e400`, half a character, the key `__proto__`.
 */
export const adoptParsed = (value: unknown): Snapshot => {
  try {
    const adopted = settled(value, undefined)
    if (typeof adopted === 'object' && adopted !== null) SNAPSHOTS.add(freezeAll(adopted, undefined))
    return { kind: 'json', value: adopted }
  } catch (error) {
    if (error instanceof NotJson) return problemOf(error)
    throw error
  }
}

const problemOf = ({ where, message, isTooLarge }: NotJson): Snapshot => ({
  kind: 'problem',
  where,
  problem: message,
  isTooLarge,
})

type Parent = Record<string | number, unknown>

const freezeAll = <Value extends object>(parsed: Value, at: KeyPlace | undefined): Value => {
  if ((at?.depth ?? 0) >= MAX_DEPTH) throw new NotJson('it', `is nested more than ${MAX_DEPTH} deep`)
  if (Array.isArray(parsed))
    for (let index = 0; index < parsed.length; index += 1) freezeChild(parsed as unknown as Parent, index, at)
  else
    for (const key of Object.keys(parsed)) {
      refuseKey(key, at)
      freezeChild(parsed as Parent, key, at)
    }
  return Object.freeze(parsed)
}

const freezeChild = (parent: Parent, key: string | number, at: KeyPlace | undefined): void => {
  const child = parent[key]
  if (typeof child === 'object') {
    if (child !== null) freezeAll(child, placeOfKey(at, key))
  } else if (
    typeof child === 'string'
      ? !child.isWellFormed()
      : typeof child === 'number' && (Object.is(child, -0) || !Number.isFinite(child))
  ) {
    parent[key] = settled(child, placeOfKey(at, key))
  }
}

/** Checks a value that is not a list or a mapping. */
const settled = (value: unknown, at: KeyPlace | undefined): JsonValue =>
  typeof value === 'object' ? (value as JsonValue) : copy(value, at, { ...NO_LIMITS })

/** A place in the input. It is a linked list, because it is made for every value and rarely read. */
export interface KeyPlace {
  readonly parent: KeyPlace | undefined
  readonly key: string | number
  readonly depth: number
}

export const placeOfKey = (parent: KeyPlace | undefined, key: string | number): KeyPlace => ({
  parent,
  key,
  depth: (parent?.depth ?? 0) + 1,
})

const use = (left: Left, letters: number): void => {
  left.elements -= 1
  left.letters -= letters
  if (left.elements < 0) throw new NotJson('it', 'holds too many values', true)
  if (left.letters < 0) throw new NotJson('it', 'holds too much text', true)
}

const copy = (value: unknown, at: KeyPlace | undefined, left: Left): JsonValue => {
  use(left, typeof value === 'string' ? value.length : 0)
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
      return Array.isArray(value) ? copyList(value, at, left) : copyMapping(value, at, left)
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      throw new NotJson(renderPlace(at), `is of the type ${typeof value}`)
  }
}

const copyList = (list: readonly unknown[], at: KeyPlace | undefined, left: Left): JsonValue =>
  Object.freeze(
    Array.from(list, (item, index) =>
      isPlainText(item) ? counted(item, left) : copy(item, placeOfKey(at, index), left),
    ),
  )

/** Most values of arguments, for which no place has to be made. */
const isPlainText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed()

const counted = (text: string, left: Left): string => {
  use(left, text.length)
  return text
}

const copyMapping = (mapping: object, at: KeyPlace | undefined, left: Left): JsonValue => {
  const prototype: unknown = Object.getPrototypeOf(mapping)
  if (prototype !== null && prototype !== Object.prototype && !isForeignPlain(prototype)) {
    throw new NotJson(renderPlace(at), `is ${describeObject(mapping)}, not a plain mapping`)
  }
  const copied: Record<string, JsonValue> = {}
  for (const key of Object.keys(mapping)) {
    refuseKey(key, at)
    const child = (mapping as Record<string, unknown>)[key]
    if (child === undefined) continue
    use(left, key.length)
    copied[key] = isPlainText(child) ? counted(child, left) : copy(child, placeOfKey(at, key), left)
  }
  return Object.freeze(copied)
}

const refuseKey = (key: string, at: KeyPlace | undefined): void => {
  // In a copy it would set the prototype.
  if (key === '__proto__') throw new NotJson(renderPlace(at), 'has a key "__proto__"')
  if (!key.isWellFormed()) throw new NotJson(renderPlace(at), 'has a key with half of a character (a lone surrogate)')
}

/** Plain objects of another realm (a worker, a test runner) have another Object.prototype. */
const isForeignPlain = (prototype: unknown): boolean =>
  typeof prototype === 'object' &&
  prototype !== null &&
  Object.getPrototypeOf(prototype) === null &&
  Object.hasOwn(prototype, 'isPrototypeOf')

const describeObject = (value: object): string => {
  const { constructor } = value as { readonly constructor?: unknown }
  return typeof constructor === 'function' && constructor.name !== '' ? `a ${constructor.name}` : 'an object of a class'
}

/** `files[2].path`, or `it` for the whole input. */
export const renderPlace = (place: KeyPlace | undefined): string => {
  const keys: (string | number)[] = []
  for (let at: KeyPlace | undefined = place; at !== undefined; at = at.parent) keys.unshift(at.key)
  return keyOf({ path: keys, whole: 'it' })
}
