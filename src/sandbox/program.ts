import { accessSync, constants, closeSync, openSync, readSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'

import { fail } from '../errors/index.js'
import type { AbsolutePath } from '../policy/index.js'

import { readElfNeeds } from './elf.js'

export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** A program and all that must be readable before it can begin. */
export interface Program {
  /** As it is executed: links not resolved, because programs look at their own name. */
  readonly path: AbsolutePath
  /** The real files: the program, its interpreter when it is a script. */
  readonly executables: readonly AbsolutePath[]
  /** The ELF interpreters of these. */
  readonly loaders: readonly AbsolutePath[]
  readonly libraries: readonly AbsolutePath[]
}

/** Finds a program the way a shell does: a name in the search path, a path against the working directory. */
export const findProgram = (name: string, cwd: string, searchPath: string): Program => {
  const found = name.includes('/') ? resolve(cwd, name) : lookUp(name, searchPath)
  if (found === undefined) throw fail('program-not-found', { program: name, fix: `looked in ${searchPath}` })
  const real = realPathOf(found)
  if (real === undefined) throw fail('program-not-found', { program: name, fix: `nothing is at ${found}` })
  if (statSync(real).isDirectory()) throw fail('program-not-executable', { program: name, problem: 'it is a folder', fix: 'name a program in it' })
  try {
    accessSync(real, constants.X_OK)
  } catch (cause) {
    throw fail('program-not-executable', { program: name, problem: 'no execute permission', fix: `chmod +x ${found}` }, cause)
  }
  return { path: found as AbsolutePath, ...needsOf(real, searchPath, 0) }
}

const lookUp = (name: string, searchPath: string): string | undefined =>
  searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return statSync(path).isFile()
      } catch {
        return false
      }
    })

const realPathOf = (path: string): AbsolutePath | undefined => {
  try {
    return realpathSync(path) as AbsolutePath
  } catch {
    return undefined
  }
}

type Needs = Omit<Program, 'path'>

const needsOf = (real: AbsolutePath, searchPath: string, depth: number): Needs => {
  const script = readInterpreterLine(real)
  if (script !== undefined && depth < 4) {
    const interpreters = interpretersOf(script, searchPath).flatMap((path) => realPathOf(path) ?? [])
    const nested = interpreters.map((path) => needsOf(path, searchPath, depth + 1))
    return {
      executables: [real, ...nested.flatMap(({ executables }) => executables)],
      loaders: nested.flatMap(({ loaders }) => loaders),
      libraries: nested.flatMap(({ libraries }) => libraries),
    }
  }
  const needs = readElfNeeds(real)
  if (needs === undefined) return { executables: [real], loaders: [], libraries: [] }
  const loader = needs.interpreter === undefined ? undefined : realPathOf(needs.interpreter)
  return { executables: [real], loaders: loader === undefined ? [] : [loader], libraries: librariesOf(real, needs.libraries, needs.searchPaths, new Set()) }
}

/** `#!/usr/bin/env -S node --flag`: the interpreter, and the program that env looks up. */
const interpretersOf = (line: string, searchPath: string): readonly string[] => {
  const [interpreter = '', ...words] = line.split(/\s+/)
  if (!interpreter.endsWith('/env')) return [interpreter]
  const name = words.find((word) => !word.startsWith('-') && !word.includes('='))
  return [interpreter, ...(name === undefined ? [] : [lookUp(name, searchPath) ?? name])]
}

const readInterpreterLine = (path: string): string | undefined => {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(256)
    const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0))
    return text.startsWith('#!') ? text.slice(2).split('\n')[0]?.trim() : undefined
  } finally {
    closeSync(file)
  }
}

/** Libraries beside the program ($ORIGIN) that no system folder holds; the others the loader finds by itself. */
const librariesOf = (file: AbsolutePath, names: readonly string[], searchPaths: readonly string[], seen: Set<string>): readonly AbsolutePath[] =>
  names.flatMap((name) => {
    const candidates = name.includes('/') ? [resolve(dirname(file), name)] : searchPaths.map((folder) => join(folder.replace(/\$ORIGIN|\$\{ORIGIN\}/g, dirname(file)), name))
    const found = candidates.map(realPathOf).find((path) => path !== undefined)
    if (found === undefined || seen.has(found)) return []
    seen.add(found)
    const needs = readElfNeeds(found)
    return [found, ...(needs === undefined ? [] : librariesOf(found, needs.libraries, [...needs.searchPaths, ...searchPaths], seen))]
  })

/**
 * Folders from which code may be mapped although nothing in them may be executed, when `exec` is
 * limited: where distributions keep shared objects that programs load by name.
 */
export const libraryFolders = (): readonly AbsolutePath[] => {
  const inUsrLib = entriesOf('/usr/lib').filter((name) => /^(?:.*-linux-(?:gnu|musl).*|python.*|perl.*|ruby.*|node.*|jvm)$/.test(name))
  const folders = inUsrLib.some((name) => name.includes('-linux-')) ? inUsrLib.map((name) => `/usr/lib/${name}`) : ['/usr/lib']
  return [...folders, '/usr/lib64', '/usr/lib32', '/usr/local/lib', '/lib/ld-musl-x86_64.so.1', '/lib/ld-musl-aarch64.so.1'].flatMap((path) => {
    const real = realPathOf(path)
    return real === undefined ? [] : [real]
  })
}

const entriesOf = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
