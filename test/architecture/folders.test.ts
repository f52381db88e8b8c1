// The folders of the packages show the path of a call, each is small enough to read through, and ARCHITECTURE.md
// describes them.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { readPackages } from './packages.js'
import { ENTRY, ROOMS, ROOM_ORDER } from './rooms.js'
import { FOLDERS, readPages, readTree } from './source-tree.js'

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

/** Without comments, which begin their lines, and empty lines. */
const linesOfCode = (text: string): number =>
  text.split('\n').filter((line) => !/^\s*(?:\/\/|\/?\*|$)/.test(line)).length

const BUDGETS = Array.from(
  PAGE.matchAll(/^\| `(packages\/[^`]+)` \| `([^`]+)` \| .* \| ([\d,]+) \|$/gm),
  ([, folder = '', name = '', budget = '']) => ({ folder, name, budget: Number(budget.replaceAll(',', '')) }),
)

test('ARCHITECTURE.md describes exactly the packages', () => {
  const packages = readPackages(ROOT).map(({ folder, name }) => `packages/${folder} ${name}`)
  const rows = BUDGETS.map(({ folder, name }) => `${folder} ${name}`)
  expect(rows.sort()).toEqual([...packages, 'packages/core/native cordon-cell'].sort())
  const withSources = readdirSync(join(ROOT, 'packages')).filter((name) =>
    existsSync(join(ROOT, 'packages', name, 'src')),
  )
  expect(Object.keys(ROOM_ORDER).sort()).toEqual(withSources.sort())
})

/** Lines that a package still has beyond its budget. These numbers only get smaller. */
const STILL_OVER: Readonly<Record<string, number>> = {}

test.each(BUDGETS)('$folder has no more lines of code than its budget', ({ folder, budget }) => {
  const isNative = folder.endsWith('/native')
  const own = FILES.filter(
    ({ path }) => path.startsWith(isNative ? `${folder}/` : `${folder}/src/`) && !path.includes('/native/fuzz/'),
  )
  const lines = own.reduce((sum, { text }) => sum + linesOfCode(text), 0)
  expect(lines).toBeLessThanOrEqual(budget + (STILL_OVER[folder] ?? 0))
})

test('the README of a package names the same budget', () => {
  for (const { path, text } of readPages(ROOT).filter(({ path }) => /^packages\/[^/]+\/README\.md$/.test(path))) {
    const said = /Budget: ([\d,]+) lines/.exec(text.replaceAll(/\s+/g, ' '))?.[1]?.replaceAll(',', '')
    const { budget } = BUDGETS.find(({ folder }) => folder === dirname(path)) ?? {}
    expect(Number(said), path).toBe(budget)
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
