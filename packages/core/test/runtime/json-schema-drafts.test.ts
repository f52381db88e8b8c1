// Runs the official JSON Schema suite for the drafts that servers of tools send, and for formats.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { TEAM } from '../../../../test/repository.js'
import type { JsonSchema } from '../../src/gate/index.js'
import { tool } from '../../src/runtime/index.js'
import { parserOfJsonSchema } from '../../src/runtime/tools/input-schema.js'

import { asWritten, openStage } from './stage.js'

/** Copied from github.com/json-schema-org/JSON-Schema-Test-Suite (MIT licence, beside the files). */
const SUITE = join(TEAM, 'test', 'store', 'json-schema-suite')

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#'
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema'

interface Group {
  readonly description: string
  readonly schema: JsonSchema | boolean
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const checkerOf = (schema: JsonSchema | boolean): ((data: unknown) => boolean | 'refused') => {
  try {
    const parse = parserOfJsonSchema('tool', schema as JsonSchema)
    return (data) => {
      const parsed = parse(data)
      return 'kind' in parsed && parsed.kind === 'input'
    }
  } catch {
    return () => 'refused'
  }
}

const answerTo = (schema: JsonSchema, data: unknown): boolean | 'refused' => checkerOf(schema)(data)

/** Cases in which the runtime says otherwise, by file and group; with a case if only that one differs. */
const differencesIn = (
  folder: string,
  $schema?: string,
): { readonly cases: number; readonly found: readonly string[] } => {
  const found = new Set<string>()
  let cases = 0
  for (const file of readdirSync(join(SUITE, folder))) {
    const groups = JSON.parse(readFileSync(join(SUITE, folder, file), 'utf8')) as readonly Group[]
    for (const { description, schema, tests } of groups) {
      const check = checkerOf(typeof schema === 'object' && $schema !== undefined ? { $schema, ...schema } : schema)
      for (const { description: each, data, valid } of tests) {
        cases += 1
        const answer = check(data)
        if (answer !== valid) found.add(`${file}: ${description}${answer === 'refused' ? ' (refused)' : `: ${each}`}`)
      }
    }
  }
  return { cases, found: [...found] }
}

const PROTO = 'properties.json: properties whose names are Javascript object property names: __proto__ not valid'

/** Written down with the reason. Names are beginnings. */
const UNSUPPORTED_7: Readonly<Record<string, string>> = {
  'refRemote.json': 'other documents are never fetched; such a schema is refused',
  [PROTO]: 'ajv passes over this one name; the gate refuses all input that has it',
  'ref.json: ref overrides any sibling keywords': 'keywords beside $ref are checked too, as later drafts say: stricter',
  'ref.json: $ref prevents a sibling $id': 'the same, for $id',
}
const UNSUPPORTED_2019: Readonly<Record<string, string>> = {
  'refRemote.json': 'other documents are never fetched; such a schema is refused',
  'vocabulary.json': 'a metaschema of its own may say that keywords mean nothing; such a schema is refused',
  'enum.json: empty enum': 'such a schema is refused when the tool is made',
  [PROTO]: 'ajv passes over this one name; the gate refuses all input that has it',
  'ref.json: refs with relative uris and defs': 'ajv cannot compile it; refused',
  'ref.json: relative refs with absolute uris and defs': 'ajv cannot compile it; refused',
  'ref.json: URN ref with nested pointer ref': 'ajv cannot compile it; refused',
  'recursiveRef.json: $recursiveRef with no $recursiveAnchor in the initial target': 'ajv takes the outer schema',
  'unevaluatedItems.json: unevaluatedItems with nested items': 'ajv looks at the items of a nested schema only',
  'unevaluatedItems.json: unevaluatedItems can see annotations from if': 'ajv counts "if" only beside then or else',
  'unevaluatedProperties.json: unevaluatedProperties with if/then/else, then not defined': 'the same',
  'unevaluatedProperties.json: unevaluatedProperties can see annotations from if': 'the same',
}
const UNSUPPORTED_FORMATS: Readonly<Record<string, string>> = {
  'idn-email.json': 'an annotation: not checked',
  'idn-hostname.json': 'an annotation: not checked',
  'iri.json': 'an annotation: not checked',
  'iri-reference.json': 'an annotation: not checked',
  'uri-template.json': 'an annotation: not checked',
  'hostname.json: validation of A-label (punycode) host names': 'an encoded name is not decoded',
}

describe('the official suite', () => {
  test.each([
    ['draft-07', 'draft7', DRAFT_7, UNSUPPORTED_7, 900],
    ['draft 2019-09', 'draft2019-09', undefined, UNSUPPORTED_2019, 1200],
    ['formats', 'format', undefined, UNSUPPORTED_FORMATS, 750],
  ] as const)(
    'agrees with the runtime about %s, except in the listed cases',
    (_name, folder, $schema, listed, least) => {
      const { cases, found } = differencesIn(folder, $schema)
      expect(cases).toBeGreaterThan(least)
      const known = Object.keys(listed)
      expect(found.filter((name) => !known.some((each) => name.startsWith(each)))).toEqual([])
      expect(known.filter((each) => !found.some((name) => name.startsWith(each)))).toEqual([])
    },
  )
})

describe('a schema as a server of tools sends it', () => {
  const TREE = {
    type: 'object',
    properties: {
      root: { $ref: '#/definitions/node' },
      pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
    },
    required: ['root'],
    dependencies: { pair: ['label'] },
    additionalProperties: true,
    definitions: {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, of: { type: 'array', items: { $ref: '#/definitions/node' } } },
        required: ['name'],
      },
    },
  }

