// The folders of src/ and native/ show the path of a call, and each is small enough to read through.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')
const MOST = 25

const foldersOf = (files: readonly { readonly path: string }[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return counts
}

const SOURCES = foldersOf(readTree(ROOT, ['src', 'native'], /\.(ts|[ch])$/))

test(`no folder has more than ${String(MOST)} source files`, () => {
  expect(SOURCES.size).toBeGreaterThan(40)
  expect([...SOURCES].filter(([, count]) => count > MOST)).toEqual([])
})

test('ARCHITECTURE.md describes exactly the folders that each room has', () => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const tables = page.split(/^(?=\| folder of `(?:src\/|native)[^`]*` \|)/m).slice(1)
  const listed = tables.flatMap((table) => {
    const room = /`([^`]+)`/.exec(table)?.[1] ?? ''
    const rows = table.split('\n\n')[0] ?? ''
    return Array.from(rows.matchAll(/^\| `([^`]+)` \|/gm), ([, folder = '']) => `${room}/${folder}`)
  })
  const deep = [...SOURCES.keys()].filter((folder) => /^(src\/[^/]+|native)\/./.test(folder))
  expect([...listed].sort()).toEqual(deep.sort())
})
