// Shapes of requests, answers, options and records: one declaration gives the type, the check and the JSON Schema.

export type Schema = Readonly<Record<string, unknown>>

/** Where a value was given. It makes the errors, because those of a request differ from those of an option. */
export interface Place {
  readonly at: (key: string | number) => Place
  /** An entry of a mapping whose names the caller chooses. */
  readonly entry: (name: string) => Place
  /** The same place for a possible secret: errors do not repeat the value. */
  readonly hidden: () => Place
  readonly wrong: (value: unknown, expected: string, fix?: string) => Error
  /** Like `wrong`, with a description of the value. */
  readonly told: (found: string, expected: string, fix?: string) => Error
  readonly notOneOf: (value: unknown, known: readonly string[]) => Error
  readonly unknown: (key: string, known: readonly string[]) => Error
}

export interface Shape<Value> {
  readonly schema: Schema
  /** The schemas that `schema` refers to, by name. */
  readonly named: Readonly<Record<string, Schema>>
  readonly isOptional: boolean
  /** Throws an error of the place if the value does not fit. */
  readonly read: (value: unknown, place: Place) => Value
  /** Converts the text of a path or query parameter. */
  readonly fromText: (text: string) => unknown
}

export type Shapes = Readonly<Record<string, Shape<unknown>>>
export type Shaped<Of> = Of extends Shape<infer Value> ? Value : never

type OptionalShape<Value> = Shape<Value | undefined> & { readonly isOptional: true }

type OptionalNames<Parts extends Shapes> = {
  [Name in keyof Parts]: Parts[Name] extends { readonly isOptional: true } ? Name : never
}[keyof Parts]

export type Read<Parts extends Shapes> = {
  readonly [Name in Exclude<keyof Parts, OptionalNames<Parts>>]: Shaped<Parts[Name]>
} & {
  readonly [Name in OptionalNames<Parts>]?: Exclude<Shaped<Parts[Name]>, undefined>
}

const shapeOf = <Value>(
  schema: Schema,
  read: Shape<Value>['read'],
  named: Shape<Value>['named'] = {},
): Shape<Value> => ({ schema, named, isOptional: false, read, fromText: (given) => given })

interface Form {
  readonly schema?: Schema
  readonly fix?: string
  readonly fromText?: (text: string) => unknown
}

export const such = <Value>(
  expected: string,
  fits: (value: unknown) => boolean,
  { schema = {}, fix, ...more }: Form = {},
): Shape<Value> => ({
  ...shapeOf(schema, (value, place) => {
    if (!fits(value)) throw place.wrong(value, expected, fix)
    return value as Value
  }),
  ...more,
})

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)

export const text = (more: Schema = {}): Shape<string> =>
  such('a text', isText, { schema: { type: 'string', ...more } })
export const filled = (): Shape<string> =>
  such('a text that is not empty', (value) => isText(value) && value !== '', {
    schema: { type: 'string', minLength: 1 },
  })
export const matching = (pattern: RegExp, expected: string): Shape<string> =>
  such(expected, (value) => isText(value) && pattern.test(value), {
    schema: { type: 'string', pattern: pattern.source },
  })
export const number = (): Shape<number> => such('a number', isNumber, { schema: { type: 'number' } })
export const isAmount = (value: unknown): value is number => isNumber(value) && value >= 0
export const amount = (): Shape<number> =>
  such('a number, at least 0', isAmount, { schema: { type: 'number', minimum: 0 } })
export const count = (least?: number): Shape<number> =>
  such('a whole number', (value) => Number.isSafeInteger(value) && Number(value) >= (least ?? -Infinity), {
    schema: { type: 'integer', ...(least === undefined ? {} : { minimum: least }) },
  })
export const whole = (least: number, most: number): Shape<number> =>
  such(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    {
      schema: { type: 'integer', minimum: least, maximum: most },
      fromText: (given) => (/^-?\d{1,15}$/.test(given) ? Number(given) : given),
    },
  )
export const yesOrNo = (): Shape<boolean> =>
  such('true or false', (value) => typeof value === 'boolean', {
    schema: { type: 'boolean' },
    fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
  })
export const mapping = (): Shape<Readonly<Record<string, unknown>>> =>
  such('a mapping', isMapping, { schema: { type: 'object' } })
/** Any JSON, including null. */
export const anything = (): Shape<unknown> => such('there', (value) => value !== undefined)

export const oneOf = <const Word extends string>(...words: readonly Word[]): Shape<Word> =>
  shapeOf(words.length === 1 ? { const: words[0] } : { enum: words }, (value, place) => {
    const word = words.find((each) => each === value)
    if (word === undefined) throw place.notOneOf(value, words)
    return word
  })

