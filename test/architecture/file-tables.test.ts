// ARCHITECTURE.md has a line for every file of the sandbox, of the egress and of the native cell, and for no other.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')

test.each([['src/sandbox', /\.ts$/], ['src/egress', /\.ts$/], ['native', /\.[ch]$/]] as const)('ARCHITECTURE.md lists every file of %s', (folder, extension) => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const table = page.split(`| file of \`${folder}\` |`)[1]?.split('\n\n')[0] ?? ''
  const listed = Array.from(table.matchAll(/^\| `([^`]+)` \|/gm), ([, name = '']) => name)
  const present = readTree(ROOT, [folder], extension).map(({ path }) => path.slice(folder.length + 1))
  expect([...listed].sort()).toEqual([...present].sort())
})
