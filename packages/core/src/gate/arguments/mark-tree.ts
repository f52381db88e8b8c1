// The strings of an input, with the marks that the schema of the tool gives them.
import { fail } from '../../errors/index.js'
import { getOrAdd } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

import { isList } from '../input/canonical-json.js'
import { placeOfKey, renderPlace } from '../input/json-value.js'
import type { JsonValue, KeyPlace } from '../input/json-value.js'
import { MARKS, MARK_KEYWORD, MARK_PROPERTY, isStandardSchema } from '../input/parameter-marks.js'
import type { JsonSchema, Mark, StandardSchema } from '../input/parameter-marks.js'

/** The marks of a schema in the shape of the input that it describes. */
export interface MarkTree {
  readonly marks: ReadonlySet<Mark>
  readonly keys: ReadonlyMap<string, MarkTree>
  /** Items of a list, and values of keys that are not in `keys`. */
  readonly each: MarkTree | undefined
}

interface GrowingTree {
  readonly marks: Set<Mark>
  readonly keys: Map<string, GrowingTree>
  each: GrowingTree | undefined
}

const grow = (): GrowingTree => ({ marks: new Set(), keys: new Map(), each: undefined })

export const NO_MARKS: MarkTree = grow()

// Schemas can refer to themselves. Nobody marks a parameter deeper than this.
const MAX_DEPTH = 24

/** Finds the marks of pathRead() and similar in a JSON Schema, or in a schema of zod, valibot and others. */
export const findMarks = (schema: unknown): MarkTree => {
  const tree = grow()
  visit(schema, tree, schema, 0)
  return tree
}

/** `root`: where `#/…` references of JSON Schema start. */
const visit = (schema: unknown, into: GrowingTree, root: unknown, depth: number): void => {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || depth > MAX_DEPTH) return
  addMark(schema, into)
  const parts = isStandardSchema(schema) ? partsOfLibrarySchema(schema) : partsOfJsonSchema(schema as JsonSchema, root)
  for (const same of parts.same) visit(same, into, root, depth + 1)
  for (const [key, child] of parts.keys) visit(child, getOrAdd(into.keys, key, grow), root, depth + 1)
  for (const child of parts.each) visit(child, (into.each ??= grow()), root, depth + 1)
}

const addMark = (schema: object, into: GrowingTree): void => {
  const given = (schema as Record<PropertyKey, unknown>)[isStandardSchema(schema) ? MARK_PROPERTY : MARK_KEYWORD]
  if (given === undefined) return
  const mark = MARKS.find((candidate) => candidate === given)
  if (mark === undefined)
    throw fail('schema-not-markable', {
      problem: `"${MARK_KEYWORD}" must be one of ${MARKS.join(', ')}, not ${JSON.stringify(given)}`,
    })
  into.marks.add(mark)
}

/** The schemas inside a schema: of the same value, of one key, of every item. */
interface Parts {
  readonly same: readonly unknown[]
  readonly keys: readonly (readonly [string, unknown])[]
  readonly each: readonly unknown[]
}

const listOf = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value
  if (value instanceof Map) return [...value.values()] as unknown[]
  return value === undefined || value === null ? [] : [value]
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  isMapping(value) ? Object.entries(value) : []

const partsOfJsonSchema = (schema: JsonSchema, root: unknown): Parts => ({
  same: [...partsAt(schema, 'allOf anyOf oneOf if then else'), ...listOf(referred(schema['$ref'], root))],
  keys: entriesOf(schema['properties']),
  each: [
    ...partsAt(schema, 'items prefixItems additionalItems additionalProperties contains'),
    ...entriesOf(schema['patternProperties']).map(([, child]) => child),
  ],
})

const partsAt = (schema: JsonSchema, keys: string): readonly unknown[] =>
  keys.split(' ').flatMap((key) => listOf(schema[key]))

/** Only references within the document. Others would have to be fetched. */
const referred = (reference: unknown, root: unknown): unknown => {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
  const names = reference.slice(1).split('/').slice(1)
  return names.reduce<unknown>((node, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof node === 'object' && node !== null && Object.hasOwn(node, key)
      ? (node as Record<string, unknown>)[key]
      : undefined
  }, root)
}

/** With the names of zod 3, zod 4 and valibot. The mark of an unknown part is lost, so the gate judges all of it. */
const partsOfLibrarySchema = (schema: StandardSchema): Parts => {
  const outer = schema as unknown as Record<string, unknown>
  const zod = (outer['_zod'] as { readonly def?: unknown } | undefined)?.def ?? outer['_def']
  const inner = (zod ?? outer) as Record<string, unknown>
  const shape = typeof inner['shape'] === 'function' ? (inner['shape'] as () => unknown)() : inner['shape']
  return {
    same: [
      ...partsAt(inner, 'innerType wrapped in out left right schema options'),
      ...(zod === undefined ? listOf(inner['pipe']) : []),
      lazySchema(inner['getter']),
    ].filter(isStandardSchema),
    keys: [...entriesOf(shape), ...entriesOf(inner['entries'])].filter(([, child]) => isStandardSchema(child)),
    // `type` is the schema of the items in an array of zod 3, and a text elsewhere.
    each: partsAt(inner, 'element item items rest valueType value catchall type').filter(isStandardSchema),
  }
}

const lazySchema = (getter: unknown): unknown => {
  if (typeof getter !== 'function') return undefined
  try {
    return (getter as (input: undefined) => unknown)(undefined)
  } catch {
    return undefined
  }
}

/** One string of the input: a value, or the key of a mapping. */
export interface ArgumentString {
  readonly text: string
  readonly place: KeyPlace | undefined
  readonly marks: ReadonlySet<Mark>
  readonly isKey: boolean
  /** One word of many, which counts as a path only if it plainly is one. */
  readonly isCertainOnly: boolean
}

const NONE: ReadonlySet<Mark> = new Set()

/** Every string of the input, however deep. */
export const stringsOf = (input: JsonValue, tree: MarkTree): readonly ArgumentString[] => {
  const found: ArgumentString[] = []
  collect(input, tree, undefined, NONE, found)
  return found
}

const collect = (
  value: JsonValue,
  tree: MarkTree | undefined,
  at: KeyPlace | undefined,
  inherited: ReadonlySet<Mark>,
  found: ArgumentString[],
): void => {
  // A mark of a list or mapping applies to everything in it.
  const marks =
    tree === undefined || tree.marks.size === 0
      ? inherited
      : inherited.size === 0
        ? tree.marks
        : new Set([...inherited, ...tree.marks])
  if (typeof value === 'string') {
    found.push({ text: value, place: at, marks, isKey: false, isCertainOnly: false })
  } else if (isList(value)) {
    value.forEach((item, index) => {
      collect(item, tree?.each, placeOfKey(at, index), marks, found)
    })
  } else if (isMapping(value)) {
    for (const [key, child] of Object.entries(value)) {
      found.push({ text: key, place: at, marks: marks.has('text') ? marks : NONE, isKey: true, isCertainOnly: true })
      collect(child, tree?.keys.get(key) ?? tree?.each, placeOfKey(at, key), marks, found)
    }
  }
}

/** `files[2].path`, or `a key of files`. */
export const describeArgumentPlace = ({ place, isKey }: ArgumentString): string =>
  isKey ? `a key of ${renderPlace(place)}` : renderPlace(place)
