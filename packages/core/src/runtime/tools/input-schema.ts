import { Ajv } from 'ajv'
import type { Options, ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

import { fail, messageOf } from '../../errors/index.js'
import { MARK_KEYWORD } from '../../gate/index.js'
import type { JsonSchema, ParseInput } from '../../gate/index.js'

import { isMapping } from '../../shapes/index.js'

import { FORMATS } from './formats.js'

const MAX_ISSUES = 5

/** `foreign`: keywords of other drafts. This one ignores them, so the check would be weaker than it looks. */
interface Draft {
  readonly name: string
  readonly create: (options: Options) => Ajv
  readonly foreign: readonly string[]
}

const DRAFT_2020: Draft = {
  name: 'draft 2020-12',
  create: (options) => new Ajv2020(options),
  foreign: ['additionalItems'],
}
const DRAFT_2019: Draft = { name: 'draft 2019-09', create: (options) => new Ajv2019(options), foreign: ['prefixItems'] }
const DRAFT_7: Draft = {
  name: 'draft-07',
  create: (options) => new Ajv(options),
  foreign: [
    ...['prefixItems', 'unevaluatedItems', 'unevaluatedProperties', 'dependentRequired', 'dependentSchemas'],
    ...['minContains', 'maxContains', '$anchor', '$dynamicRef', '$recursiveRef'],
  ],
}

/** By `$schema`, without the scheme and the last "#". */
const DRAFTS: ReadonlyMap<unknown, Draft> = new Map([
  ['json-schema.org/draft/2020-12/schema', DRAFT_2020],
  ['json-schema.org/draft/2019-09/schema', DRAFT_2019],
  ['json-schema.org/draft-07/schema', DRAFT_7],
])
const DRAFT_7_MARK = '"$schema": "http://json-schema.org/draft-07/schema#"'

const newChecker = ({ name, create, foreign }: Draft, more: Options = {}): Ajv =>
  create({
    allErrors: false,
    strict: false,
    formats: FORMATS,
    // An unknown format is an annotation.
    logger: false,
    ownProperties: true,
    keywords: [
      MARK_KEYWORD,
      ...foreign.map((keyword) => ({
        keyword,
        compile: () => {
          throw new Error(`${keyword} is not a keyword of ${name}, so it would check nothing`)
        },
      })),
    ],
    ...more,
  })

/** Checks the schemas themselves. Shared, because compiling the schema of schemas takes long. */
const checkerOfSchemas = (() => {
  const kept = new Map<Draft, Ajv>()
  return (draft: Draft): Ajv => {
    const made = kept.get(draft) ?? newChecker(draft)
    kept.set(draft, made)
    return made
  }
})()

/** Checks input by a JSON Schema. Nothing is coerced or filled in, so the checked input is the one that runs. */
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

const compiled = (tool: string, given: JsonSchema) => {
  const { $schema, ...parts } = given
  // The suite has schemas that are true or false.
  const schema = isMapping(given) ? parts : given
  const draft = $schema === undefined ? DRAFT_2020 : draftOf(tool, $schema)
  try {
    return compiledAs(draft, schema)
  } catch (cause) {
    const isOfDraft7 = $schema === undefined && isValidAs(DRAFT_7, schema)
    const fix = isOfDraft7 ? `it is valid as draft-07: add ${DRAFT_7_MARK}` : ''
    // Some circles of references are too much for the compiler of schemas.
    const problem = cause instanceof RangeError ? 'its references go in a circle' : messageOf(cause)
    throw fail('schema-invalid', { tool, problem, fix }, cause)
  }
}

const draftOf = (tool: string, $schema: unknown): Draft => {
  const draft =
    typeof $schema === 'string' ? DRAFTS.get($schema.replace(/^https?:\/\//, '').replace(/#$/, '')) : undefined
  if (draft !== undefined) return draft
  throw fail('schema-invalid', {
    tool,
    problem: `its $schema is ${JSON.stringify($schema)}, which is not known`,
    fix: `write it for draft 2020-12 (the default), 2019-09 or draft-07, for example ${DRAFT_7_MARK}`,
  })
}

const compiledAs = (draft: Draft, schema: JsonSchema): ValidateFunction => {
  void checkerOfSchemas(draft).validateSchema(schema, true)
  // One for each tool: two tools may give the same $id to different schemas.
  return newChecker(draft, { validateSchema: false }).compile(schema)
}

const isValidAs = (draft: Draft, schema: JsonSchema): boolean => {
  try {
    compiledAs(draft, schema)
    return true
  } catch {
    return false
  }
}
