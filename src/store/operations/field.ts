// What an operation is given, field by field: one declaration is its type, its check and its JSON Schema.
import { fail } from '../../errors/index.js'

export interface Field<Value> {
  readonly schema: Readonly<Record<string, unknown>>
  readonly isOptional: boolean
  /** Throws what is wrong with it, in words that name the place. */
  readonly read: (value: unknown, place: string) => Value
  /** From the text of a path or a query. */
  readonly fromText: (text: string) => unknown
}

export type Fields = Readonly<Record<string, Field<unknown>>>

type OptionalNames<Given extends Fields> = { [Name in keyof Given]: undefined extends ReturnType<Given[Name]['read']> ? Name : never }[keyof Given]

export type Read<Given extends Fields> = { readonly [Name in Exclude<keyof Given, OptionalNames<Given>>]: ReturnType<Given[Name]['read']> } & {
  readonly [Name in OptionalNames<Given>]?: Exclude<ReturnType<Given[Name]['read']>, undefined>
}

const invalid = (place: string, expected: string) => fail('request-invalid', { problem: `${place} must be ${expected}`, fix: 'GET /openapi.json says what each request takes' })

interface Form<Value> {
  readonly schema: Readonly<Record<string, unknown>>
  readonly expected: string
  readonly isFit: (value: unknown) => value is Value
  readonly fromText?: (text: string) => unknown
}

const field = <Value>({ schema, expected, isFit, fromText = (text) => text }: Form<Value>): Field<Value> => ({
  schema,
  isOptional: false,
  fromText,
  read: (value, place) => {
    if (!isFit(value)) throw invalid(place, expected)
    return value
  },
})

export const optional = <Value>({ schema, read, fromText }: Field<Value>): Field<Value | undefined> => ({
  schema,
  isOptional: true,
  fromText,
  // What PostgreSQL calls null is nothing that was said.
  read: (value, place) => (value === undefined || value === null ? undefined : read(value, place)),
})

const isText = (value: unknown): value is string => typeof value === 'string'
const MOST_LETTERS = 10_000

/** A NUL is in no text of PostgreSQL. */
export const text = (most = MOST_LETTERS): Field<string> =>
  field({ schema: { type: 'string', maxLength: most }, expected: `a text of at most ${String(most)} letters, without NUL`, isFit: (value): value is string => isText(value) && value.length <= most && !value.includes('\0') })

export const filledText = (most = MOST_LETTERS): Field<string> =>
  field({ schema: { type: 'string', minLength: 1, maxLength: most }, expected: `a text of 1 to ${String(most)} letters, without NUL`, isFit: (value): value is string => isText(value) && value.trim() !== '' && value.length <= most && !value.includes('\0') })

const shaped = (pattern: RegExp, expected: string): Field<string> => field({ schema: { type: 'string', pattern: pattern.source }, expected, isFit: (value): value is string => isText(value) && pattern.test(value) })

/** Of teams, people, agents, runners, profiles: nothing that needs quotes anywhere, or could be taken for something else. */
export const name = (): Field<string> => shaped(/^[A-Za-z0-9][A-Za-z0-9_.@:+-]{0,127}$/, 'a name of letters, digits and _ . @ : + -, at most 128')
/** With the ending of its process. */
export const runnerName = (): Field<string> => shaped(/^[A-Za-z0-9][A-Za-z0-9_.@:+-]{0,127}(\/[0-9a-f]{1,16})?$/, 'the name of a runner, such as laptop or laptop/4f2a91c0')
export const toolKey = (): Field<string> => shaped(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/, 'the key of a tool')
export const id = (): Field<string> => shaped(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'an id such as 0190c5d4-6f6a-7c3e-9f0a-1b2c3d4e5f60')
export const hash = (): Field<string> => shaped(/^sha256:[0-9a-f]{64}$/, 'a hash such as sha256:… of what was shown')
export const fence = (): Field<string> => shaped(/^\d{1,18}$/, 'the fence of the claim')

export const outputMark = (): Field<string> => shaped(/^\d{1,18}\.\d{1,9}$/, 'the mark of something that a call said, such as 1.12')

export const oneOf = <const Word extends string>(...words: readonly Word[]): Field<Word> =>
  field({ schema: { enum: words }, expected: words.join(' or '), isFit: (value): value is Word => words.some((word) => word === value) })

export const whole = (least: number, most: number): Field<number> =>
  field({
    schema: { type: 'integer', minimum: least, maximum: most },
    expected: `a whole number from ${String(least)} to ${String(most)}`,
    isFit: (value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most,
    fromText: (given) => (/^-?\d{1,15}$/.test(given) ? Number(given) : given),
  })

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

export const amount = (): Field<number> => field({ schema: { type: 'number', minimum: 0 }, expected: 'a number, at least 0', isFit: isAmount })

/** Amounts by name. */
export const amounts = <const Name extends string>(names: readonly Name[]): Field<{ readonly [Each in Name]?: number }> =>
  field({
    schema: { type: 'object', additionalProperties: false, properties: Object.fromEntries(names.map((each) => [each, amount().schema])) },
    expected: `a mapping of ${names.join(', ')} to numbers, at least 0`,
    isFit: (value): value is { readonly [Each in Name]?: number } =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.entries(value).every(([key, each]) => names.some((known) => known === key) && isAmount(each)),
  })

export const yesOrNo = (): Field<boolean> =>
  field({ schema: { type: 'boolean' }, expected: 'true or false', isFit: (value): value is boolean => typeof value === 'boolean', fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given) })

export const list = <Value>(item: Field<Value>, most = 1000): Field<readonly Value[]> => ({
  schema: { type: 'array', items: item.schema, maxItems: most },
  isOptional: false,
  fromText: (given) => given,
  read: (value, place) => {
    if (!Array.isArray(value) || value.length > most) throw invalid(place, `a list of at most ${String(most)}`)
    return value.map((each, at) => item.read(each, `${place}[${String(at)}]`))
  },
})

const MOST_JSON_LETTERS = 262_144

/** Of so many letters of JSON: what is looked at with every call, or kept beside it, is no place for more. */
export const mapping = (most = MOST_JSON_LETTERS): Field<Readonly<Record<string, unknown>>> =>
  field({ schema: { type: 'object' }, expected: `a mapping of at most ${String(most)} letters of JSON`, isFit: (value): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value) && JSON.stringify(value).length <= most })

/** Any JSON, null too. */
export const json = (): Field<unknown> => ({
  schema: {},
  isOptional: false,
  fromText: (given) => given,
  read: (value, place) => {
    if (value === undefined) throw invalid(place, 'there')
    return value
  },
})

/** All of what was given is known, and all of it is fit. */
export const readFields = <Given extends Fields>(fields: Given, given: Readonly<Record<string, unknown>>): Read<Given> => {
  const strange = Object.keys(given).find((key) => !Object.hasOwn(fields, key))
  if (strange !== undefined) throw fail('request-invalid', { problem: `there is no ${JSON.stringify(strange)} here; there are ${Object.keys(fields).join(', ') || 'no fields'}`, fix: 'GET /openapi.json says what each request takes' })
  const read = Object.entries(fields).flatMap(([key, each]) => {
    const value = each.read(Object.hasOwn(given, key) ? given[key] : undefined, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(read) as Read<Given>
}
