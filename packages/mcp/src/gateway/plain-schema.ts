// The part of a server's schema that the gate checks. Patterns, formats, references and combinations are left out: they
// are a server's own programs, and could keep the gateway busy for hours. So is what lies deep, or behind many other
// parts. The server checks its whole schema itself.
import type { JsonSchema } from 'cordon/gate'
import { isMapping, isTexts } from 'cordon/shapes'

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const
const MOST_DEEP = 8
const MOST_PARTS = 1_000

export const plainSchema = (schema: unknown): JsonSchema => {
  let parts = 0
  const plain = (part: unknown, depth: number): JsonSchema => {
    parts += 1
    if (!isMapping(part) || depth > MOST_DEEP || parts > MOST_PARTS) return {}
    const { type, required, properties, items } = part
    const limits = LIMITS.flatMap((name) => (Number.isSafeInteger(part[name]) ? [[name, part[name]] as const] : []))
    return {
      ...(isType(type) ? { type } : {}),
      ...(isTexts(required) ? { required: [...new Set(required)].slice(0, MOST_PARTS) } : {}),
      ...Object.fromEntries(limits),
      ...(isMapping(properties)
        ? {
            properties: Object.fromEntries(
              Object.entries(properties)
                .slice(0, MOST_PARTS)
                .map(([name, each]) => [name, plain(each, depth + 1)]),
            ),
          }
        : {}),
      ...(isMapping(items) ? { items: plain(items, depth + 1) } : {}),
    }
  }
  return plain(schema, 0)
}

const isType = (type: unknown): boolean =>
  TYPES.has(type) || (Array.isArray(type) && type.length > 0 && type.every((each) => TYPES.has(each)))
