// The tools of a runtime as an agent offers them to a model.
import { hashOf, isStandardSchema, MARK_KEYWORD } from '../../gate/index.js'
import type { JsonSchema } from '../../gate/index.js'
import type { Risk } from '../../policy/index.js'

import type { BoundTool } from '../tools/bound-tool.js'
import type { InputSchema } from '../tools/schema-type.js'
import type { ToolDefinition } from '../tools/tools.js'

export interface ListedTool {
  readonly name: string
  /** The name for the model: providers accept letters, digits, "_" and "-" alone. `callFromModel` takes it. */
  readonly modelName: string
  readonly description: string
  readonly kind: ToolDefinition['kind']
  readonly risk: Risk
  /** Draft 2020-12, without marks of Cordon. */
  readonly inputSchema: JsonSchema
  /** The policy guarantees that it changes nothing outside of its sandbox. */
  readonly readOnly: boolean
  /** It declares that its calls destroy something. */
  readonly destructive: boolean
  /** It may reach hosts. */
  readonly openWorld: boolean
}

export const listTools = (tools: readonly BoundTool[]): readonly ListedTool[] => {
  const names = modelNamesOf(tools.map(({ gate }) => gate.name))
  return tools.map(({ definition, gate: { name, boundary, isReadOnly } }) => {
    const { kind, description, schema, destructive } = definition
    const isHeld = kind !== 'in-process'
    return {
      name,
      kind,
      description,
      modelName: names.get(name) ?? name,
      risk: boundary.risk.level,
      inputSchema: modelSchemaOf(schema) ?? { type: 'object' },
      readOnly: isHeld && isReadOnly,
      destructive: destructive !== undefined,
      openWorld: !isHeld || boundary.egressClass.level !== 'none',
    }
  })
}

/** As model providers accept them: letters, digits, "_" and "-". */
const FITTING_NAME = /^[A-Za-z0-9_-]{1,64}$/
const MOST = 64
const HASH_LENGTH = 8

/** The name for the model of each tool. A name that fits stays as it is. */
export const modelNamesOf = (names: readonly string[]): ReadonlyMap<string, string> => {
  const taken = new Set(names.filter(fits))
  return new Map(
    names.map((name) => {
      if (fits(name)) return [name, name]
      const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
      // Two tools must not become one, nor one take the name of another.
      let given = plain.slice(0, MOST)
      for (let length = HASH_LENGTH; taken.has(given) || (length === HASH_LENGTH && plain.length > MOST); length += 1)
        given = withHash(plain, name, length)
      taken.add(given)
      return [name, given]
    }),
  )
}

const fits = (name: string): boolean => FITTING_NAME.test(name)

const withHash = (plain: string, name: string, length: number): string =>
  `${plain.slice(0, MOST - length - 1)}_${hashOf(name).slice('sha256:'.length).slice(0, length)}`

// The JSON Schema of a tool's input, for a model.

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
