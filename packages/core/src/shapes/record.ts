// Records: shapes that are published as files of schemas/. A published schema permits further fields, so that a later
// version may add some. `read` refuses fields that are not declared, like that of any other shape.
import { called, fields, matching } from './shape.js'
import type { Read, Schema, Shape, Shapes } from './shape.js'

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
