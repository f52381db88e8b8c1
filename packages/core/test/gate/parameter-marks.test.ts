import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'

import { commandLine, pathRead, pathWrite, text, url } from '../../src/gate/index.js'
import type { JsonSchema, StandardSchema, ToolDeclaration } from '../../src/gate/index.js'

import { outcome, outcomeOf, gateWith, callOf, toolWith } from './stage.js'

const policy = {
  filesystem: { read: ['/in/**'], write: ['/out/**'] },
  network: ['api.example.org'],
  egress_class: 'read_only',
}
const judged = (schema: StandardSchema | JsonSchema, input: unknown, kind: ToolDeclaration['kind'] = 'function') =>
  outcome({ tools: [toolWith({ schema, policy: { ...policy, risk: 'low' }, kind })] }, input)

const object = (properties: Readonly<Record<string, unknown>>): JsonSchema => ({ type: 'object', properties })

const SCHEMAS: readonly (readonly [string, StandardSchema | JsonSchema])[] = [
  [
    'JSON Schema',
    object({
      from: pathRead(),
      to: pathWrite({ type: 'string', minLength: 1 }),
      at: url(),
      note: text(),
      any: { type: 'string' },
      files: { type: 'array', items: pathRead() },
      deep: object({ to: pathWrite() }),
    }),
  ],
  [
    'zod',
    z.object({
      from: pathRead(z.string()).optional(),
      to: pathWrite(z.string().min(1)).optional(),
      at: url(z.string()).nullish(),
      note: text(z.string()).default('x'),
      any: z.string().optional(),
      files: z.array(pathRead(z.string())).optional(),
      deep: z.object({ to: pathWrite(z.string()) }).optional(),
    }),
  ],
  [
    'valibot',
    v.object({
      from: v.optional(pathRead(v.string())),
      to: v.optional(pathWrite(v.pipe(v.string(), v.minLength(1)))),
      at: v.nullish(url(v.string())),
      note: v.optional(text(v.string()), 'x'),
      any: v.optional(v.string()),
      files: v.optional(v.array(pathRead(v.string()))),
      deep: v.optional(v.object({ to: pathWrite(v.string()) })),
    }),
  ],
]

describe.each(SCHEMAS)('marks in %s', (_, schema) => {
  it('distinguish reading and writing', async () => {
    expect(await judged(schema, { from: '/in/a' })).toBe('allow')
    expect(await judged(schema, { to: '/out/a' })).toBe('allow')
    expect(await judged(schema, { to: '/in/a' })).toBe('deny argument-path-denied')
    expect(await judged(schema, { any: '/in/a' })).toBe('allow')
  })

  it('allow reading where writing is granted', async () => {
    expect(await judged(schema, { from: '/out/a' })).toBe('allow')
  })

  it('make every text a path, also a bare word', async () => {
    expect(await judged(schema, { from: 'a' })).toBe('deny argument-path-denied')
    expect(await judged(schema, { to: '' })).toMatch(/^deny/)
    expect(await judged(schema, { any: 'a' })).toBe('allow')
  })

  it('work in lists and nested values', async () => {
    expect(await judged(schema, { files: ['/in/a', '/out/b'] })).toBe('allow')
    expect(await judged(schema, { files: ['/in/a', 'b'] })).toBe('deny argument-path-denied')
    expect(await judged(schema, { deep: { to: '/in/a' } })).toBe('deny argument-path-denied')
    expect(await judged(schema, { deep: { to: '/out/a' } })).toBe('allow')
  })

  it('make a text a URL, and refuse a text that is none', async () => {
    expect(await judged(schema, { at: 'https://api.example.org/x' })).toBe('allow')
    expect(await judged(schema, { at: 'https://evil.example/x' })).toBe('deny argument-url-denied')
    for (const at of ['evil.example', '//evil.example/', 'javascript:x', 'file:///etc/passwd', ''])
      expect(await judged(schema, { at })).toBe('deny argument-unreadable')
  })

  it('exempt content, which is never opened', async () => {
    expect(await judged(schema, { note: '/* a comment */ see https://evil.example ../../x \0' })).toBe('allow')
    expect(await judged(schema, { any: '/* a comment */' })).toBe('deny argument-path-denied')
  })
})

