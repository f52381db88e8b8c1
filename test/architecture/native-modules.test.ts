// The files of packages/core/native/ include each other one way, and follow the rules of ARCHITECTURE.md.
import { join } from 'node:path'

import { describe, expect, it, test } from 'vitest'

import { declaredElsewhere, includedFolderCycles, includesByPart, linesOf, moduleCycles } from './native-modules.js'
import { FOLDERS, readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')
const SOURCES = readTree(ROOT, FOLDERS.native, /\.[ch]$/).filter(
  ({ path }) => !path.startsWith('packages/core/native/fuzz/'),
)

const NATIVE = 'packages/core/native'

/** What each part may include: what all processes share, what builds the boundary, and nothing of another process. */
const SHARED = ['processes', 'wire']
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'wire': [],
  'processes': ['wire'],
  'boundary': SHARED,
  'keeper': ['boundary', ...SHARED],
  'supervisor': ['boundary', ...SHARED],
  'watcher': ['wire'],
  'relay': ['wire'],
  'front': SHARED,
  'main.c': ['boundary', 'front', 'keeper', 'relay', 'supervisor', 'watcher', ...SHARED],
}

describe('this repository', () => {
  test('the modules of native/ include each other without a cycle', () => {
    expect(moduleCycles(SOURCES)).toEqual([])
  })

  test('the folders of native/ include each other without a cycle', () => {
    expect(includedFolderCycles(SOURCES)).toEqual([])
  })

  test('no process of native/ includes a file of another', () => {
    const parts = includesByPart(SOURCES)
    expect([...parts.keys()].sort()).toEqual(Object.keys(PARTS).sort())
    for (const [part, included] of parts)
      expect(included.filter((other) => PARTS[part]?.includes(other) !== true)).toEqual([])
  })

  test('each function of a header is in the file of the same name', () => {
    expect(declaredElsewhere(SOURCES)).toEqual([])
  })

  test('memory is allocated in one place, which ends the process if there is none', () => {
    const others = SOURCES.filter(({ path }) => path !== `${NATIVE}/wire/memory.c`)
    expect(linesOf(others, /\b(?:[mc]alloc|realloc(?:array)?|strn?dup|v?asprintf|open_memstream|abort)\(/)).toEqual([])
  })

  test('no function keeps state between two calls', () => {
    expect(linesOf(SOURCES, /^\t+static (?!const )/)).toEqual([])
  })
})

describe('the search for cycles', () => {
  const file = (path: string, text: string) => ({ path: `${NATIVE}/${path}`, text })

  it('reads the header and source of a module together', () => {
    const files = [
      file('wire/a.h', ''),
      file('wire/a.c', '#include "wire/b.h"'),
      file('wire/b.h', '#include "wire/c.h"'),
      file('wire/c.c', '#include "wire/a.h"'),
    ]
    expect(moduleCycles(files)).toEqual([[`${NATIVE}/wire/a`, `${NATIVE}/wire/b`, `${NATIVE}/wire/c`]])
  })

  it('finds a cycle of folders without a cycle of modules', () => {
    const files = [
      file('wire/a.c', '#include "keeper/b.h"'),
      file('keeper/b.h', ''),
      file('keeper/c.c', '#include "wire/d.h"'),
      file('wire/d.h', ''),
    ]
    expect(moduleCycles(files)).toEqual([])
    expect(includedFolderCycles(files)).toEqual([[`${NATIVE}/keeper`, `${NATIVE}/wire`]])
  })

  it('finds a cycle behind a header that declares functions of another file', () => {
    const files = [
      file('wire/a.h', 'int here(void);\n/* int commented(void); */\nvoid *elsewhere(int a,\n\t\tint b);'),
      file('wire/a.c', 'int here(void)\n{\n}\n'),
      file('wire/b.c', 'void *elsewhere(int a, int b)\n{\n}\n'),
    ]
    expect(declaredElsewhere(files)).toEqual([`${NATIVE}/wire/a.h: elsewhere`])
  })
})
