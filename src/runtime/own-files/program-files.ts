// What Cordon itself runs from: its package, every package that it loads, the launcher, and Node. A tool that changes
// one of them would run outside of every cell with the next start.
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { fail } from '../../errors/index.js'
import { isWithinPath, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { futurePathOf } from '../../sandbox/index.js'

import { linksOnTheWay } from './links-on-the-way.js'
import type { OwnFile } from './own-file.js'

/** The folder of this very package. */
export const PACKAGE_FOLDER = realpathSync(fileURLToPath(new URL('../../../', import.meta.url)))

/** Optional packages that the command line and the library load by themselves if they are there. */
const LOADED_PEERS = ['@opentelemetry/api', 'graphile-worker', 'typescript']
/** Nothing of it is loaded. */
const TYPES = '@types/'

/** One installed package, by its real folder. */
export interface InstalledPackage {
  readonly name: string
  readonly folder: string
  /** Symbolic links on the way to it. */
  readonly links: readonly string[]
  /** What Node finds if this package loads another one by its name. */
  readonly needs: readonly InstalledPackage[]
}

/** A package with everything that it loads, each folder once. `needed`: without the packages that are optional. */
export const packagesFrom = (folder: string, which: 'needed' | 'all' = 'all'): readonly InstalledPackage[] => {
  const known = new Map<string, InstalledPackage>()
  const take = (name: string, at: string): InstalledPackage => {
    const real = realpathSync.native(at)
    const links = real === at ? [] : linksOnTheWay(parseAbsolutePath(at))
    const found = known.get(real)
    if (found !== undefined) return { ...found, links: [...found.links, ...links] }
    const needs: InstalledPackage[] = []
    const taken = { name, folder: real, links, needs }
    known.set(real, taken)
    for (const needed of namesNeeded(real, which)) {
      const place = placeOfPackage(needed, real)
      if (place === undefined) continue
      const one = take(needed, place)
      known.set(one.folder, one)
      needs.push(one)
    }
    return taken
  }
  take('cordon', folder)
  return [...known.values()]
}

const namesNeeded = (folder: string, which: 'needed' | 'all'): readonly string[] => {
  const { name, dependencies = {}, optionalDependencies = {} } = manifestOf(folder)
  const peers = name === 'cordon' && which === 'all' ? LOADED_PEERS : []
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers].filter(
    (each) => !each.startsWith(TYPES),
  )
}

interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const manifestOf = (folder: string): Manifest => {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  } catch {
    return {}
  }
}

/** Where Node finds a package from a folder. */
export const placeOfPackage = (name: string, from: string): string | undefined =>
  modulesFolders(from)
    .map((folder) => join(folder, name))
    .find((place) => existsSync(place))

/** The folders `node_modules` in which Node looks, the nearest first. */
const modulesFolders = (from: string): readonly string[] => {
  const folders: string[] = []
  for (let at = from; ; at = dirname(at)) {
    folders.push(basename(at) === 'node_modules' ? at : join(at, 'node_modules'))
    if (at === dirname(at)) return [...new Set(folders)]
  }
}

/** The parts of a checkout that run. The rest of it is edited in cells too. */
const PARTS_OF_CHECKOUT = ['bin', 'dist', 'build', 'package.json', 'policies', 'sql', 'packages']

const isCheckout = (folder: string): boolean => existsSync(join(folder, 'src', 'runtime'))

export interface StartedProgram {
  /** The path by which it was started, such as `node_modules/.bin/cordon`. */
  readonly startedAs?: string | undefined
  /** A project, whose own package `npx` would start. */
  readonly workspace?: string | undefined
}

interface Program {
  /** Only a write grant that overlaps one of these can reach the files. */
  readonly areas: readonly AbsolutePath[]
  files: readonly OwnFile[] | undefined
}

/** Found once in a process: neither the program nor the way that it was started changes. */
const known = new Map<string, Program>()

