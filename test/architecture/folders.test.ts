// The folders of the packages show the path of a call, each is small enough to read through, and ARCHITECTURE.md
// describes them.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { readPackages } from './packages.js'
import { ENTRY, ROOMS } from './rooms.js'
import { FOLDERS, readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')
const MOST = 25

const PAGE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
const FILES = readTree(ROOT, [...FOLDERS.sources, ...FOLDERS.native], /\.(ts|[ch])$/)

const FILES_IN = new Map<string, number>()
for (const { path } of FILES) FILES_IN.set(dirname(path), (FILES_IN.get(dirname(path)) ?? 0) + 1)

/** The first words of the rows of tables whose heading begins with `| WORD of `FOLDER` |`, as FOLDER/WORD. */
const listed = (word: string): readonly string[] =>
  PAGE.split(new RegExp(`^(?=\\| ${word} of \`)`, 'm'))
    .slice(1)
    .flatMap((table) => {
      const folder = /`([^`]+)`/.exec(table)?.[1] ?? ''
      const rows = table.split('\n\n')[0] ?? ''
      return Array.from(rows.matchAll(/^\| `([^`]+)` \|/gm), ([, name = '']) => `${folder}/${name}`)
    })
    .sort()

test(`no folder has more than ${String(MOST)} source files`, () => {
  expect(FILES_IN.size).toBeGreaterThan(80)
  expect([...FILES_IN].filter(([, count]) => count > MOST)).toEqual([])
})

test('ARCHITECTURE.md describes exactly the rooms of each package', () => {
  const rooms = ROOMS.map((name) => name.split('/')).filter(([, room]) => room !== ENTRY)
  expect(listed('room')).toEqual(rooms.map(([folder, room]) => `packages/${folder}/src/${room}`).sort())
})

test('ARCHITECTURE.md describes exactly the folders that each room has', () => {
  const deep = [...FILES_IN.keys()].filter((folder) => /^packages\/[^/]+\/(?:src\/[^/]+|native)\/./.test(folder))
  expect(listed('folder')).toEqual(deep.sort())
})

test('ARCHITECTURE.md describes exactly the packages, and none has more lines than its budget', () => {
  const rows = Array.from(
    PAGE.matchAll(/^\| `(packages\/[^`]+)` \| `([^`]+)` \| .* \| ([\d,]+) \|$/gm),
    ([, folder = '', name = '', budget = '']) => ({ folder, name, budget: Number(budget.replaceAll(',', '')) }),
  )
  const packages = readPackages(ROOT).map(({ folder, name }) => `packages/${folder} ${name}`)
  const native = 'packages/core/native cordon-cell'
  expect(rows.map(({ folder, name }) => `${folder} ${name}`).sort()).toEqual([...packages, native].sort())
  for (const { folder, budget } of rows) {
    const inside = folder.endsWith('/native') ? `${folder}/` : `${folder}/src/`
    const own = FILES.filter(({ path }) => path.startsWith(inside))
    const lines = own.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
    expect(lines, folder).toBeLessThanOrEqual(budget)
  }
})

test('ARCHITECTURE.md describes exactly the folders of tests', () => {
  const suites = FOLDERS.tests.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .flatMap(({ parentPath }) => /[/]test[/]([^/]+)/.exec(parentPath.slice(ROOT.length))?.[1] ?? []),
  )
  const table = PAGE.slice(PAGE.indexOf('\n| tests of ')).split('\n\n')[0] ?? ''
  expect(table).toContain('`architecture`')
  const rows = Array.from(table.matchAll(/^\| (`[^|]+`) \|/gm), ([, cell = '']) => cell)
  const named = rows.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = '']) => name))
  expect([...new Set(named)].sort()).toEqual([...new Set(suites)].sort())
})
