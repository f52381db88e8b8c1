import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'

import { fail } from '../../errors/index.js'
import { namesInFolder, statSync, statusAt } from '../../platform/index.js'
import { isCarvedOut, isReadable } from '../../policy/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'

import { readElfNeeds } from './elf.js'
import { isExecutable, realPathOf } from './object-at.js'
import { interpreterMissing, readInterpreterLine, requireInterpreter } from './interpreter.js'
import type { InterpreterLine } from './interpreter.js'

export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** A program and the files that it needs to start. */
export interface Program {
  /** The path to execute. Links stay, because programs look at their own name. */
  readonly path: AbsolutePath
  /** The real files: the program, and the interpreter of a script. */
  readonly executables: readonly AbsolutePath[]
  /** The ELF interpreters of these. */
  readonly loaders: readonly AbsolutePath[]
  readonly libraries: readonly AbsolutePath[]
}

/** Finds a program as a shell does: a name in the search path, a path relative to the working directory. */
export const findProgram = (name: string, cwd: string, searchPath: string): Program => {
  const found = name.includes('/') ? resolve(cwd, name) : (lookUp(name, searchPath) ?? filesIn(name, searchPath)[0])
  if (found === undefined)
    throw fail('program-not-found', {
      program: name,
      fix: isFile(resolve(cwd, name))
        ? `it is not in PATH, but in the working directory; write ./${name}`
        : `install it, or give its path; looked in ${searchPath}`,
    })
  const real = realPathOf(found)
  if (real === undefined)
    throw fail('program-not-found', { program: name, fix: `give the path of a program; nothing is at ${found}` })
  if (statSync(real).isDirectory())
    throw fail('program-not-executable', { program: name, problem: 'it is a folder', fix: 'name a program in it' })
  if (!isExecutable(real))
    throw fail('program-not-executable', {
      program: name,
      problem: 'no execute permission',
      fix: `chmod +x ${found}`,
    })
  return { path: found as AbsolutePath, ...needsOf(real, searchPath, 0) }
}

export const lookUp = (name: string, searchPath: string): string | undefined =>
  filesIn(name, searchPath).find(isExecutable)

const filesIn = (name: string, searchPath: string): readonly string[] =>
  searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .filter(isFile)

const isFile = (path: string): boolean => statusAt(path)?.isFile() === true

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
  // Without an interpreter nobody loads libraries, whatever the file says.
  if (needs?.interpreter === undefined) return { executables: [real], loaders: [], libraries: [] }
  const loader = realPathOf(needs.interpreter)
  return {
    executables: [real],
    loaders: loader !== undefined && isExecutable(loader) && isElf(loader) ? [loader] : [],
    libraries: librariesOf(real, needs.libraries, needs.searchPaths, new Set()),
  }
}

const interpretersOf = (
  script: string,
  { interpreter, lookedUp }: InterpreterLine,
  searchPath: string,
): readonly string[] => {
  requireInterpreter(script, interpreter)
  if (lookedUp === undefined) return [interpreter]
  const found = lookedUp.includes('/') ? lookedUp : lookUp(lookedUp, searchPath)
  if (found === undefined)
    throw interpreterMissing(script, lookedUp, `env looked in ${searchPath}: install it, or correct the line`)
  requireInterpreter(script, found)
  return [interpreter, found]
}

/**
 * What a program names becomes readable in its cell. So only files that a program could be made of count: otherwise a
 * program could name a key, and read it.
 */
const isElf = (path: string): boolean => readElfNeeds(path) !== undefined

/** Libraries in folders that the program names ($ORIGIN). The loader finds the system's own by itself. */
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
    const found = candidates.map(realPathOf).find((path) => path !== undefined && isElf(path))
    if (found === undefined || seen.has(found)) return []
    seen.add(found)
    const { libraries = [], searchPaths: own = [] } = readElfNeeds(found) ?? {}
    return [found, ...librariesOf(found, libraries, [...own, ...searchPaths], seen)]
  })

/**
 * When `exec` is limited: folders of shared objects that programs load by name. Their code may be mapped, not executed.
 */
export const libraryFolders = (): readonly AbsolutePath[] => {
  const inUsrLib = namesInFolder('/usr/lib').filter((name) =>
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
  ].flatMap((path) => realPathOf(path) ?? [])
}

/**
 * The same where mounts alone limit `exec`, and could not keep a tool from executing the programs in these folders:
 * only the shared objects that these files are linked with.
 */
export const linkedLibraries = (files: readonly AbsolutePath[]): readonly AbsolutePath[] => {
  const folders = [...new Set(['/lib', '/lib64', '/usr/lib', ...libraryFolders()])]
  const modules = files.some((file) => basename(file).startsWith('python')) ? pythonModulesIn(folders) : []
  const seen = new Set<string>()
  const linked = [...files, ...modules].flatMap((file) => {
    const { libraries = [], searchPaths = [] } = readElfNeeds(file) ?? {}
    return librariesOf(file, libraries, [...searchPaths, ...folders], seen)
  })
  return [...modules, ...linked]
}

/** Modules of Python itself, such as `ssl`, which no program is linked with. */
const pythonModulesIn = (folders: readonly string[]): readonly AbsolutePath[] =>
  folders
    .map((folder) => join(folder, 'lib-dynload'))
    .flatMap((folder) => namesInFolder(folder).flatMap((name) => realPathOf(join(folder, name)) ?? []))

export const programNamedIn = ([program]: readonly string[]): string => {
  if (program === undefined || program === '')
    throw fail('usage-error', { problem: 'an empty command', fix: 'give a program and its arguments' })
  return program
}

/** A carve-out also wins over the program. The kernel would only say that something was not permitted. */
export const refuseCarvedOutProgram = (
  name: string,
  { executables, loaders, libraries }: Program,
  boundary: Boundary,
): void => {
  const hidden = [...executables, ...loaders, ...libraries].find(
    (path) => isCarvedOut(boundary.read, path) || (isCarvedOut(boundary.write, path) && !isReadable(boundary, path)),
  )
  if (hidden === undefined) return
  throw fail('program-not-executable', {
    program: hidden === executables[0] ? name : `${hidden}, which ${name} is run by`,
    problem: 'the policy carves it out',
    fix: `remove the carve-out that takes ${hidden}`,
  })
}
