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

describe('a self-contained function', () => {
  test('is sent as its source, and behaves the same there', () => {
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

  test('may be a method with a computed, quoted or private name, or a getter', () => {
    const texts = [
      '({ [key](n) { return n + 1 } })[key]',
      '({ "two words"(n) { return n + 1 } })["two words"]',
      '({ 12(n) { return n + 1 } })[12]',
      'class { static #own(n) { return n + 1 } static own() { return this.#own } }.own()',
      'class { static [key](n) { return n + 1 } }[key]',
    ]
    for (const text of texts) expect(revive(sourceOf(written(text)))(1)).toBe(2)
    const getter = written('Object.getOwnPropertyDescriptor({ get one() { return 1 } }, "one").get')
    expect(revive(sourceOf(getter))()).toBe(1)
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
    [
      'objects and classes with a `this` of their own',
      '() => [{ n: 1, get m() { return this.n } }, class { n = this.m; static { var s = this.name; void s } }, ' +
        'function () { return () => this.n }]',
    ],
    ['`this` as compilers pass it on', 'function () { return ((self) => self)(this) }'],
    ['names of properties', '(o) => ({ outside: o.outside, key: o["outside"] })'],
    ['a switch', '(x) => { switch (x) { case 1: let y = 2; return y; default: return 0 } }'],
  ])('may use %s', (_name, text) => {
    expect(() => sourceOf(written(text))).not.toThrow()
  })
})

describe('a function that is not self-contained', () => {
  test.each<readonly [string, string, string]>([
    ['a variable of its module', '() => outside', 'outside'],
    ['one in a default', '({ a = key }) => a', 'key'],
    ['one in a computed name', '(o) => o[key]', 'key'],
    ['one in a nested function', '() => [1].map((n) => () => n + outside)', 'outside'],
    ['one that a sibling scope declares', '() => { { const outside = 1; void outside } return outside }', 'outside'],
    ['one behind a shorthand', '() => ({ outside })', 'outside'],
    ['what modules have', '() => require("./own.cjs")', 'require'],
    ['its object', '({ n }) => this.table[n]', 'this'],
    ['the object of a method', '({ lookUp(n) { return this.table[n] } }).lookUp', 'this'],
    ['a parent of its object', '({ text() { return super.toString() } }).text', 'super'],
  ])('is refused with the name of %s', (_name, text, name) => {
    expect(() => sourceOf(written(text))).toThrow(`"${name}"`)
  })

  test('is refused with the name of the module itself', async () => {
    const module = 'data:text/javascript,export default () => import.meta.url'
    const { default: run } = (await import(/* @vite-ignore */ module)) as { readonly default: AnyFunction }
    expect(() => sourceOf(run)).toThrow('"import.meta"')
  })

  test('runs no code of its own when it is loaded', () => {
    const seen: unknown[] = []
    Object.assign(globalThis, { seenByTest: seen })
    try {
      const texts = [
        '({ [globalThis.seenByTest.push(1)](n) { return n } })[globalThis.seenByTest.length]',
        'class { static [globalThis.seenByTest.push(1)](n) { return n } static { this.last = this[globalThis.seenByTest.length] } }.last',
        '({ __proto__(n) { return n } }).__proto__',
      ]
      for (const text of texts) {
        const source = sourceOf(written(text))
        seen.length = 0
        expect([revive(source)(1), seen]).toEqual([1, []])
      }
    } finally {
      Reflect.deleteProperty(globalThis, 'seenByTest')
    }
  })

  test.each<readonly [string, AnyFunction, string, string]>([
    ['bind() made it', ((n: number) => n).bind(null), 'source is not available', 'without bind()'],
    ['it is built in', Math.max, 'source is not available', 'run: (input) => …'],
    [
      'it is a class with a name of its own',
      (0, eval)('(class { static name = 1 })') as AnyFunction,
      'it is a class',
      'run',
    ],
    ['it is a class', (0, eval)('(class {})') as AnyFunction, 'it is a class', 'run: (input) => …'],
  ])('is refused if %s', (_name, run, problem, fix) => {
    expect(() => sourceOf(run)).toThrow(problem)
    expect(() => sourceOf(run)).toThrow(
      expect.objectContaining({ fix: expect.stringContaining(fix) as string }) as Error,
    )
  })
})
