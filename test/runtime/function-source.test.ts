import { describe, expect, test } from 'vitest'

import { selfContainedSource } from '../../src/runtime/tools/function-source.js'

type AnyFunction = (...args: never) => unknown

/** Functions as a program without types would write them: what is tested is their text. */
const written = (text: string): AnyFunction =>
  (0, eval)(`(() => { const outside = 1, key = 'a'; return ${text} })()`) as AnyFunction

const sourceOf = (run: AnyFunction): string => selfContainedSource('t', run)

/** As the cell would. */
const revive = (source: string): ((...args: readonly unknown[]) => unknown) =>
  (0, eval)(`(${source})`) as (...args: readonly unknown[]) => unknown

describe('a function that stands by itself', () => {
  test('is sent as its source, and does there what it does here', () => {
    const run = ({ a, b }: { a: number; b: number }): number => a + b
    expect(revive(sourceOf(run))({ a: 1, b: 2 })).toBe(3)
  })

  test('may be a method, an async method or a generator', async () => {
    expect(revive(sourceOf(written('({ plain(n) { return n + 1 } }).plain')))(1)).toBe(2)
    expect(await revive(sourceOf(written('({ async later(n) { return n + 1 } }).later')))(1)).toBe(2)
    expect([...(revive(sourceOf(written('({ *stream(n) { yield n + 1 } }).stream')))(1) as Iterable<number>)]).toEqual([
      2,
    ])
    const both = revive(sourceOf(written('({ async *both(n) { yield n + 1 } }).both')))(1) as AsyncIterable<number>
    for await (const value of both) expect(value).toBe(2)
  })

  test.each<readonly [string, string]>([
    ['parameters, defaults and patterns', '({ a, b: [c = 1], ...rest }, d = a) => [a, c, rest, d]'],
    ['its own name', 'function again(n) { return n === 0 ? 0 : again(n - 1) }'],
    ['arguments', 'function () { return arguments.length }'],
    [
      'variables of every kind of scope',
      '(n) => { for (const i of [n]) for (let j = 0; j < i; j++) { var late = j } try { throw 1 } catch ({ ' +
        'message }) { return [late, message] } }',
    ],
    ['a function declared later', '() => { return later(); function later() { return 1 } }'],
    [
      'classes, private names and labels',
      '() => { class Counter extends Map { #n = 0; static zero = 0; add() { return this.#n += Counter.zero } ' +
        '} outer: for (;;) { break outer } return new Counter() }',
    ],
    [
      'what every Node process has',
      'async () => [await import("node:fs"), process.pid, Buffer, fetch, structuredClone, Math, undefined]',
    ],
    ['names of properties', '(o) => ({ outside: o.outside, key: o["outside"] })'],
    ['a switch', '(x) => { switch (x) { case 1: let y = 2; return y; default: return 0 } }'],
  ])('may use %s', (_name, text) => {
    expect(() => sourceOf(written(text))).not.toThrow()
  })
})

describe('a function that does not', () => {
  test.each<readonly [string, string, string]>([
    ['a variable of its module', '() => outside', 'outside'],
    ['one in a default', '({ a = key }) => a', 'key'],
    ['one in a computed name', '(o) => o[key]', 'key'],
    ['one in a nested function', '() => [1].map((n) => () => n + outside)', 'outside'],
    ['one that a sibling scope declares', '() => { { const outside = 1; void outside } return outside }', 'outside'],
    ['one behind a shorthand', '() => ({ outside })', 'outside'],
    ['what modules have', '() => require("node:fs")', 'require'],
  ])('is refused with the name of %s', (_name, text, name) => {
    expect(() => sourceOf(written(text))).toThrow(`"${name}"`)
  })

  test('is refused where there is no source, or it is a class', () => {
    for (const run of [Math.max, (() => 1).bind(null), (0, eval)('(class {})') as AnyFunction])
      expect(() => sourceOf(run)).toThrow('source is not available')
  })
})
