// What an answer looks like: one declaration is its JSON Schema, and the compiler holds it against the type of what is
// answered. Everything that is declared is there, and nothing else.

type Schema = Readonly<Record<string, unknown>>

export interface Shape<Value> {
  readonly schema: Schema
  /** By name, what the schema refers to. */
  readonly named: Readonly<Record<string, Schema>>
  /** Never there: says of which type it is. */
  readonly type?: Value
}

/** There is only that it was done. */
export const NOTHING: Shape<void> = { schema: { type: 'null' }, named: {} }

type Shapes = Readonly<Record<string, Shape<unknown>>>
type Shaped<Of> = Of extends Shape<infer Value> ? Value : never

const plain = <Value>(schema: Schema): Shape<Value> => ({ schema, named: {} })

export const aText = (): Shape<string> => plain({ type: 'string' })
export const anId = (): Shape<string> => plain({ type: 'string', format: 'uuid' })
export const aTime = (): Shape<string> => plain({ type: 'string', format: 'date-time' })
/** Of more digits than a number of JSON keeps. */
export const digits = (): Shape<string> => plain({ type: 'string', pattern: '^\\d+$' })
export const aCount = (): Shape<number> => plain({ type: 'integer' })
export const aNumber = (): Shape<number> => plain({ type: 'number' })
export const yes = (): Shape<boolean> => plain({ type: 'boolean' })
export const aWord = <const Word extends string>(...words: readonly Word[]): Shape<Word> => plain({ enum: words })
/** Whatever somebody registered, asked for or reported. */
export const anything = (): Shape<unknown> => plain({})
export const aMapping = (): Shape<Readonly<Record<string, unknown>>> => plain({ type: 'object' })

/** Some of these names, each with a value of that shape. */
export const someOf = <const Name extends string, Value>(names: readonly Name[], { schema, named }: Shape<Value>): Shape<{ readonly [Each in Name]?: Value }> => ({
  schema: { type: 'object', additionalProperties: false, properties: Object.fromEntries(names.map((name) => [name, schema])) },
  named,
})

export const orNull = <Value>({ schema, named }: Shape<Value>): Shape<Value | null> => ({ schema: { anyOf: [schema, { type: 'null' }] }, named })

export const manyOf = <Value>({ schema, named }: Shape<Value>): Shape<readonly Value[]> => ({ schema: { type: 'array', items: schema }, named })

export const made = <const Parts extends Shapes>(parts: Parts): Shape<{ readonly [Name in keyof Parts]: Shaped<Parts[Name]> }> => ({
  schema: { type: 'object', additionalProperties: false, required: Object.keys(parts), properties: Object.fromEntries(Object.entries(parts).map(([name, { schema }]) => [name, schema])) },
  named: Object.assign({}, ...Object.values(parts).map(({ named }) => named)) as Shape<unknown>['named'],
})

/** Described once, and referred to by its name. */
export const called = <Value>(name: string, { schema, named }: Shape<Value>): Shape<Value> => ({ schema: { $ref: `#/components/schemas/${name}` }, named: { ...named, [name]: schema } })
