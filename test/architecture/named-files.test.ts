// Pages and comments name files. Each file that they name must exist, in the repository or in the package of the page.
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { expect, it } from 'vitest'

import { ROOM_ORDER } from './rooms.js'
import { FOLDERS, readPages, readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')
const NAMED = ['packages', 'src', 'native', 'docs', 'test', 'sql', 'schemas', 'scripts', 'bench', 'policies', 'deploy']
const OTHERS = ['packages/team/sql', 'packages/core/schemas', 'packages/core/policies', 'deploy']
const FILES = [
  ...readPages(ROOT),
  ...readTree(ROOT, [...Object.values(FOLDERS).flat(), ...OTHERS], /\.(?:md|ts|mts|mjs|c|h|sql)$/),
]
const NAMES = new Set(FILES.map(({ path }) => basename(path)))

/** Not the beginning of a pattern, such as the launchers of all platforms. */
const PATH = new RegExp(`(?<![\\w./@-])(?:${NAMED.join('|')})/[\\w./-]*\\w\\b(?![\\w-]*[*{<])`, 'g')
const BARE = /(?<![\w./*…-])[a-z][\w-]*\.(?:ts|c|h|sql)\b/g
const COMMENT = /(?:^|\s)(?:\/\/|--) .*|\/\*[^]*?\*\//gm
/** Where a link leads. It starts at the folder of its page. */
const TARGET = /\]\(([^)#]*)[^)]*\)/g
/** Written by programs, whose texts name pages and tests of any package. */
const GENERATED = ['docs/cli.md', 'docs/errors.md', 'docs/inside/matrix.md']

const all = (text: string, pattern: RegExp): readonly string[] => Array.from(text.matchAll(pattern), ([match]) => match)

/** The short form, which begins with `src/`, is of the package that says it. */
const placesOf = (page: string, named: string): readonly string[] => {
  const packages = GENERATED.includes(page) ? Object.keys(ROOM_ORDER) : [/^packages\/([^/]+)/.exec(page)?.[1] ?? '']
  return [named, ...packages.map((name) => `packages/${name}/${named}`)]
}

const missingPaths = (page: string, text: string): readonly string[] =>
  all(text, PATH).filter((named) => !placesOf(page, named).some((path) => existsSync(join(ROOT, path))))

const missingTargets = (page: string, text: string): readonly string[] =>
  Array.from(text.matchAll(TARGET), ([, target = '']) => target).filter(
    (target) => target !== '' && !target.includes(':') && !existsSync(join(ROOT, dirname(page), target)),
  )

const missingIn = ({ path, text }: { readonly path: string; readonly text: string }): readonly string[] => {
  if (!path.endsWith('.md')) return missingPaths(path, all(text, COMMENT).join('\n'))
  // In pages, a name in backticks counts without its folder too.
  const bare = all(all(text, /`[^`\n]+`/g).join('\n'), BARE)
  return [
    ...missingTargets(path, text),
    ...missingPaths(path, text.replaceAll(TARGET, ']')),
    ...bare.filter((name) => !NAMES.has(name)),
  ]
}

it('pages and comments name only files that exist', () => {
  expect(FILES.length).toBeGreaterThan(1500)
  expect(FILES.flatMap((file) => missingIn(file).map((name) => `${file.path}: ${name}`))).toEqual([])
})

it('finds a name that does not exist, and takes the short form for the package that says it', () => {
  const text = 'see src/gate/gone.ts, src/gate/gate.ts and packages/core/native/keeper/*.c'
  expect(missingPaths('packages/core/docs/policy.md', text)).toEqual(['src/gate/gone.ts'])
  expect(missingPaths('docs/operating.md', text)).toEqual(['src/gate/gone.ts', 'src/gate/gate.ts'])
})
