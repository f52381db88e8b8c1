// Pages and comments name files. Each file that they name must exist.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

import { expect, it } from 'vitest'

import { readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDERS = ['src', 'native', 'docs', 'test', 'sql', 'schemas', 'scripts', 'bench', 'policies', 'deploy']
const PAGES = readdirSync(ROOT)
  .filter((name) => name.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
const FILES = [...PAGES, ...readTree(ROOT, FOLDERS, /\.(?:md|ts|mts|mjs|c|h|sql)$/)]
const NAMES = new Set(FILES.map(({ path }) => basename(path)))

const PATH = new RegExp(`(?<![\\w./@-])(?:${FOLDERS.join('|')})/[\\w./-]*\\w`, 'g')
const BARE = /(?<![\w./*…-])[a-z][\w-]*\.(?:ts|c|h|sql)\b/g
const COMMENT = /(?:^|\s)(?:\/\/|--) .*|\/\*[^]*?\*\//gm

const all = (text: string, pattern: RegExp): readonly string[] => Array.from(text.matchAll(pattern), ([match]) => match)
const missingPaths = (text: string): readonly string[] =>
  all(text, PATH).filter((path) => !existsSync(join(ROOT, path)))

const missingIn = ({ path, text }: { readonly path: string; readonly text: string }): readonly string[] => {
  if (!path.endsWith('.md')) return missingPaths(all(text, COMMENT).join('\n'))
  // In pages, a name in backticks counts without its folder too.
  const bare = all(all(text, /`[^`\n]+`/g).join('\n'), BARE)
  return [...missingPaths(text), ...bare.filter((name) => !NAMES.has(name))]
}

it('pages and comments name only files that exist', () => {
  expect(FILES.length).toBeGreaterThan(500)
  expect(FILES.flatMap((file) => missingIn(file).map((name) => `${file.path}: ${name}`))).toEqual([])
})

it('finds a name that does not exist', () => {
  expect(missingPaths('see src/gate/gone.ts and native/keeper/*.c')).toEqual(['src/gate/gone.ts'])
})
