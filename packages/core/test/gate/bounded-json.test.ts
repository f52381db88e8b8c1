// These tests count steps and sizes, and assert no time.
import { describe, expect, it } from 'vitest'

import { hashOf, readBoundedJson, sizeInSteps, takeSnapshot } from '../../src/gate/index.js'
import { excessOf } from '../../src/gate/input/bounded-json.js'
import type { JsonLimits, JsonValue } from '../../src/gate/index.js'

const LIMITS: JsonLimits = { bytes: 1_000_000, elements: 100, depth: 10 }
const read = (text: string, limits: Partial<JsonLimits> = {}) =>
  readBoundedJson(Buffer.from(text), { ...LIMITS, ...limits })

/** Bytes that count how often they are looked at. */
const watched = (text: string) => {
  const bytes = Buffer.from(text)
  const seen = { reads: 0 }
  const proxy = new Proxy(bytes, {
    get: (target, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) seen.reads += 1
      const value: unknown = Reflect.get(target, key, target)
      return value
    },
  })
  return { proxy, seen }
}

describe('JSON from a tool', () => {
  it.each([
    ['tiny elements', `[${'[],'.repeat(1_000_000)}1]`],
    ['nesting', '['.repeat(1_000_000)],
    ['keys', `{${'"a":1,'.repeat(500_000)}"b":1}`],
    ['too many bytes', JSON.stringify('x'.repeat(2_000_000))],
  ])('is abandoned at the first excess of %s, without reading the rest', (_, text) => {
    const { proxy, seen } = watched(text)
    expect(excessOf(proxy, LIMITS)).toBeTypeOf('string')
    // A hundred elements of five letters at most, each of which is compared with a few others.
    expect(seen.reads).toBeLessThan(2_000)
  })

  it('is read once if it is within its limits', () => {
    const { proxy, seen } = watched(JSON.stringify(['x'.repeat(10_000), '\\"[{,:'.repeat(1_000)]))
    expect(excessOf(proxy, LIMITS)).toBeUndefined()
    expect(seen.reads).toBeLessThanOrEqual(
      3 * Buffer.byteLength(JSON.stringify(['x'.repeat(10_000), '\\"[{,:'.repeat(1_000)])),
    )
  })

  it('is measured only by what is outside strings', () => {
    expect(read(JSON.stringify({ note: '[[[[{{{{,,,,::::'.repeat(1_000) }))).toMatchObject({ kind: 'json' })
    expect(read(JSON.stringify({ note: '\\"'.repeat(1_000) }))).toMatchObject({ kind: 'json' })
  })

  it('may have exactly as many values, keys and levels as the limits say', () => {
    expect(read('[1,2,3]', { elements: 4 })).toMatchObject({ kind: 'json', value: [1, 2, 3] })
    expect(read('[1,2,3]', { elements: 3 })).toMatchObject({
      kind: 'too-large',
      problem: expect.stringContaining('3 values and keys') as string,
    })
    expect(read('[[1]]', { depth: 2 })).toMatchObject({ kind: 'json' })
    expect(read('[[1]]', { depth: 1 })).toMatchObject({ kind: 'too-large', problem: 'it is nested more than 1 deep' })
    expect(read('"abc"', { bytes: 5 })).toMatchObject({ kind: 'json' })
    expect(read('"abc"', { bytes: 4 })).toMatchObject({ kind: 'too-large', problem: 'it has 5 bytes, and may have 4' })
  })

  it('becomes the same frozen snapshot as a copy', () => {
    const text = '{"b":[1,-0,"é",null,{"a":true}],"a":{}}'
    const [adopted, copied] = [read(text), takeSnapshot(JSON.parse(text))]
    if (adopted.kind !== 'json' || copied.kind !== 'json') expect.fail('not JSON')
    expect(adopted.value).toEqual(copied.value)
    expect(takeSnapshot(adopted.value)).toMatchObject({ value: adopted.value })
    expect(Object.isFrozen(adopted.value)).toBe(true)
    expect(Object.isFrozen((adopted.value as { b: readonly unknown[] }).b[4])).toBe(true)
    expect(Object.is((adopted.value as { b: readonly unknown[] }).b[1], 0)).toBe(true)
    expect(hashOf(adopted.value)).toBe(hashOf(copied.value))
  })

  it.each([
    '1e400',
    '[1e400]',
    '{"a":{"__proto__":1}}',
    '"\\ud800"',
    '["\\udc00"]',
    '{"\\ud800":1}',
    '',
    '{',
    'nothing',
    '[1,]',
  ])('is refused if it is invalid or ambiguous: %s', (text) => {
    expect(read(text).kind).toBe('problem')
  })

  it('is refused with a duplicate key, for readers that require it', () => {
    const twice = Buffer.from('{"tool":"a","tool":"b"}')
    expect(readBoundedJson(twice, LIMITS, 'unique')).toMatchObject({
      kind: 'problem',
      problem: expect.stringContaining('twice') as string,
    })
    expect(readBoundedJson(Buffer.from('{"tool":"a","b":{"tool":"b"}}'), LIMITS, 'unique')).toMatchObject({
      kind: 'json',
    })
  })
})

describe('hashing in steps', () => {
  const values: readonly JsonValue[] = [
    null,
    'short',
    { z: 1, a: [true, null, 'é'], m: { y: 2, b: [] } },
    // Characters of two units, so that one lies across two pieces wherever those end.
    `${'a'.repeat(65_535)}${'😀'.repeat(70_000)}`,
    { stdout: '\u0001'.repeat(200_000), stderr: '"\\'.repeat(100_000), exit_code: 0 },
    Array.from({ length: 30_000 }, (_, at) => ({ [`k${String(30_000 - at)}`]: at, a: [] })),
  ]

  it('gives the same hash and size as one step', () => {
    for (const value of values) {
      const steps = sizeInSteps(value)
      let step = steps.next()
      while (step.done !== true) step = steps.next()
      expect(step.value.hash).toBe(hashOf(value))
    }
  })

  it('takes a step for every 64 Ki characters, so that no step is long', () => {
    const steps = [...sizeInSteps('x'.repeat(1_000_000))]
    expect(steps.length).toBeGreaterThanOrEqual(15)
    expect([...sizeInSteps('short')]).toEqual([])
  })
})
