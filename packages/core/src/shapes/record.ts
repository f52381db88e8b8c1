// Records: shapes that are published as files of schemas/. A published schema permits further fields, so that a later
// version may add some. `read` refuses fields that are not declared, like that of any other shape.
import { called, fields, matching } from './shape.js'
import type { Place, Read, Schema, Shape, Shapes } from './shape.js'

const DEFINITIONS = '#/$defs/'

/** A definition in the file of the record, referred to by its name. */
export const defined = <Value>(name: string, shape: Shape<Value>): Shape<Value> => called(name, shape, DEFINITIONS)

export const hash = (): Shape<string> => defined('hash', matching(/^sha256:[0-9a-f]{64}$/, 'a hash'))
export const time = (): Shape<string> =>
  defined('time', matching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/, 'a time in UTC'))

export const record = <const Parts extends Shapes>(parts: Parts): Shape<Read<Parts>> => {
  const { schema, ...shape } = fields(parts)
  const { additionalProperties: _, ...open } = schema
  return { ...shape, schema: open }
}

/** The file of a record. `more`: fewer `required` fields than declared, and conditions between fields. */
export const recordFile = (
  title: string,
  description: string,
  { schema, named }: Shape<unknown>,
  more: Schema = {},
): Schema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title,
  description,
  ...schema,
  ...more,
  ...(Object.keys(named).length === 0 ? {} : { $defs: named }),
})

/** For a file that Cordon itself writes. Its errors name the place. */
export const placeInFile = (where: string): Place => {
  const told: Place['told'] = (found, expected) => new Error(`${where} is ${found}, and not ${expected}`)
  const place: Place = {
    at: (key) => placeInFile(`${where}: ${String(key)}`),
    entry: (name) => placeInFile(`${where}: ${JSON.stringify(name)}`),
    hidden: () => place,
    told,
    wrong: (value, expected) => told(typeof value, expected),
    notOneOf: (_value, known) => told('another word', `one of ${known.join(', ')}`),
    unknown: (key) => new Error(`${where} has the unknown field ${JSON.stringify(key)}`),
  }
  return place
}

/** A mapping of any names has no optional fields. */
type OptionalName<Fields, Name extends keyof Fields> = string extends Name
  ? never
  : undefined extends Fields[Name]
    ? Name
    : never

type WithoutUndefined<Fields> = {
  [Name in keyof Fields as Exclude<Name, OptionalName<Fields, Name>>]: Exclude<Fields[Name], undefined>
} & { [Name in keyof Fields as OptionalName<Fields, Name>]?: Exclude<Fields[Name], undefined> }

/** Leaves out the fields without a value: an optional field may be missing, but not undefined. */
export const withoutUndefined = <Fields extends object>(fields: Fields): WithoutUndefined<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<Fields>
