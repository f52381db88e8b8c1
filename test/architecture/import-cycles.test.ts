import { join } from 'node:path'

import { describe, expect, it, test } from 'vitest'

import { folderCycles, importCycles } from './import-cycles.js'
import { ROOM_ORDER } from './rooms.js'
import { readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')

/** Circles of types that still stand. None may be added, and what is taken apart is taken out here. */
const STANDING: Readonly<Record<string, readonly (readonly string[])[]>> = {
  sandbox: [['src/sandbox/launch/attached.ts', 'src/sandbox/launch/pool.ts', 'src/sandbox/sandbox.ts']],
  egress: [
    ['src/egress/credentials/inject.ts', 'src/egress/credentials/sigv4.ts'],
    ['src/egress/credentials/read-secret.ts', 'src/egress/credentials/vault.ts'],
  ],
}

describe('this repository', () => {
  test.each(ROOM_ORDER.flat())('has no files of src/%s that import each other in a circle', (room) => {
    expect(importCycles(readTree(ROOT, [`src/${room}`], /\.ts$/))).toEqual(STANDING[room] ?? [])
  })

  test.each(ROOM_ORDER.flat())('has no folders of src/%s that import each other in a circle', (room) => {
    expect(folderCycles(readTree(ROOT, [`src/${room}`], /\.ts$/))).toEqual([])
  })
})

describe('a circle', () => {
  const file = (name: string, text: string) => ({ path: `src/cli/${name}.ts`, text })

  it('is found, by types and re-exports too, and through any number of files', () => {
    const files = [
      file('a', "import type { B } from './b.js'"),
      file('b', "export { c } from './c.js'"),
      file('c', "import { a } from './a.js'"),
      file('d', "import './a.js'"),
    ]
    expect(importCycles(files)).toEqual([['src/cli/a.ts', 'src/cli/b.ts', 'src/cli/c.ts']])
  })

  it('is none where an import is made when it is used, or two files import a third', () => {
    const files = [
      file('a', "const b = () => import('./b.js')"),
      file('b', "import './a.js'\nimport './c.js'"),
      file('c', ''),
      file('d', "import './c.js'"),
    ]
    expect(importCycles(files)).toEqual([])
  })

  it('of folders is found though no two files are on one, and is none by files that lie in the room itself', () => {
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
