import { join } from 'node:path'

import { describe, expect, it, test } from 'vitest'

import { folderCycles, importCycles } from './import-cycles.js'
import { ROOM_ORDER } from './rooms.js'
import { FOLDERS, readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')

describe('this repository', () => {
  const files = readTree(ROOT, FOLDERS.sources, /\.ts$/)
  const ofPackage = (name: string) => files.filter(({ path }) => path.startsWith(`packages/${name}/`))

  test.each(Object.keys(ROOM_ORDER))('the files of %s import each other without a cycle', (name) => {
    expect(ofPackage(name).length).toBeGreaterThan(5)
    expect(importCycles(ofPackage(name))).toEqual([])
  })

  test.each(Object.keys(ROOM_ORDER))('the folders of each room of %s import each other without a cycle', (name) => {
    expect(folderCycles(ofPackage(name))).toEqual([])
  })
})

describe('the search for cycles', () => {
  const file = (name: string, text: string) => ({ path: `packages/core/src/gate/${name}.ts`, text })

  it('finds a cycle through types, re-exports and any number of files', () => {
    const files = [
      file('a', "import type { B } from './b.js'"),
      file('b', "export { c } from './c.js'"),
      file('c', "import { a } from './a.js'"),
      file('d', "import './a.js'"),
    ]
    expect(importCycles(files)).toEqual([
      ['packages/core/src/gate/a.ts', 'packages/core/src/gate/b.ts', 'packages/core/src/gate/c.ts'],
    ])
  })

  it('finds a cycle through a late import, and accepts two files that import a third', () => {
    const files = [
      file('a', "const b = () => import('./b.js')"),
      file('b', "import './a.js'\nimport './c.js'"),
      file('c', ''),
      file('d', "import './c.js'"),
    ]
    expect(importCycles(files)).toEqual([['packages/core/src/gate/a.ts', 'packages/core/src/gate/b.ts']])
  })

  it('finds a cycle of folders without a cycle of files, and skips files directly in the room', () => {
    const circle = [
      file('a/one', "import '../b/two.js'"),
      file('b/two', ''),
      file('b/other', "import type { C } from '../c/three.js'"),
      file('c/three', "import '../a/four.js'"),
      file('a/four', ''),
    ]
    expect(importCycles(circle)).toEqual([])
    expect(folderCycles(circle)).toEqual([
      ['packages/core/src/gate/a', 'packages/core/src/gate/b', 'packages/core/src/gate/c'],
    ])
    expect(
      folderCycles([file('a/one', "import '../plain.js'"), file('plain', "import './a/two.js'"), file('a/two', '')]),
    ).toEqual([])
  })
})
