import { fail } from '../../errors/index.js'

import { MARKS, MARK_KEYWORD, MARK_PROPERTY, isStandardSchema } from '../input/parameter-marks.js'
import type { JsonSchema, Mark, StandardSchema } from '../input/parameter-marks.js'

/** The marks of a schema in the shape of the input that it describes. */
export interface MarkTree {
  readonly marks: ReadonlySet<Mark>
  readonly keys: ReadonlyMap<string, MarkTree>
  /** Items of a list, and values of a mapping whose keys are not listed. */
  readonly each: MarkTree | undefined
}

interface GrowingTree {
  readonly marks: Set<Mark>
  readonly keys: Map<string, GrowingTree>
  each: GrowingTree | undefined
}

const grow = (): GrowingTree => ({ marks: new Set(), keys: new Map(), each: undefined })

export const NO_MARKS: MarkTree = grow()

// Schemas can refer to themselves; nobody marks a parameter deeper than this.
const MAX_DEPTH = 24

/** Finds the marks of pathRead() and its kin in a JSON Schema or in a schema of zod, valibot and the like. */
export const findMarks = (schema: unknown): MarkTree => {
  const tree = grow()
  visit(schema, tree, { root: schema, depth: 0 })
  return tree
}

interface Place {
  /** Where `#/…` references of JSON Schema start. */
  readonly root: unknown
  readonly depth: number
}

const visit = (schema: unknown, into: GrowingTree, { root, depth }: Place): void => {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || depth > MAX_DEPTH) return
  addMark(schema, into)
  const deeper = { root, depth: depth + 1 }
  const parts = isStandardSchema(schema) ? partsOfLibrarySchema(schema) : partsOfJsonSchema(schema as JsonSchema, root)
  for (const same of parts.same) visit(same, into, deeper)
  for (const [key, child] of parts.keys) visit(child, branch(into, key), deeper)
  for (const child of parts.each) visit(child, (into.each ??= grow()), deeper)
}

const branch = (tree: GrowingTree, key: string): GrowingTree => {
  const existing = tree.keys.get(key)
  if (existing !== undefined) return existing
  const grown = grow()
  tree.keys.set(key, grown)
  return grown
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

/** The schemas inside a schema: about the same value, about one key of it, about every item of it. */
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
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []

const partsOfJsonSchema = (schema: JsonSchema, root: unknown): Parts => ({
  same: [
    schema['allOf'],
    schema['anyOf'],
    schema['oneOf'],
    schema['if'],
    schema['then'],
    schema['else'],
    referred(schema['$ref'], root),
  ].flatMap(listOf),
  keys: entriesOf(schema['properties']),
  each: [
    ...[
      schema['items'],
      schema['prefixItems'],
      schema['additionalItems'],
      schema['additionalProperties'],
      schema['contains'],
    ].flatMap(listOf),
    ...entriesOf(schema['patternProperties']).map(([, child]) => child),
  ],
})

/** Only references within the document: another one would have to be fetched. */
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

/** By the names that zod 3, zod 4 and valibot use. What is missed is gated like an unmarked parameter. */
const partsOfLibrarySchema = (schema: StandardSchema): Parts => {
  const outer = schema as unknown as Record<string, unknown>
  const zod = (outer['_zod'] as { readonly def?: unknown } | undefined)?.def ?? outer['_def']
  const inner = (zod ?? outer) as Record<string, unknown>
  const shape = typeof inner['shape'] === 'function' ? (inner['shape'] as () => unknown)() : inner['shape']
  const isArrayOfZod3 = isStandardSchema(inner['type'])
  return {
    same: [
      ...[
        inner['innerType'],
        inner['wrapped'],
        inner['in'],
        inner['out'],
        inner['left'],
        inner['right'],
        inner['schema'],
        inner['options'],
      ].flatMap(listOf),
      ...(zod === undefined ? listOf(inner['pipe']) : []),
      lazySchema(inner['getter']),
    ].filter(isStandardSchema),
    keys: [...entriesOf(shape), ...entriesOf(inner['entries'])].filter(([, child]) => isStandardSchema(child)),
    each: [
      ...[
        inner['element'],
        inner['item'],
        inner['items'],
        inner['rest'],
        inner['valueType'],
        inner['value'],
        inner['catchall'],
      ].flatMap(listOf),
      ...(isArrayOfZod3 ? [inner['type']] : []),
    ].filter(isStandardSchema),
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
