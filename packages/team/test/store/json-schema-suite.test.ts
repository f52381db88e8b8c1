// Runs the official JSON Schema suite against both checkers of input: the database's and the runtime's.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import type { JsonSchema, ParseInput } from 'cordon/gate'
import { parserOfJsonSchema } from '../../../core/src/runtime/tools/input-schema.js'

import { describeEngines, openEngine } from './engines.js'

/** Copied from github.com/json-schema-org/JSON-Schema-Test-Suite (MIT licence, beside the files), draft 2020-12. */
const SUITE = join(import.meta.dirname, 'json-schema-suite')

interface Group {
  readonly description: string
  readonly schema: unknown
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

interface Case {
  readonly name: string
  readonly schema: unknown
  readonly data: unknown
  readonly isValid: boolean
}

const CASES: readonly Case[] = readdirSync(SUITE)
  .filter((name) => name.endsWith('.json'))
  .flatMap((file) =>
    (JSON.parse(readFileSync(join(SUITE, file), 'utf8')) as readonly Group[]).flatMap(
      ({ description, schema, tests }) =>
        tests.map(({ description: each, data, valid }) => ({
          name: `${file}: ${description}: ${each}`,
          schema,
          data,
          isValid: valid,
        })),
    ),
  )

/** Keywords that the database does not check. A tool whose schema has one cannot be registered. */
const UNSUPPORTED: Readonly<Record<string, readonly string[]>> = {
  'they refer to other schemas, which may be anywhere or go in a circle': [
    '$ref',
    '$defs',
    '$anchor',
    '$dynamicRef',
    '$dynamicAnchor',
    '$vocabulary',
  ],
  'they depend on what other keywords found': [
    'unevaluatedItems',
    'unevaluatedProperties',
    'minContains',
    'maxContains',
  ],
  'tools seldom use them, and anyOf, properties and items say the same': [
    'if',
    'then',
    'else',
    'contains',
    'prefixItems',
    'patternProperties',
    'propertyNames',
    'dependentRequired',
    'dependentSchemas',
    '$comment',
  ],
  'the database has no check for them, and they would seem to check something': [
    'format',
    'contentMediaType',
    'contentEncoding',
    'contentSchema',
  ],
}

const REFUSALS: readonly RegExp[] = [
  new RegExp(
    ` has the keyword (?:${Object.values(UNSUPPORTED)
      .flat()
      .map((name) => name.replace('$', '\\$'))
      .join('|')}), which is not checked here$`,
  ),
  // Of patterns: \p, \b, \c, references back and the like, which PostgreSQL reads in another way.
  / has a pattern with something that means something else here/,
  // A metaschema of its own may say that keywords mean nothing.
  / has the keyword \$schema with a value that cannot be checked$/,
]

/** No text of PostgreSQL has a NUL. */
const isAskable = ({ schema, data }: Case): boolean => !JSON.stringify([schema, data]).includes('\\u0000')

/** Cases that the database takes and in which the runtime's checker says otherwise, by the beginning of their name. */
const RUNTIME_DIFFERS: Readonly<Record<string, string>> = {
  'enum.json: empty enum': 'such a schema is refused when the tool is made',
  'float-overflow.json: all integers are multiples of 0.5, if overflow is handled':
    'a double loses the fraction; the database refuses so large a number',
  'properties.json: properties whose names are Javascript object property names: __proto__ not valid':
    'ajv passes over this one name; the gate refuses all input that has it',
}

const saysOtherwise = (cases: readonly Case[], answer: (each: Case, at: number) => unknown): readonly string[] =>
  cases.filter((each, at) => answer(each, at) !== each.isValid).map(({ name }) => name)

/** Cases with a schema that the database registers. */
let taken: readonly Case[] = []

describeEngines('JSON Schema', (engineName) => {
  let opened: Awaited<ReturnType<typeof openEngine>>

  const problemsOf = async (expression: string, values: readonly unknown[]): Promise<readonly (string | null)[]> => {
    const rows = await opened.engine.query<{ problem: string | null }>(
      `select ${expression} as problem from jsonb_array_elements($1::jsonb) with ordinality as each(given, ` +
        'number) order by number',
      [JSON.stringify(values)],
    )
    return rows.map(({ problem }) => problem)
  }

  beforeAll(async () => {
    opened = await openEngine(engineName)
  })
  afterAll(() => opened.close())

  test('the database refuses to register a schema with an unsupported keyword', async () => {
    const cases = CASES.filter(isAskable)
    expect([cases.length, CASES.length - cases.length]).toEqual([1391, 4])
    const problems = await problemsOf(
      'agents.fn_schema_problem(given)',
      cases.map(({ schema }) => schema),
    )
    taken = cases.filter((_, at) => problems[at] === null)
    expect(taken.length).toBeGreaterThan(550)
    const reasons = new Set(problems.filter((problem) => problem !== null))
    expect([...reasons].filter((reason) => !REFUSALS.some((refusal) => refusal.test(reason)))).toEqual([])
  })

  test('the database agrees with the suite about all other input', async () => {
    const problems = await problemsOf(
      'agents.fn_input_problem(given -> 1, given -> 0)',
      taken.map(({ schema, data }) => [schema, data]),
    )
    expect(saysOtherwise(taken, (_, at) => problems[at] === null)).toEqual([])
  })

  test.each([
    ['^.$', ['\n', '\u2028', 'a']],
    ['^[\\s\\S]$', ['\n', 'é']],
    ['^[^\\W\\d]$', ['é', '1', 'a']],
    ['^[\\D]$', ['٣', '3', 'é']],
    ['^[\\w.\\]-]+$', ['a-b.c]', 'é']],
    ['^\\\\w[\\\\w]$', ['\\w\\', '\\wé']],
  ])('the database reads the pattern %s as JavaScript does', async (pattern, texts) => {
    const problems = await problemsOf(
      'agents.fn_input_problem(given -> 1, given -> 0)',
      texts.map((text) => [{ pattern }, text]),
    )
    expect(problems.map((problem) => problem === null)).toEqual(
      texts.map((text) => new RegExp(pattern, 'u').test(text)),
    )
  })
})

test('the checker of the runtime agrees with the suite for registered schemas', () => {
  const parsers = new Map<string, ParseInput | undefined>()
  const isFit = ({ schema, data }: Case): unknown => {
    const key = JSON.stringify(schema)
    if (!parsers.has(key)) parsers.set(key, parserOrNothing(schema))
    const parsed = parsers.get(key)?.(data)
    return parsed !== undefined && 'kind' in parsed ? parsed.kind === 'input' : 'refused'
  }
  const known = Object.keys(RUNTIME_DIFFERS)
  const found = saysOtherwise(taken, isFit)
  expect(found.filter((name) => !known.some((each) => name.startsWith(each)))).toEqual([])
  expect(known.filter((each) => !found.some((name) => name.startsWith(each)))).toEqual([])
})

const parserOrNothing = (schema: unknown): ParseInput | undefined => {
  try {
    return parserOfJsonSchema('tool', schema as JsonSchema)
  } catch {
    return undefined
  }
}
