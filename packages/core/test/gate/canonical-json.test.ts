import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { canonicalJson, hashOf, readBoundedJson, takeSnapshot } from '../../src/gate/index.js'
import type { JsonValue } from '../../src/gate/index.js'

const canonical = (value: unknown): string => {
  const snapshot = takeSnapshot(value)
  return snapshot.kind === 'json' ? canonicalJson(snapshot.value) : `problem: ${snapshot.where} ${snapshot.problem}`
}

describe('the canonical form', () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    ],
    [[333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001], '[333333333.3333333,1e+30,4.5,0.002,1e-27]'],
    [[-0, 0], '[0,0]'],
    ['\u20ac$\u000f\nA\'B"\\\\"/', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
  ])('of %j', (value, expected) => {
    expect(canonical(value)).toBe(expected)
  })

  it.each<[string, unknown]>([
    ['NaN', { a: Number.NaN }],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['a lone surrogate', 'a\ud800'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['__proto__ as a key', JSON.parse('{"__proto__": {"isAdmin": true}}')],
    ['bigint', 1n],
    ['undefined in a list', [undefined]],
    ['a function', { a: () => 1 }],
    ['a symbol', Symbol('x')],
    ['a date', new Date(0)],
    ['a map', new Map([['a', 1]])],
    ['an object of a class', new URL('https://example.org')],
    [
      'what cannot be read',
      {
        get a() {
          throw new Error('x')
        },
      },
    ],
    ['nothing at all', undefined],
  ])('is refused for %s', (_, value) => {
    expect(canonical(value)).toMatch(/^problem: /)
  })

  it('is refused for cyclic or endlessly nested values', () => {
    const circle: unknown[] = []
    circle.push(circle)
    expect(canonical(circle)).toMatch(/nested/)
    expect(canonical(JSON.parse('['.repeat(5000) + ']'.repeat(5000)))).toMatch(/nested/)
  })

  it('is the same for equal values, in any order of keys', () => {
    const shuffled = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return (value as readonly JsonValue[]).map(shuffled)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, child]) => [key, shuffled(child)]),
      )
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const snapshot = takeSnapshot(value)
        if (snapshot.kind === 'problem') return
        expect(hashOf(shuffled(snapshot.value))).toBe(hashOf(snapshot.value))
        expect(canonical(JSON.parse(canonicalJson(snapshot.value)))).toBe(canonicalJson(snapshot.value))
      }),
    )
  })

  it('is different for different values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const [first, second] = [takeSnapshot(one), takeSnapshot(other)]
        if (first.kind === 'problem' || second.kind === 'problem') return
        // JSON has one zero, so compare what survives being written.
        const isEqual =
          JSON.stringify(sorted(JSON.parse(JSON.stringify(one)))) ===
          JSON.stringify(sorted(JSON.parse(JSON.stringify(other))))
        expect(hashOf(first.value) === hashOf(second.value)).toBe(isEqual)
      }),
    )
  })
})

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return {
    mapping: Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sorted(child)]),
  }
}

describe('a snapshot', () => {
  it('is a frozen copy that later changes to the original do not reach', () => {
    const original = { list: [{ a: 1 }] }
    const snapshot = takeSnapshot(original)
    original.list.push({ a: 2 })
    expect(snapshot).toEqual({ kind: 'json', value: { list: [{ a: 1 }] } })
    if (snapshot.kind === 'json')
      expect(Object.isFrozen((snapshot.value as { readonly list: readonly unknown[] }).list[0])).toBe(true)
  })

  it('reads every property once, so that a proxy cannot answer twice', () => {
    const reads: PropertyKey[] = []
    const proxy = new Proxy({ a: 1 }, { get: (target, key) => (reads.push(key), Reflect.get(target, key) as unknown) })
    takeSnapshot(proxy)
    expect(reads.filter((key) => key === 'a')).toHaveLength(1)
  })
})

const parseJson = (text: string) =>
  readBoundedJson(Buffer.from(text), { bytes: Infinity, elements: Infinity, depth: Infinity }, 'unique')

describe('arguments as text', () => {
  it('are refused with a duplicate key, also spelled differently or deep inside', () => {
    expect(parseJson('{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]}')).toMatchObject({ kind: 'json' })
    for (const text of [
      '{"a":1,"a":2}',
      '{"a":1,"\\u0061":2}',
      '{"x":[{"b":1,"c":{"d":1,"d":1}}]}',
      '{"a":"}","a":1}',
    ]) {
      expect(parseJson(text)).toMatchObject({
        kind: 'problem',
        problem: expect.stringMatching(/twice in one object/) as string,
      })
    }
  })

  it('are refused if they are not JSON', () => {
    for (const text of ['', '{', "{'a':1}", '{"a":1}x', 'undefined'])
      expect(parseJson(text)).toMatchObject({ kind: 'problem' })
  })

  it('mean what JSON.parse reads, for every output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        const snapshot = takeSnapshot(JSON.parse(text))
        expect(parseJson(text)).toMatchObject(
          snapshot.kind === 'json' ? { kind: 'json', value: snapshot.value } : { kind: 'problem' },
        )
      }),
    )
  })
})