/** Those that a boundary could let a tool change. To look for all packages costs some milliseconds, so few calls do. */
export const programFiles = ({ write }: Pick<Boundary, 'write'>, started: StartedProgram = {}): readonly OwnFile[] => {
  const bases = write.filter(({ negated }) => !negated).map(({ base }) => futurePathOf(base))
  if (bases.length === 0) return []
  const key = JSON.stringify(started)
  const program = known.get(key) ?? { areas: areasOf(started), files: undefined }
  known.set(key, program)
  const isReached = program.areas.some((area) =>
    bases.some((base) => isWithinPath(area, base) || isWithinPath(base, area)),
  )
  return isReached ? (program.files ??= findFiles(started)) : []
}

/**
 * Throws if a tool could change what this process runs from. For programs that others start again and again: a hook,
 * a gateway, a runner.
 */
export const refuseOwnProgram = (
  boundary: Pick<Boundary, 'write'>,
  startedAs: string | undefined,
  fix: string,
): void => {
  const files = programFiles(boundary, { startedAs })
  for (const { negated, base, text } of boundary.write) {
    const real = futurePathOf(base)
    const inside = negated ? undefined : files.find(({ path }) => isWithinPath(parseAbsolutePath(path), real))
    if (inside !== undefined) throw fail('program-in-write-root', { path: inside.path, grant: text, fix })
  }
}

const areasOf = (started: StartedProgram): readonly AbsolutePath[] =>
  [
    ...foldersOf(started).flatMap((folder) => [folder, ...modulesFolders(folder).filter((each) => existsSync(each))]),
    ...(started.startedAs === undefined ? [] : [dirname(started.startedAs)]),
    process.execPath,
  ].map((path) => futurePathOf(parseAbsolutePath(path)))

/** This package, and that of the project. */
const foldersOf = ({ workspace }: StartedProgram): readonly string[] => {
  const beside = workspace === undefined ? undefined : join(workspace, 'node_modules', 'cordon')
  const isThere = beside !== undefined && existsSync(join(beside, 'package.json'))
  return [...new Set([PACKAGE_FOLDER, ...(isThere ? [realpathSync(beside)] : [])])]
}

const findFiles = (started: StartedProgram): readonly OwnFile[] => {
  const folders = foldersOf(started)
  const packages = folders.flatMap((folder) => packagesFrom(folder))
  const names = [
    ...(started.startedAs === undefined ? [] : [parseAbsolutePath(started.startedAs)]),
    ...folders.flatMap(namesOf),
  ]
  const links = [...packages.flatMap((each) => each.links), ...names.flatMap(linksOnTheWay)]
  const objects = packages.flatMap(({ folder }) =>
    folders.includes(folder) && isCheckout(folder)
      ? PARTS_OF_CHECKOUT.map((part) => join(folder, part)).filter((part) => existsSync(part))
      : [folder],
  )
  // A command of pnpm is a script. Where the command is missing, a tool must not make one.
  const commands = names.filter((path) => !isLink(path)).map(futurePathOf)
  return [
    ...outermost([...objects, ...commands, realpathSync(process.execPath)]).map((path) => programFile(path, 'object')),
    ...[...new Set(links)].map((path) => programFile(path, 'link')),
  ]
}

const programFile = (path: string, program: 'object' | 'link'): OwnFile => ({
  path,
  access: 'read-only',
  what: 'what Cordon runs from',
  fix: 'grant something else, or run a Cordon that is installed elsewhere, such as with npm install -g cordon',
  program,
})

/** The names by which a package is found in the folders above it: its own, and that of its command. */
const namesOf = (folder: string): readonly AbsolutePath[] =>
  modulesFolders(dirname(folder))
    .map((modules) => ({ own: join(modules, 'cordon'), command: join(modules, '.bin', 'cordon') }))
    .flatMap(({ own, command }) =>
      isPackageAt(own, folder) ? [...(isLink(own) ? [own] : []), command] : [own, command].filter(isLink),
    )
    .map((path) => parseAbsolutePath(path))

const isPackageAt = (path: string, folder: string): boolean => existsSync(path) && realpathSync(path) === folder

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const outermost = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths)].sort().filter((path, _, all) => !all.some((other) => path.startsWith(`${other}/`)))