export const optional = <Value>({ read, ...shape }: Shape<Value>): OptionalShape<Value> => ({
  ...shape,
  isOptional: true,
  read: (value, place) => (value === undefined ? undefined : read(value, place)),
})

export const orNull = <Value>({ schema, read, ...shape }: Shape<Value>): Shape<Value | null> => ({
  ...shape,
  schema: { anyOf: [schema, { type: 'null' }] },
  read: (value, place) => (value === null ? null : read(value, place)),
})

/** The first shape that the value fits. */
export const either = <First, Second>(first: Shape<First>, second: Shape<Second>): Shape<First | Second> =>
  shapeOf<First | Second>(
    { anyOf: [first.schema, second.schema] },
    (value, place) => {
      try {
        return first.read(value, place)
      } catch {
        return second.read(value, place)
      }
    },
    { ...first.named, ...second.named },
  )

interface ListForm {
  readonly most?: number
  readonly expected?: string
  readonly fix?: string
}

export const list = <Value>(
  item: Shape<Value>,
  { most, expected = 'a list', fix }: ListForm = {},
): Shape<readonly Value[]> =>
  shapeOf(
    { type: 'array', items: item.schema, ...(most === undefined ? {} : { maxItems: most }) },
    (value, place) => {
      if (!Array.isArray(value) || value.length > (most ?? Infinity)) throw place.wrong(value, expected, fix)
      // Unlike map(), this reads the holes of a list too.
      return Array.from(value as readonly unknown[], (each, at) => item.read(each, place.at(at)))
    },
    item.named,
  )

/** A mapping with all fields that are declared and not optional, and no others. */
export const fields = <const Parts extends Shapes>(
  parts: Parts,
  { expected = 'a mapping', fix }: Omit<ListForm, 'most'> = {},
): Shape<Read<Parts>> =>
  shapeOf(
    {
      type: 'object',
      additionalProperties: false,
      required: Object.keys(parts).filter((name) => parts[name]?.isOptional === false),
      properties: Object.fromEntries(Object.entries(parts).map(([name, { schema }]) => [name, schema])),
    },
    (value, place) => {
      if (!isMapping(value)) throw place.wrong(value, expected, fix)
      return readParts(parts, value, place)
    },
    Object.assign({}, ...Object.values(parts).map(({ named }) => named)) as Shape<unknown>['named'],
  )

export const readParts = <Parts extends Shapes>(
  parts: Parts,
  value: Readonly<Record<string, unknown>>,
  place: Place,
): Read<Parts> => {
  // An object of a class may have fields of its own.
  const strange = isPlain(value) ? Object.keys(value).find((key) => !Object.hasOwn(parts, key)) : undefined
  if (strange !== undefined) throw place.unknown(strange, Object.keys(parts))
  // Inherited fields count too, and `undefined` is an omitted field.
  const read = Object.entries(parts).map(([key, part]) => [key, part.read(value[key], place.at(key))] as const)
  return Object.fromEntries(read.filter(([, each]) => each !== undefined)) as Read<Parts>
}

const isPlain = (value: object): boolean => {
  const parent: unknown = Object.getPrototypeOf(value)
  return parent === null || parent === Object.prototype
}

/** A mapping of any names, or of some of `names`, to values of one shape. */
export const valuesOf = <Value, const Name extends string = string>(
  { schema, named, read }: Shape<Value>,
  names?: readonly Name[],
  expected = 'a mapping',
): Shape<{ readonly [Each in Name]?: Value }> =>
  shapeOf(
    {
      type: 'object',
      ...(names === undefined
        ? { additionalProperties: schema }
        : { additionalProperties: false, properties: Object.fromEntries(names.map((name) => [name, schema])) }),
    },
    (value, place) => {
      const isKnown = (name: string): boolean => names === undefined || names.some((each) => each === name)
      if (!isMapping(value) || !Object.keys(value).every(isKnown)) throw place.wrong(value, expected)
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, read(each, place.at(name))])) as {
        readonly [Each in Name]?: Value
      }
    },
    named,
  )

/** `more`: further keywords of the schema. */
export const described = <Value>(description: string, shape: Shape<Value>, more: Schema = {}): Shape<Value> => ({
  ...shape,
  schema: { description, ...shape.schema, ...more },
})

/** A schema that others refer to by its name. `root`: where the definitions are. */
export const called = <Value>(name: string, shape: Shape<Value>, root = '#/components/schemas/'): Shape<Value> => ({
  ...shape,
  schema: { $ref: `${root}${name}` },
  named: { ...shape.named, [name]: shape.schema },
})
