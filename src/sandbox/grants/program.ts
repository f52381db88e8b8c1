import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'

import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { readElfNeeds } from './elf.js'
import { realPathOf } from './object-at.js'
import { interpreterMissing, interpreterProblem, readInterpreterLine } from './interpreter.js'
import type { InterpreterLine } from './interpreter.js'

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
  if (found === undefined)
    throw fail('program-not-found', { program: name, fix: `install it, or give its path; looked in ${searchPath}` })
  const real = realPathOf(found)
  if (real === undefined)
    throw fail('program-not-found', { program: name, fix: `give the path of a program; nothing is at ${found}` })
  if (statSync(real).isDirectory())
    throw fail('program-not-executable', { program: name, problem: 'it is a folder', fix: 'name a program in it' })
  try {
    accessSync(real, constants.X_OK)
  } catch (cause) {
    throw fail(
      'program-not-executable',
      { program: name, problem: 'no execute permission', fix: `chmod +x ${found}` },
      cause,
    )
  }
  return { path: found as AbsolutePath, ...needsOf(real, searchPath, 0) }
}

export const lookUp = (name: string, searchPath: string): string | undefined =>
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

type Needs = Omit<Program, 'path'>

const needsOf = (real: AbsolutePath, searchPath: string, depth: number): Needs => {
  const script = readInterpreterLine(real)
  if (script !== undefined && depth < 4) {
    const interpreters = interpretersOf(real, script, searchPath).flatMap((path) => realPathOf(path) ?? [])
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
  return {
    executables: [real],
    loaders: loader === undefined ? [] : [loader],
    libraries: librariesOf(real, needs.libraries, needs.searchPaths, new Set()),
  }
}

/** The interpreter, and the program that env looks up. What is missing on the host is missing in the cell, too. */
const interpretersOf = (
  script: string,
  { interpreter, lookedUp }: InterpreterLine,
  searchPath: string,
): readonly string[] => {
  const problem = interpreterProblem(script, interpreter)
  if (problem !== undefined) throw problem
  if (lookedUp === undefined) return [interpreter]
  const found = lookedUp.includes('/') ? lookedUp : lookUp(lookedUp, searchPath)
  if (found === undefined)
    throw interpreterMissing(script, lookedUp, `env looked in ${searchPath}: install it, or correct the line`)
  return [interpreter, found]
}

/** Libraries beside the program ($ORIGIN) that no system folder holds; the others the loader finds by itself. */
const librariesOf = (
  file: AbsolutePath,
  names: readonly string[],
  searchPaths: readonly string[],
  seen: Set<string>,
): readonly AbsolutePath[] =>
  names.flatMap((name) => {
    const candidates = name.includes('/')
      ? [resolve(dirname(file), name)]
      : searchPaths.map((folder) => join(folder.replace(/\$ORIGIN|\$\{ORIGIN\}/g, dirname(file)), name))
    const found = candidates.map(realPathOf).find((path) => path !== undefined)
    if (found === undefined || seen.has(found)) return []
    seen.add(found)
    const needs = readElfNeeds(found)
    return [
      found,
      ...(needs === undefined ? [] : librariesOf(found, needs.libraries, [...needs.searchPaths, ...searchPaths], seen)),
    ]
  })

/**
 * Folders from which code may be mapped although nothing in them may be executed, when `exec` is
 * limited: where distributions keep shared objects that programs load by name.
 */
export const libraryFolders = (): readonly AbsolutePath[] => {
  const inUsrLib = entriesOf('/usr/lib').filter((name) =>
    /^(?:.*-linux-(?:gnu|musl).*|python.*|perl.*|ruby.*|node.*|jvm)$/.test(name),
  )
  const folders = inUsrLib.some((name) => name.includes('-linux-'))
    ? inUsrLib.map((name) => `/usr/lib/${name}`)
    : ['/usr/lib']
  return [
    ...folders,
    '/usr/lib64',
    '/usr/lib32',
    '/usr/local/lib',
    '/lib/ld-musl-x86_64.so.1',
    '/lib/ld-musl-aarch64.so.1',
  ].flatMap((path) => {
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

/** The first word of a command. */
export const programNamedIn = ([program]: readonly string[]): string => {
  if (program === undefined || program === '')
    throw fail('usage-error', { problem: 'an empty command', fix: 'give a program and its arguments' })
  return program
}
