// ARCHITECTURE.md says of every file what it does, and of no other: a file has a line, or shares one with its kin.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')

const ROOMS = ['policy', 'gate', 'sandbox', 'egress', 'store', 'runtime', 'server', 'cli'].map((room) => [`src/${room}`, /\.ts$/] as const)

test.each([...ROOMS, ['native', /\.[ch]$/] as const])('ARCHITECTURE.md lists every file of %s', (folder, extension) => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const table = page.split(`| file of \`${folder}\` |`)[1]?.split('\n\n')[0] ?? ''
  const cells = Array.from(table.matchAll(/^\| (`[^|]+`) \|/gm), ([, cell = '']) => cell)
  const listed = cells.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = '']) => name))
  const present = readTree(ROOT, [folder], extension).map(({ path }) => path.slice(folder.length + 1))
  expect([...listed].sort()).toEqual([...present].sort())
})
