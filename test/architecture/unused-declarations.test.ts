// Every declaration of src/ is used outside the tests: by a program, a script or a page of the manual.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it, test } from 'vitest'

import { readTree } from './source-tree.js'
import { unusedDeclarations } from './unused-declarations.js'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Exports that no import names: the loader of a cell and Node find them by these names. */
const LOADED_BY_NAME = 'loadConfig loadEntries initialize resolve load'

interface Package {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

test('no declaration of src/ is used only by tests', () => {
  const { exports } = JSON.parse(read('package.json')) as Package
  const publicFiles = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [] : [target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, 'src/$1.ts')],
  )
  expect(publicFiles).toContain('src/policy/index.ts')
  const pages = readTree(ROOT, ['docs'], /\.md$/).filter(({ path }) => !/^docs\/(decisions|inside)\//.test(path))
  const unused = unusedDeclarations(readTree(ROOT, ['src'], /\.ts$/), {
    programs: ['src/cli/main.ts', 'src/runtime/function-cell/runner.ts'],
    // Modules that are loaded by their path, in a cell.
    publicFiles: [...publicFiles, 'src/runtime/describe/load-entries.ts', 'src/runtime/describe/typescript-hooks.ts'],
    manual: [read('README.md'), LOADED_BY_NAME, ...pages.map(({ text }) => text)].join('\n'),
    scripts: readTree(ROOT, ['scripts', 'bench'], /\.mjs$/),
  })
  expect(unused).toEqual([])
})

describe('a declaration', () => {
  const file = (path: string, text: string) => ({ path, text })
  const roots = { programs: ['src/main.ts'], publicFiles: ['src/index.ts'], manual: '`shown` does it', scripts: [] }

  it('is unused if no program, script or page leads to it', () => {
    const files = [
      file('src/main.ts', "import { a } from './a.js'\na()"),
      file('src/index.ts', "export { shown, hidden } from './a.js'"),
      file(
        'src/a.ts',
        'export const a = () => b\nconst b = 1\nexport const shown = 2\nexport const hidden = () => ' +
          'inner\nconst inner = 3\nexport const scripted = 4',
      ),
    ]
    const scripts = [file('bench/a.mjs', "import { scripted } from '../dist/a.js'\nscripted()")]
    expect(unusedDeclarations(files, { ...roots, scripts })).toEqual([
      'src/index.ts hidden',
      'src/a.ts hidden',
      'src/a.ts inner',
    ])
  })

  it('is used through a late import, a type or a second name', () => {
    const files = [
      file(
        'src/main.ts',
        "import { a as other } from './a.js'\nother((await import('./late.js')).run)\nconst { walk } = await " +
          "import('./late.js')\nwalk()",
      ),
      file('src/a.ts', "import type { T } from './types.js'\nexport const a = (t: T) => t"),
      file('src/types.ts', 'export interface T { readonly u: string }'),
      file('src/late.ts', 'export const run = 1\nexport const walk = 2'),
    ]
    expect(unusedDeclarations(files, roots)).toEqual([])
  })
})
