// Reads the modules of packages/core/native/ (NAME.c with NAME.h) from their text.
import { posix } from 'node:path'

import { circlesOf } from './import-cycles.js'
import type { SourceFile } from './source-tree.js'

type Graph = ReadonlyMap<string, readonly string[]>

const moduleOf = (path: string): string => path.replace(/\.[ch]$/, '')

const includedFiles = ({ text }: SourceFile): readonly string[] =>
  Array.from(text.matchAll(/^#include "([^"]+)"/gm), ([, path = '']) => `packages/core/native/${path}`)

/** What each module (or folder, or other group) includes of others. */
const includesBy = (files: readonly SourceFile[], groupOf: (path: string) => string): Graph => {
  const graph = new Map<string, Set<string>>()
  for (const file of files) {
    const from = groupOf(file.path)
    const targets = graph.get(from) ?? new Set()
    graph.set(from, targets)
    for (const path of includedFiles(file)) if (groupOf(path) !== from) targets.add(groupOf(path))
  }
  return new Map(Array.from(graph, ([from, targets]) => [from, [...targets].sort()]))
}

type Circles = ReturnType<typeof circlesOf>

export const moduleCycles = (files: readonly SourceFile[]): Circles => circlesOf(includesBy(files, moduleOf))
export const includedFolderCycles = (files: readonly SourceFile[]): Circles =>
  circlesOf(includesBy(files, (path) => posix.dirname(path)))

/** `keeper` of `packages/core/native/keeper/network/dns.c`; `main.c` of the file itself. */
const partOf = (path: string): string => /^packages\/core\/native\/([^/]+)/.exec(path)?.[1] ?? path

export const includesByPart = (files: readonly SourceFile[]): Graph => includesBy(files, partOf)

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\//g, '')

/** Functions that a header declares and the file of the same name does not define. */
export const declaredElsewhere = (files: readonly SourceFile[]): readonly string[] => {
  const textOf = new Map(files.map(({ path, text }) => [path, withoutComments(text)]))
  return [...textOf].flatMap(([path, text]) => {
    if (!path.endsWith('.h')) return []
    const own = textOf.get(`${moduleOf(path)}.c`) ?? ''
    const declared = Array.from(
      text.matchAll(/^(?!typedef|static|#)[\w *]*?\b(\w+)\([^;{}]*\)[^;{}]*;/gm),
      ([, name = '']) => name,
    )
    return declared
      .filter((name) => !new RegExp(`^(?!static)[\\w *]*\\b${name}\\(`, 'm').test(own))
      .map((name) => `${path}: ${name}`)
  })
}

/** Lines of code that match, as `file: line`. */
export const linesOf = (files: readonly SourceFile[], pattern: RegExp): readonly string[] =>
  files.flatMap(({ path, text }) =>
    withoutComments(text)
      .split('\n')
      .flatMap((line) => (pattern.test(line) ? [`${path}: ${line.trim()}`] : [])),
  )
