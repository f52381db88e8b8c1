// A process without a cell starts in one way only: from `runUnconfined`, by its runner.
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { FOLDERS, readTree } from './source-tree.js'

const tree = readTree(join(import.meta.dirname, '..', '..'), FOLDERS.sources, /\.ts$/)
const filesWith = (word: RegExp): readonly string[] =>
  tree
    .filter(({ text }) => word.test(text))
    .map(({ path }) => path)
    .sort()

test('only the runner of runUnconfined starts a plain process', () => {
  expect(filesWith(/\brunPlainProcess\b/)).toEqual([
    'packages/core/src/runtime/run/unconfined-runner.ts',
    'packages/core/src/sandbox/host/plain-process.ts',
    'packages/core/src/sandbox/index.ts',
  ])
  expect(filesWith(/\bcreateUnconfinedRunner\b/)).toEqual([
    'packages/core/src/runtime/assemble/prepare-cells.ts',
    'packages/core/src/runtime/run/unconfined-runner.ts',
  ])
})

test('only runUnconfined has that runner', () => {
  expect(filesWith(/\bunconfined\.runner\b/)).toEqual(['packages/core/src/runtime/assemble/calls.ts'])
  const calls = tree.find(({ path }) => path === 'packages/core/src/runtime/assemble/calls.ts')?.text ?? ''
  expect(calls.match(/\bunconfined\.runner\b/g)).toHaveLength(1)
  expect(calls.slice(calls.indexOf('runUnconfined: async'), calls.indexOf('evaluate: ('))).toContain(
    'unconfined.runner',
  )
})

test('no command line calls runUnconfined', () => {
  expect(filesWith(/\.runUnconfined\(/)).toEqual([])
})