  test('is checked by its own draft', () => {
    for (const $schema of [DRAFT_7, DRAFT_7.slice(0, -1), DRAFT_7.replace('http:', 'https:'), DRAFT_2019]) {
      const schema = { $schema, ...TREE }
      expect(answerTo(schema, { root: { name: 'a', of: [{ name: 'b' }] } })).toBe(true)
      expect(answerTo(schema, { root: { name: 'a', of: [{ name: 1 }] } })).toBe(false)
      expect(answerTo(schema, { root: { name: 'a' }, pair: ['a', 1], label: 1 })).toBe(true)
      expect(answerTo(schema, { root: { name: 'a' }, pair: ['a', 1, 2], label: 1 })).toBe(false)
      expect(answerTo(schema, { root: { name: 'a' }, pair: ['a', 1] })).toBe(false)
    }
  })

  test('is refused without $schema if only draft-07 can read it, and the error says so', () => {
    expect(() => parserOfJsonSchema('t', TREE)).toThrow(
      expect.objectContaining({ code: 'schema-invalid', fix: expect.stringContaining(DRAFT_7) as string }) as Error,
    )
  })

  test.each([
    [{ $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, 'draft-04'],
    [{ $schema: 7 }, 'not known'],
    [{ $schema: DRAFT_7, unevaluatedProperties: false }, 'unevaluatedProperties is not a keyword of draft-07'],
    [{ $schema: DRAFT_7, properties: { a: { prefixItems: [{}] } } }, 'prefixItems is not a keyword of draft-07'],
    [{ $schema: DRAFT_7, properties: { a: { $recursiveRef: '#' } } }, '$recursiveRef is not a keyword of draft-07'],
    [{ properties: { a: { items: {}, additionalItems: false } } }, 'additionalItems is not a keyword of draft 2020-12'],
    [{ $schema: DRAFT_7, properties: { a: { $ref: 'https://example.org/a.json' } } }, "can't resolve reference"],
  ])('is refused if it would check less than it says: %j', (schema, problem) => {
    expect(() => parserOfJsonSchema('t', schema)).toThrow(problem)
  })

  test('may have these words as names of properties, and keywords that nobody knows', () => {
    const schema = {
      '$schema': DRAFT_7,
      'properties': { prefixItems: { type: 'string' } },
      'x-order': 1,
      'example': 'a',
    }
    expect([answerTo(schema, { prefixItems: 'a' }), answerTo(schema, { prefixItems: 1 })]).toEqual([true, false])
  })
})

describe('the format of a text', () => {
  test('is checked in a call, and an unknown format is not', async () => {
    const stage = openStage()
    const input = {
      type: 'object',
      properties: { to: { type: 'string', format: 'email' }, on: { format: 'moon-phase' } },
    }
    const cordon = await stage.cordon({
      tools: [tool({ name: 'send', input, argumentGate: 'off', run: asWritten('({ to }) => to') })],
    })
    expect(await cordon.call('send', { to: 'ann@example.org', on: 'full' })).toMatchObject({ status: 'ok' })
    expect(await cordon.call('send', { to: 'ann', on: 'full' })).toMatchObject({
      status: 'denied',
      reason: expect.stringContaining('to must match format "email"') as string,
    })
  })

  test('is read in linear time', () => {
    const schemas = ['date-time', 'duration', 'email', 'hostname', 'uri', 'json-pointer', 'relative-json-pointer'].map(
      (format) => ({ format }),
    )
    const began = performance.now()
    for (const text of [
      'a'.repeat(1e6),
      '/'.repeat(1e6),
      `P${'1'.repeat(1e6)}`,
      '@'.repeat(1e6),
      `x:${'%20'.repeat(3e5)}%`,
      '-.'.repeat(5e5),
    ])
      for (const schema of schemas) answerTo(schema, text)
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})
