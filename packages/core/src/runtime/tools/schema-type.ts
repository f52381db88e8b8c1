// The type of the values that a JSON Schema accepts, worked out by the compiler from the schema as it is written.
import type { JsonSchema, JsonValue, StandardSchema } from '../../gate/index.js'

/**
 * Of an input that neither a schema nor an annotated parameter describes, the compiler knows as much as of what
 * JSON.parse returns. Anything narrower makes an error of `({ a }) => a`.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
export type Unannotated = any

export type InputSchema = StandardSchema | JsonSchema

/** What a tool gets after its schema has read the input. */
export type ParsedInputOf<Schema> =
  Schema extends StandardSchema<unknown, infer Output>
    ? Output
    : Schema extends JsonSchema
      ? Described<Schema>
      : Unannotated

/** What a caller gives. A schema of a library may change it on the way (defaults, transforms). */
export type GivenInputOf<Schema, Parsed> = Schema extends StandardSchema<infer Input> ? Input : Parsed

/** What a caller gets of a function tool. It travels as JSON, in which nothing is null. */
export type OutputOf<Returned> =
  Awaited<Returned> extends infer Value ? (Value extends undefined ? null : Carried<Value>) : never

/** A value as JSON carries it. A result that it cannot carry fails the call, so its type is never. */
type Carried<Value> = unknown extends Value
  ? Value
  : Value extends JsonValue | undefined
    ? Value
    : Value extends { toJSON: () => infer Written }
      ? Carried<Written>
      : Value extends
            | bigint
            | symbol
            | ((...given: never) => unknown)
            | ReadonlyMap<unknown, unknown>
            | ReadonlySet<unknown>
            | WeakMap<WeakKey, unknown>
            | WeakSet<WeakKey>
            | Promise<unknown>
            | Error
            | RegExp
            | ArrayBuffer
            | ArrayBufferView
        ? never
        : { [Key in keyof Value]: Carried<Value[Key]> }

/** Of a schema whose text the compiler does not see, nothing is known. */
type Described<Schema> = string extends keyof Schema ? Unannotated : FromSchema<Schema>

export type FromSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Option)[] }
      ? FromSchema<Option>
      : Schema extends { readonly oneOf: readonly (infer Option)[] }
        ? FromSchema<Option>
        : Schema extends { readonly $ref: string }
          ? Unannotated
          : Schema extends { readonly type: infer Type }
            ? OfType<Type extends readonly (infer Each)[] ? Each : Type, Schema>
            : Schema extends { readonly properties: object }
              ? OfType<'object', Schema>
              : Unannotated

type OfType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? OfArray<Schema>
          : Type extends 'object'
            ? OfObject<Schema>
            : never

type OfArray<Schema> = Schema extends { readonly items: infer Item }
  ? readonly FromSchema<Item>[]
  : readonly JsonValue[]

type OfObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      { readonly [Name in keyof Properties & Required<Schema>]: FromSchema<Properties[Name]> } & {
        readonly [Name in Exclude<keyof Properties, Required<Schema>>]?: FromSchema<Properties[Name]>
      }
    >
  : Schema extends { readonly additionalProperties: infer Value extends object }
    ? Readonly<Record<string, FromSchema<Value>>>
    : Readonly<Record<string, JsonValue>>

type Required<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never

type Flat<Type> = { readonly [Name in keyof Type]: Type[Name] }
