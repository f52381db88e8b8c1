import { join } from 'node:path'

import { describe, expect, it, test } from 'vitest'

import { folderCycles, importCycles } from './import-cycles.js'
import { ROOM_ORDER } from './rooms.js'
import { readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')

describe('this repository', () => {
  test.each(ROOM_ORDER.flat())('the files of src/%s import each other without a cycle', (room) => {
    expect(importCycles(readTree(ROOT, [`src/${room}`], /\.ts$/))).toEqual([])
  })

  test.each(ROOM_ORDER.flat())('the folders of src/%s import each other without a cycle', (room) => {
    expect(folderCycles(readTree(ROOT, [`src/${room}`], /\.ts$/))).toEqual([])
  })
})

describe('the search for cycles', () => {
  const file = (name: string, text: string) => ({ path: `src/cli/${name}.ts`, text })

  it('finds a cycle through types, re-exports and any number of files', () => {
    const files = [
      file('a', "import type { B } from './b.js'"),
      file('b', "export { c } from './c.js'"),
      file('c', "import { a } from './a.js'"),
      file('d', "import './a.js'"),
    ]
    expect(importCycles(files)).toEqual([['src/cli/a.ts', 'src/cli/b.ts', 'src/cli/c.ts']])
  })

  it('accepts late imports, and two files that import a third', () => {
    const files = [
      file('a', "const b = () => import('./b.js')"),
      file('b', "import './a.js'\nimport './c.js'"),
      file('c', ''),
      file('d', "import './c.js'"),
    ]
    expect(importCycles(files)).toEqual([])
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
    expect(folderCycles(circle)).toEqual([['src/cli/a', 'src/cli/b', 'src/cli/c']])
    expect(
      folderCycles([file('a/one', "import '../plain.js'"), file('plain', "import './a/two.js'"), file('a/two', '')]),
    ).toEqual([])
  })
})
