import { createRequire } from 'node:module'

import type * as Ajv from 'ajv/dist/2020.js'

import { fail } from '../../errors/index.js'
import { MARK_KEYWORD } from '../../gate/index.js'
import type { JsonSchema, ParseInput } from '../../gate/index.js'

const MAX_ISSUES = 5

const require = createRequire(import.meta.url)

/** Loaded with the first schema: it takes a sixth of all the time that a runtime takes to load. */
const newChecker = (more: Ajv.Options = {}): Ajv.Ajv2020 =>
  new (require('ajv/dist/2020.js') as typeof Ajv).Ajv2020({
    allErrors: false,
    strict: false,
    validateFormats: false,
    ownProperties: true,
    keywords: [MARK_KEYWORD],
    ...more,
  })

/**
 * Checks the schemas themselves. One for all: it compiles the schema of schemas, which takes longer than any tool's
 * own.
 */
const checkerOfSchemas = (() => {
  let kept: Ajv.Ajv2020 | undefined
  return (): Ajv.Ajv2020 => (kept ??= newChecker())
})()

/** Checks input by a JSON Schema. Nothing is coerced or filled in: what was checked is what runs. */
export const parserOfJsonSchema = (tool: string, schema: JsonSchema): ParseInput => {
  const validate = compiled(tool, schema)
  return (value) => {
    if (validate(value)) return { kind: 'input', value }
    const issues = (validate.errors ?? [])
      .slice(0, MAX_ISSUES)
      .map(
        ({ instancePath, message }) =>
          `${instancePath.slice(1).replaceAll('/', '.') || 'the input'} ${message ?? 'is not valid'}`,
      )
    return { kind: 'problem', problem: issues.join('; ') }
  }
}

const compiled = (tool: string, schema: JsonSchema) => {
  try {
    void checkerOfSchemas().validateSchema(schema, true)
    // One for each tool: two tools may give the same $id to different schemas.
    return newChecker({ validateSchema: false }).compile(schema)
  } catch (cause) {
    throw fail('schema-invalid', { tool, problem: cause instanceof Error ? cause.message : String(cause) }, cause)
  }
}