describe('a mark', () => {
  it('in JSON Schema is the keyword x-cordon', () => {
    expect(pathRead()).toEqual({ 'type': 'string', 'x-cordon': 'path-read' })
    expect(pathWrite({ type: 'string', maxLength: 9 })).toEqual({
      'type': 'string',
      'maxLength': 9,
      'x-cordon': 'path-write',
    })
  })

  it('does not change its schema', async () => {
    const plain = z.string()
    expect(await judged(z.object({ a: pathWrite(plain).optional(), b: plain.optional() }), { b: '/in/a' })).toBe(
      'allow',
    )
    const bare = v.string()
    expect(await judged(v.object({ a: v.optional(pathWrite(bare)), b: v.optional(bare) }), { b: '/in/a' })).toBe(
      'allow',
    )
  })

  it('works behind references, unions and intersections', async () => {
    const schema = {
      ...object({ a: { $ref: '#/$defs/out' }, b: { anyOf: [{ type: 'null' }, pathWrite()] } }),
      $defs: { out: pathWrite() },
    }
    expect(await judged(schema, { a: '/in/a' })).toBe('deny argument-path-denied')
    expect(await judged(schema, { b: '/in/a' })).toBe('deny argument-path-denied')
    expect(await judged(z.object({ a: z.union([z.number(), pathWrite(z.string())]) }), { a: '/in/a' })).toBe(
      'deny argument-path-denied',
    )
    expect(await judged(z.record(z.string(), pathWrite(z.string())), { a: '/in/a' })).toBe('deny argument-path-denied')
    expect(
      await judged(z.object({ a: pathWrite(z.string()) }).and(z.object({ b: z.string() })), { a: '/in/a', b: '' }),
    ).toBe('deny argument-path-denied')
    expect(await judged(v.record(v.string(), pathWrite(v.string())), { a: '/in/a' })).toBe('deny argument-path-denied')
    expect(
      await judged(v.variant('k', [v.object({ k: v.literal(1), a: pathWrite(v.string()) })]), { k: 1, a: '/in/a' }),
    ).toBe('deny argument-path-denied')
  })

  it('works in a schema that refers to itself', async () => {
    const schema = { ...object({ child: { $ref: '#' }, path: pathWrite() }) }
    expect(await judged(schema, { child: { child: { path: '/in/a' } } })).toBe('deny argument-path-denied')
    const tree: z.ZodType = z.object({ path: pathWrite(z.string()).optional(), child: z.lazy(() => tree).optional() })
    expect(await judged(tree, { child: { path: '/in/a' } })).toBe('deny argument-path-denied')
  })

  it('of two kinds requires both', async () => {
    const schema = object({ a: { allOf: [pathRead(), pathWrite()] } })
    expect(await judged(schema, { a: '/in/a' })).toBe('deny argument-path-denied')
    expect(await judged(schema, { a: '/out/a' })).toBe('allow')
  })

  it('that does not exist is an error', () => {
    expect(() => toolWith({ schema: object({ a: { 'type': 'string', 'x-cordon': 'path-raed' } }) })).toThrow(
      expect.objectContaining({ code: 'schema-not-markable' }),
    )
    expect(() => pathRead('x' as never)).toThrow(expect.objectContaining({ code: 'schema-not-markable' }))
  })

  it('as a command is for rules: a cell does not judge its words as paths, in process the gate does', async () => {
    const schema = z.object({ line: commandLine(z.string()) })
    expect(await judged(schema, { line: 'cat /etc/shadow' })).toBe('allow')
    expect(await judged(schema, { line: 'cat /etc/shadow' }, 'in-process')).toBe('deny argument-path-denied')
    expect(await judged(schema, { line: 'cat /in/a' }, 'in-process')).toBe('allow')
    expect(
      await outcome(
        { tools: [toolWith({ schema })], rules: [{ effect: 'deny', command: 'cat', because: 'x' }] },
        { line: 'cat x' },
      ),
    ).toBe('deny rule-denied')
  })
})

describe('a schema from a library', () => {
  it('parses the input, and the gate judges and runs its output', async () => {
    const schema = z.object({ path: z.string().transform((path) => path.replace('@', '/etc/')) })
    expect(await judged(schema, { path: '@shadow' })).toBe('deny argument-path-denied')
    const stripped = await gateWith({ tools: [toolWith({ schema: z.object({ a: z.number() }) })] }).decide(
      callOf({ a: 1, extra: '/etc/shadow' }),
    )
    expect(stripped).toMatchObject({ kind: 'permitted', inputs: { call: { a: 1 } } })
  })

  it('denies the call if it refuses the input, and says where', async () => {
    const gate = gateWith({ tools: [toolWith({ schema: z.object({ a: z.object({ b: z.number() }) }) })] })
    const evaluation = await gate.decide(callOf({ a: { b: 'x' } }))
    expect(outcomeOf(evaluation)).toBe('deny input-invalid')
    expect(evaluation.decision.agent_reason).toMatch(/a\.b: /)
  })

  it('may be asynchronous', async () => {
    const schema = z.object({ a: z.string().refine(async (value) => Promise.resolve(value === 'ok')) })
    expect([await judged(schema, { a: 'ok' }), await judged(schema, { a: 'no' })]).toEqual([
      'allow',
      'deny input-invalid',
    ])
  })

  it('denies if it throws or returns something that is not JSON', async () => {
    const throwing = {
      '~standard': {
        version: 1,
        vendor: 'x',
        validate: () => {
          throw new Error('oops')
        },
      },
    } as const
    expect(await judged(throwing, {})).toBe('deny input-unusable')
    expect(await judged(z.object({ when: z.coerce.date() }), { when: '2026-01-01' })).toBe('deny input-not-json')
  })
})
