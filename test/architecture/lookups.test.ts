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
/** The lookups themselves, what asks anew each time, and files that write, or that no run of the host uses. */
const OTHERS = ['platform/look.ts', 'platform/process-paths.ts', 'platform/lock.ts', 'platform/replace-file.ts'].concat(
  ['platform/folders.ts', 'settings/settings-file.ts', 'settings/secret-sources.ts'],
)
const LOOKUP = /\b(?:lstat|stat|exists|access|open|opendir|readFile|readdir|readlink|realpath|statfs)(?:Sync)?\b/
const IMPORT = /^import (?<names>[^'"]*?) from ['"](?:node:)?fs(?<promises>\/promises)?['"]/gm

/** Whether a file looks up anything past platform/look.ts. */
const looksPast = (text: string): boolean =>
  Array.from(text.matchAll(IMPORT), ({ groups }) => groups ?? {}).some(
    ({ names = '', promises }) =>
      !names.startsWith('type ') && (promises !== undefined || !names.startsWith('{') || LOOKUP.test(names)),
  ) || /\b(?:require|import)\(['"](?:node:)?fs/.test(text)

test.each([
  "import { statSync } from 'node:fs'",
  "import { closeSync,\n  open } from 'node:fs'",
  "import * as fs from 'node:fs'",
  "import fs from 'fs'",
  "import { readFile } from 'node:fs/promises'",
  "const fs = await import('node:fs')",
])('%j looks past platform/look.ts', (text) => {
  expect(looksPast(text)).toBe(true)
})

test.each(["import { closeSync, constants, fstatSync } from 'node:fs'", "import type { Stats } from 'node:fs'"])(
  '%j does not',
  (text) => {
    expect(looksPast(text)).toBe(false)
  },
)

test('what the local host remembers is looked up only by platform/look.ts', () => {
  const files = readTree(ROOT, ['packages/core/src'], /\.ts$/).map(({ path, text }) => ({
    path: path.slice('packages/core/src/'.length),
    text,
  }))
  const own = files.filter(({ path }) => REMEMBERED.some((part) => path.startsWith(part)) && !OTHERS.includes(path))
  expect(own.length).toBeGreaterThan(100)
  // It resolves a path for a runtime, after the plan.
  const objectAt = 'sandbox/grants/object-at.ts'
  const rest = own.map(({ path, text }) => ({
    path,
    text: path === objectAt ? text.replace(', realpath }', ' }') : text,
  }))
  expect(rest.filter(({ text }) => looksPast(text)).map(({ path }) => path)).toEqual([])
})
