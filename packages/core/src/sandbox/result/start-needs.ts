import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { textOfFile } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { readElfNeeds } from '../grants/elf.js'
import { readInterpreterLine } from '../grants/interpreter.js'
import { findProgram, lookUp } from '../grants/program.js'

/** What a program may lack that fails at its start. Found by reading its files, not by guessing from its output. */
export interface StartNeeds {
  /** Files of the program that are granted without the folder around them. */
  readonly alone: readonly AbsolutePath[]
  /** Shared libraries that the loader finds on the host, but not in the cell. */
  readonly libraries: readonly { readonly name: string; readonly path: AbsolutePath }[]
  /** The interpreter that env finds in the host's PATH, if the program is such a script. */
  readonly lookedUp: { readonly name: string; readonly path: string } | undefined
}

export interface StartContext {
  readonly cwd: string
  readonly searchPath: string
  /** LD_LIBRARY_PATH of the host. */
  readonly libraryPath: string
  readonly isReadable: (path: AbsolutePath) => boolean
}

export const startNeedsOf = (name: string, { cwd, searchPath, libraryPath, isReadable }: StartContext): StartNeeds => {
  const program = findProgram(name, cwd, searchPath)
  const lookedUp = readInterpreterLine(program.executables[0] ?? program.path)?.lookedUp
  const interpreter = lookedUp === undefined || lookedUp.includes('/') ? undefined : lookUp(lookedUp, searchPath)
  const libraries = program.executables.flatMap((file) => readElfNeeds(file)?.libraries ?? [])
  return {
    alone: program.executables.filter((path) => !isReadable(path)),
    libraries: libraries.flatMap((library) => {
      const path = onHost(library, libraryPath)
      return path === undefined || isReadable(path) || program.libraries.includes(path) ? [] : [{ name: library, path }]
    }),
    lookedUp: lookedUp === undefined || interpreter === undefined ? undefined : { name: lookedUp, path: interpreter },
  }
}

const onHost = (library: string, libraryPath: string): AbsolutePath | undefined => {
  const inFolders = libraryPath
    .split(':')
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, library))
  return [...inFolders.filter((path) => existsSync(path)), ...inLoaderCache(library)][0] as AbsolutePath | undefined
}

/** The loader's cache contains the paths of all libraries as text. */
const inLoaderCache = (library: string): readonly string[] => {
  const texts = textOfFile('/etc/ld.so.cache', 'latin1')?.split('\0') ?? []
  return texts.filter((text) => text.startsWith('/') && text.endsWith(`/${library}`))
}

/** The folder to grant for a file of a program: the parent of its `bin`, or its own. */
export const folderAround = (file: AbsolutePath): AbsolutePath => {
  const folder = dirname(file)
  return (/\/s?bin$/.test(folder) ? dirname(folder) : folder) as AbsolutePath
}
