// Marks of parameters, which say what a parameter is for: the keyword "x-cordon" of a JSON Schema, or a property of the
// schema object of a library, which the library ignores.
import { fail } from '../../errors/index.js'

/**
 * - `path-read`, `path-write`: a path that the tool reads, or changes
 * - `url`: a URL that the tool fetches
 * - `command`: a command line, or a list of words, that the tool executes
 * - `text`: content, which is never opened, fetched or executed
 */
export const MARKS = ['path-read', 'path-write', 'url', 'command', 'text'] as const
export type Mark = (typeof MARKS)[number]

export const MARK_KEYWORD = 'x-cordon'
// Registered, so that two installed copies of this package understand each other.
export const MARK_PROPERTY = Symbol.for('cordon.parameter')

/** The part of https://standardschema.dev that is needed here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
      }[]
    }

export type JsonSchema = Readonly<Record<string, unknown>>

export const isStandardSchema = (value: unknown): value is StandardSchema =>
  (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value

interface Marker {
  /** Marks a schema of a library. Call it last: `.min(1)` and the like make a new schema without the mark. */
  <Schema extends StandardSchema>(schema: Schema): Schema
  /** A JSON Schema of a string, or the given one, with the keyword `x-cordon`. */
  (schema?: JsonSchema): JsonSchema
}

const marker = (mark: Mark): Marker => {
  const apply = (schema: unknown = { type: 'string' }): unknown => {
    if (isStandardSchema(schema)) return Object.defineProperty(copyOf(schema), MARK_PROPERTY, { value: mark })
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw fail('schema-not-markable', { problem: 'it is not a schema object' })
    return { ...schema, [MARK_KEYWORD]: mark }
  }
  return apply as Marker
}

/** A path that the tool reads. */
export const pathRead: Marker = marker('path-read')
/** A path that the tool writes, creates or removes. */
export const pathWrite: Marker = marker('path-write')
/** A URL that the tool fetches. */
export const url: Marker = marker('url')
/** A command line or list of words that the tool executes. */
export const commandLine: Marker = marker('command')
/** Content that is never opened, fetched or executed. The argument gate skips it. */
export const text: Marker = marker('text')

/** The caller may use the unmarked schema elsewhere, so the mark goes onto a copy. */
const copyOf = (schema: StandardSchema): StandardSchema => {
  const { clone, _def, constructor } = schema as { clone?: unknown; _def?: unknown; constructor?: unknown }
  // Methods of a zod schema are bound to their object, so only zod can copy it: by clone() in version 4, by the
  // constructor in version 3.
  if (typeof clone === 'function') return (clone as () => StandardSchema).call(schema)
  if (_def !== undefined && typeof constructor === 'function')
    return new (constructor as new (definition: unknown) => StandardSchema)(_def)
  if (typeof schema === 'function')
    throw fail('schema-not-markable', { problem: 'it is a function, which cannot be copied; use the JSON Schema form' })
  return Object.create(
    Object.getPrototypeOf(schema) as object | null,
    Object.getOwnPropertyDescriptors(schema),
  ) as StandardSchema
}

export type ParsedInput =
  { readonly kind: 'input'; readonly value: unknown } | { readonly kind: 'problem'; readonly problem: string }

/** Reads the input of a call by the schema of the tool. The result is what runs. */
export type ParseInput = (value: unknown) => ParsedInput | Promise<ParsedInput>

/** For tools without a schema. */
export const acceptAnyInput: ParseInput = (value) => ({ kind: 'input', value })

const MAX_ISSUES = 5

export const parserOf =
  (schema: StandardSchema): ParseInput =>
  (value) => {
    const result = schema['~standard'].validate(value)
    return result instanceof Promise ? result.then(read) : read(result)
  }

const read = (result: Awaited<ReturnType<StandardSchema['~standard']['validate']>>): ParsedInput => {
  if (result.issues === undefined) return { kind: 'input', value: result.value }
  const issues = result.issues.slice(0, MAX_ISSUES).map(({ message, path }) => {
    const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
  })
  return { kind: 'problem', problem: issues.join('; ') }
}
