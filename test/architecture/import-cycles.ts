import { posix } from 'node:path'

import { importedNames } from './import-rules.js'
import type { SourceFile } from './source-tree.js'

/**
 * Files of a package that import each other in a circle, by types and by late imports too: each group is as if it were
 * one file.
 */
export const importCycles = (files: readonly SourceFile[]): readonly (readonly string[])[] => {
  const known = new Set(files.map(({ path }) => path))
  const imports = new Map(files.map((file) => [file.path, importedFiles(file).filter((target) => known.has(target))]))
  return circlesOf(imports)
}

/** Folders of one room whose files import each other's. Files that lie in the room itself are of no folder. */
export const folderCycles = (files: readonly SourceFile[]): readonly (readonly string[])[] => {
  const imports = new Map<string, Set<string>>()
  for (const file of files) {
    const from = folderOf(file.path)
    if (from === undefined) continue
    const targets = imports.get(from) ?? new Set()
    imports.set(from, targets)
    for (const target of importedFiles(file)) {
      const to = folderOf(target)
      if (to !== undefined && to !== from && posix.dirname(to) === posix.dirname(from)) targets.add(to)
    }
  }
  return circlesOf(new Map(Array.from(imports, ([from, targets]) => [from, [...targets]])))
}

/** `packages/core/src/policy/glob` of `packages/core/src/policy/glob/matches.ts`. */
const folderOf = (path: string): string | undefined => /^packages\/[^/]+\/src\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0]

/** Groups of which each reaches every other. */
export const circlesOf = (imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] => {
  const reach = new Map(Array.from(imports.keys(), (path) => [path, reachableFrom(path, imports)]))
  const circles = new Set<string>()
  for (const [path, reached] of reach) {
    if (!reached.has(path)) continue
    circles.add(
      [...reached]
        .filter((other) => reach.get(other)?.has(path) === true)
        .sort()
        .join('\n'),
    )
  }
  return Array.from(circles, (circle) => circle.split('\n'))
}

const importedFiles = (file: SourceFile): readonly string[] =>
  importedNames(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => posix.join(posix.dirname(file.path), name).replace(/\.js$/, '.ts'))

/** Everything that is imported by way of others; the file itself only where it lies on a circle. */
const reachableFrom = (start: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> => {
  const reached = new Set<string>()
  const waiting = [...(imports.get(start) ?? [])]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    waiting.push(...(imports.get(path) ?? []))
  }
  return reached
}
