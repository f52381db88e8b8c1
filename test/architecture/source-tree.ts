import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { ROOM_ORDER } from './rooms.js'

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

const ofPackages = (folder: string): readonly string[] =>
  Object.keys(ROOM_ORDER).map((name) => `packages/${name}/${folder}`)

/** Of all packages, and those of the whole. */
export const FOLDERS = {
  sources: ofPackages('src'),
  native: ['packages/core/native'],
  tests: ['test', ...ofPackages('test')],
  scripts: ['scripts', 'bench', 'packages/core/bin', ...ofPackages('scripts')],
  pages: ['docs', ...ofPackages('docs')],
} as const

const SKIPPED = new Set(['node_modules', 'dist', 'build', 'coverage'])

/** Every file beneath some folders of the repository. A folder that does not exist has none. */
export const readTree = (root: string, folders: readonly string[], extensions: RegExp): readonly SourceFile[] =>
  folders.flatMap((folder) => walk(root, folder, extensions))

const walk = (root: string, folder: string, extensions: RegExp): readonly SourceFile[] =>
  listFolder(join(root, folder)).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(root, path, extensions)
    return extensions.test(entry.name) ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : []
  })

const listFolder = (path: string) => {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** The pages that lie in the repository and in its packages themselves: README.md, ARCHITECTURE.md and others. */
export const readPages = (root: string): readonly SourceFile[] =>
  ['.', ...Object.keys(ROOM_ORDER).map((name) => `packages/${name}`)].flatMap((folder) =>
    listFolder(join(root, folder))
      .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
      .map(({ name }) => join(folder, name))
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  )
