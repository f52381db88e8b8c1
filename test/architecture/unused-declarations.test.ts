// Every declaration of a package is used outside the tests: by a program, another package, a script or a page of the
// manual.
import { join } from 'node:path'

import { describe, expect, it, test } from 'vitest'

import { readPackages } from './packages.js'
import { FOLDERS, readPages, readTree } from './source-tree.js'
import { examplesIn, unusedDeclarations } from './unused-declarations.js'

const ROOT = join(import.meta.dirname, '..', '..')

/** Exports that no import names: the loader of a cell and Node find them by these names. */
const LOADED_BY_NAME = 'loadConfig loadEntries initialize resolve load'

/** Modules that start a program, are loaded by their path in a cell, or as a product of the command line. */
const PROGRAMS = [
  'packages/core/src/commands/main.ts',
  'packages/core/src/runtime/function-cell/runner.ts',
  'packages/core/src/runtime/describe/load-entries.ts',
  'packages/core/src/runtime/describe/typescript-hooks.ts',
  'packages/mcp/src/bridge/main.ts',
  'packages/mcp/src/commands/index.ts',
  'packages/team/src/commands/index.ts',
  'packages/manifest/src/commands/index.ts',
]

/** Entries for the packages around the core, and for tests. The manual counts only where it imports them. */
const FOR_PACKAGES = ['cordon/commands', 'cordon/runtime', 'cordon/shapes', 'cordon/manifest']

const ENTRIES = new Map(
  readPackages(ROOT).flatMap(({ entries }) =>
    [...entries].flatMap(([name, file]) => (file === undefined ? [] : [[name, file] as const])),
  ),
)

test('no declaration of a package is used only by tests', () => {
  const publicFiles = [...ENTRIES].flatMap(([name, file]) => (FOR_PACKAGES.includes(name) ? [] : [file]))
  expect(publicFiles).toContain('packages/core/src/policy/index.ts')
  const pages = readTree(ROOT, FOLDERS.pages, /\.md$/).filter(({ path }) => !/\/(?:decisions|inside)\//.test(path))
  const readmes = readPages(ROOT).filter(({ path }) => path.endsWith('README.md'))
  const manual = [...readmes, ...pages].map(({ text }) => text).join('\n')
  const unused = unusedDeclarations(readTree(ROOT, FOLDERS.sources, /\.ts$/), {
    programs: PROGRAMS,
    entries: ENTRIES,
    publicFiles,
    manual: `${manual}\n${LOADED_BY_NAME}`,
    scripts: [
      ...readTree(ROOT, FOLDERS.scripts, /\.m?js$/),
      ...examplesIn(manual, FOR_PACKAGES).map((text, at) => ({ path: `example-${String(at)}.ts`, text })),
    ],
  })
  expect(unused).toEqual([])
})

describe('a declaration', () => {
  const file = (path: string, text: string) => ({ path, text })
  const roots = {
    programs: ['packages/a/src/main.ts'],
    entries: new Map([
      ['a', 'packages/a/src/index.ts'],
      ['a/parts', 'packages/a/src/parts.ts'],
    ]),
    publicFiles: ['packages/a/src/index.ts'],
    manual: '`shown` does it',
    scripts: [],
  }

  it('is unused if no program, script or page leads to it', () => {
    const files = [
      file('packages/a/src/main.ts', "import { a } from './a.js'\na()"),
      file('packages/a/src/index.ts', "export { shown, hidden } from './a.js'"),
      file(
        'packages/a/src/a.ts',
        'export const a = () => b\nconst b = 1\nexport const shown = 2\nexport const hidden = () => ' +
          'inner\nconst inner = 3\nexport const scripted = 4',
      ),
    ]
    const scripts = [file('bench/a.mjs', "import { scripted } from '../packages/a/dist/a.js'\nscripted()")]
    expect(unusedDeclarations(files, { ...roots, scripts })).toEqual([
      'packages/a/src/index.ts hidden',
      'packages/a/src/a.ts hidden',
      'packages/a/src/a.ts inner',
    ])
  })

  it('is used through a late import, a type or a second name', () => {
    const files = [
      file(
        'packages/a/src/main.ts',
        "import { a as other } from './a.js'\nother((await import('./late.js')).run)\nconst { walk } = await " +
          "import('./late.js')\nwalk()",
      ),
      file('packages/a/src/a.ts', "import type { T } from './types.js'\nexport const a = (t: T) => t"),
      file('packages/a/src/types.ts', 'export interface T { readonly u: string }'),
      file('packages/a/src/late.ts', 'export const run = 1\nexport const walk = 2'),
    ]
    expect(unusedDeclarations(files, roots)).toEqual([])
  })

  it('is used by another package or an example through a public entry, and types of other entries are not', () => {
    const files = [
      file('packages/a/src/main.ts', ''),
      file('packages/a/src/parts.ts', "export { a, b, c } from './a.js'\nexport type { T, U } from './a.js'"),
      file(
        'packages/a/src/a.ts',
        'export interface T { readonly t: string }\nexport interface U { readonly u: T }\n' +
          'export const a = (u: U) => u\nexport const b = 2\nexport const c = 3',
      ),
      file('packages/b/src/main.ts', "import { a } from 'a/parts'\nimport type { U } from 'a/parts'\na({} as U)"),
    ]
    const manual = "Use it:\n\n    import { b } from 'a/parts'\n    import { c } from 'a'\n"
    const scripts = examplesIn(manual, ['a/parts']).map((text) => file('example.ts', text))
    expect(unusedDeclarations(files, { ...roots, programs: ['packages/b/src/main.ts'], scripts })).toEqual([
      'packages/a/src/parts.ts c',
      'packages/a/src/parts.ts T',
      'packages/a/src/a.ts c',
    ])
  })
})
