// The part of a server's schema that the gate checks. Patterns, formats, references and combinations are left out: they
// are a server's own programs, and could keep the gateway busy for hours. The server checks its whole schema itself.
import type { JsonSchema } from '../gate/index.js'
import { isMapping, isTexts } from '../shapes/index.js'

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const
const MOST_DEEP = 8

export const plainSchema = (schema: unknown, depth = 0): JsonSchema => {
  if (!isMapping(schema) || depth > MOST_DEEP) return {}
  const { type, required, properties, items } = schema
  const limits = LIMITS.flatMap((name) => (Number.isSafeInteger(schema[name]) ? [[name, schema[name]] as const] : []))
  return {
    ...(isType(type) ? { type } : {}),
    ...(isTexts(required) ? { required: [...new Set(required)] } : {}),
    ...Object.fromEntries(limits),
    ...(isMapping(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [name, plainSchema(each, depth + 1)]),
          ),
        }
      : {}),
    ...(isMapping(items) ? { items: plainSchema(items, depth + 1) } : {}),
  }
}

const isType = (type: unknown): boolean =>
  TYPES.has(type) || (Array.isArray(type) && type.length > 0 && type.every((each) => TYPES.has(each)))
