import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { readTree } from './source-tree.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What is read before a run of the local host is remembered, as long as no lookup has another answer. */
const REMEMBERED = [
  'platform',
  'policy',
  'gate',
  'settings',
  'sandbox/grants',
  'sandbox/plan',
  'runtime/rule-files',
].concat(['runtime/own-files', 'run/request', 'run/prepare-run.ts', 'run/run-tool.ts'])
/** The lookups themselves, and files that write, or that no run of the host uses. */
const OTHERS = ['platform/look.ts', 'platform/lock.ts', 'platform/replace-file.ts', 'platform/folders.ts'].concat([
  'settings/settings-file.ts',
  'settings/secret-sources.ts',
  'settings/upstream-authorities.ts',
])
const LOOKUP = /\b(?:lstat|stat|exists|access|open|opendir|readFile|readdir|readlink|realpath|statfs)Sync\b/

test('what the local host remembers is looked up only by platform/look.ts', () => {
  const files = readTree(ROOT, ['packages/core/src'], /\.ts$/).map(({ path, text }) => ({
    path: path.slice('packages/core/src/'.length),
    text,
  }))
  const own = files.filter(({ path }) => REMEMBERED.some((part) => path.startsWith(part)) && !OTHERS.includes(path))
  expect(own.length).toBeGreaterThan(100)
  const importing = own.filter(({ text }) =>
    Array.from(
      text.matchAll(/^import (\{[^}]*\}|\* as \w+) from 'node:fs(?:\/promises)?'$/gm),
      ([, names = '']) => names,
    ).some((names) => names.startsWith('*') || LOOKUP.test(names)),
  )
  expect(importing.map(({ path }) => path)).toEqual([])
  const found = importing.length + files.filter(({ path }) => path === 'platform/look.ts').length
  expect(found).toBe(1)
})
