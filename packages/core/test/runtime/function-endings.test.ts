// How a function in a cell ends: with a result that JSON carries, with one that it cannot carry, or by itself.
import { describe, expect, test } from 'vitest'

import { tool } from '../../src/runtime/index.js'

import { openStage } from './stage.js'

const stage = openStage()
const called = async (run: () => unknown, inProcess = false) => {
  const cordon = await stage.cordon({ tools: [tool({ name: 'act', inProcess, policy: { risk: 'low' }, run })] })
  return cordon.call('act')
}

describe.each([false, true])('a result that JSON cannot carry (in this process: %s)', (inProcess) => {
  test.each([
    ['a map', () => new Map([['a', 1]])],
    ['a set in a list', () => [new Set([1])]],
    ['an object of a class', () => ({ inner: new (class Point { x = 1 })() })], // prettier-ignore
    ['a number that is none', () => ({ size: NaN })],
    ['a big number', () => 1n],
    ['a function', () => ({ next: () => 1 })],
    ['an error', () => new Error('no')],
  ])('fails the call: %s', async (_, run) => {
    const result = await called(run, inProcess)
    expect(result.status).toBe('failed')
    expect(result).not.toHaveProperty('output')
  })

  test('has a twin that is carried as it is', async () => {
    const run = () => ({ list: [1, 'a', null, true], inner: Object.assign(Object.create(null), { x: 1 }) as object })
    expect(await called(run, inProcess)).toMatchObject({
      status: 'ok',
      output: { list: [1, 'a', null, true], inner: { x: 1 } },
    })
  })
})

test('a date becomes a text in a cell', async () => {
  expect(await called(() => ({ at: new Date(0) }))).toMatchObject({ output: { at: '1970-01-01T00:00:00.000Z' } })
})

describe('a function that ends its process', () => {
  test.each([
    ['process.exit(3)', () => process.exit(3), 3],
    ['process.exit(0)', () => process.exit(0), 0],
    ['an exit code of before', () => ((process.exitCode = 4), process.exit()), 4], // prettier-ignore
  ])('fails with its exit status: %s', async (_, run, code) => {
    const result = await called(run)
    expect(result.status).toBe('failed')
    expect(result.facts.error?.message).toContain(`exit status ${String(code)}`)
    expect(result.facts.error?.message).not.toContain('signal')
    expect(result.reason).toContain(`exit status ${String(code)}`)
  })
})
