// The files of native/ include each other one way, and keep the rules of docs/inside/cell.md.
import { join } from 'node:path'

import { describe, expect, it, test } from 'vitest'

import { declaredElsewhere, includedFolderCycles, includesByPart, linesOf, moduleCycles } from './native-modules.js'
import { readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')
const SOURCES = readTree(ROOT, ['native'], /\.[ch]$/).filter(({ path }) => !path.startsWith('native/fuzz/'))

/** What each part may include: what all processes share, what builds the boundary, and nothing of another process. */
const SHARED = ['native/processes', 'native/wire']
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'native/wire': [],
  'native/processes': ['native/wire'],
  'native/boundary': SHARED,
  'native/keeper': ['native/boundary', ...SHARED],
  'native/supervisor': ['native/boundary', ...SHARED],
  'native/watcher': ['native/wire'],
  'native/main.c': ['native/boundary', 'native/keeper', 'native/supervisor', 'native/watcher', ...SHARED],
}

describe('this repository', () => {
  test('has no modules of native/ that include each other in a circle', () => {
    expect(moduleCycles(SOURCES)).toEqual([])
  })

  test('has no folders of native/ that include each other in a circle', () => {
    expect(includedFolderCycles(SOURCES)).toEqual([])
  })

  test('has no process of native/ that includes another one', () => {
    const parts = includesByPart(SOURCES)
    expect([...parts.keys()].sort()).toEqual(Object.keys(PARTS).sort())
    for (const [part, included] of parts)
      expect(included.filter((other) => PARTS[part]?.includes(other) !== true)).toEqual([])
  })

  test('has each function of a header in the file of the same name', () => {
    expect(declaredElsewhere(SOURCES)).toEqual([])
  })

  test('gets memory in one place, which ends the process where there is none', () => {
    const others = SOURCES.filter(({ path }) => path !== 'native/wire/memory.c')
    expect(linesOf(others, /\b(?:[mc]alloc|realloc(?:array)?|strn?dup|v?asprintf|open_memstream|abort)\(/)).toEqual([])
  })

  test('has no function that keeps something between two calls of it', () => {
    expect(linesOf(SOURCES, /^\t+static (?!const )/)).toEqual([])
  })
})

describe('a circle', () => {
  const file = (path: string, text: string) => ({ path: `native/${path}`, text })

  it('is found by headers and sources of a module together', () => {
    const files = [
      file('wire/a.h', ''),
      file('wire/a.c', '#include "wire/b.h"'),
      file('wire/b.h', '#include "wire/c.h"'),
      file('wire/c.c', '#include "wire/a.h"'),
    ]
    expect(moduleCycles(files)).toEqual([['native/wire/a', 'native/wire/b', 'native/wire/c']])
  })

  it('of folders is found though no two modules are on one', () => {
    const files = [
      file('wire/a.c', '#include "keeper/b.h"'),
      file('keeper/b.h', ''),
      file('keeper/c.c', '#include "wire/d.h"'),
      file('wire/d.h', ''),
    ]
    expect(moduleCycles(files)).toEqual([])
    expect(includedFolderCycles(files)).toEqual([['native/keeper', 'native/wire']])
  })

  it('is not hidden by a header that declares what another file defines', () => {
    const files = [
      file('wire/a.h', 'int here(void);\n/* int commented(void); */\nvoid *elsewhere(int a,\n\t\tint b);'),
      file('wire/a.c', 'int here(void)\n{\n}\n'),
      file('wire/b.c', 'void *elsewhere(int a, int b)\n{\n}\n'),
    ]
    expect(declaredElsewhere(files)).toEqual(['native/wire/a.h: elsewhere'])
  })
})
