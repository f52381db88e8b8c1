// The JSON Schema of a tool's input, for a model.
import { MARK_KEYWORD, isStandardSchema } from '../../gate/index.js'
import type { JsonSchema } from '../../gate/index.js'

import type { InputSchema } from '../tools/schema-type.js'

/** Anything: what can be said of an input without a schema. */
const ANY_OBJECT: JsonSchema = { type: 'object' }

/** Undefined where the library of the schema gives no JSON Schema. */
export const modelSchemaOf = (schema: InputSchema | undefined): JsonSchema | undefined => {
  if (schema === undefined) return ANY_OBJECT
  const json = isStandardSchema(schema) ? jsonOfStandard(schema) : schema
  return json === undefined ? undefined : (withoutMarks(json) as JsonSchema)
}

interface GivesJson {
  readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => JsonSchema }
}

const jsonOfStandard = (schema: { readonly '~standard': object }): JsonSchema | undefined => {
  const { jsonSchema } = schema['~standard'] as GivesJson
  try {
    return jsonSchema?.input?.({ target: 'draft-2020-12' })
  } catch {
    // A part of it (a date, a transform) has no JSON form.
    return undefined
  }
}

/** Marks of parameters are for the gate. A provider may refuse a keyword that it does not know. */
const withoutMarks = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== MARK_KEYWORD)
      .map(([key, each]) => [key, withoutMarks(each)]),
  )
}
