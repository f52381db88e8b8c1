// What Cordon itself runs from: its package, every package that it loads, the launcher, and Node. A tool that changes
// one of them would run outside of every cell with the next start.
import { basename, dirname, join, resolve } from 'node:path'

import { fail } from '../../errors/index.js'
import {
  PACKAGE_FOLDER,
  createMemory,
  existsSync,
  frontsIn,
  ifSeen,
  isCheckout,
  isLink,
  placesAround,
  readLink,
  readdirSync,
  realPathOf,
  realpathSync,
} from '../../platform/index.js'
import { isWithinPath, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { futurePathOf } from '../../sandbox/index.js'

import { linksOnTheWay } from './links-on-the-way.js'
import type { OwnFile } from './own-file.js'
import { modulesFolders, packagesFrom, placeOfPackage } from './packages.js'

/** The parts of a checkout that run. */
const PARTS_OF_CHECKOUT = ['bin', 'dist', 'build', 'package.json', 'policies', 'sql']

export interface StartedProgram {
  /** The path by which it was started, such as `node_modules/.bin/cordon`. */
  readonly startedAs?: string | undefined
  /** A project, whose own package `npx` would start. */
  readonly workspace?: string | undefined
  /** Where its `require` looks last (default: that of this process). */
  readonly lastFolders?: readonly string[]
}

interface Program {
  /** This package, and the one that a program in the project finds. */
  readonly folders: readonly string[]
  readonly names: readonly OwnFile[]
  /** Only a write grant that overlaps one of these can reach its packages. */
  readonly areas: readonly AbsolutePath[]
}

/** Neither the program nor the way that it was started changes while a process lives. A local host lives longer. */
const programs = createMemory<Program>(64)
const filesOfProgram = createMemory<readonly OwnFile[]>(64)

/** Those that a boundary could let a tool change. To look for all packages costs some milliseconds, so few calls do. */
export const programFiles = ({ write }: Pick<Boundary, 'write'>, started: StartedProgram = {}): readonly OwnFile[] => {
  const bases = write.filter(({ negated }) => !negated).map(({ base }) => futurePathOf(base))
  if (bases.length === 0) return []
  const key = JSON.stringify(started)
  const program = programs.recall(key, () => lookFor(started))
  const isReached = (path: AbsolutePath): boolean =>
    bases.some((base) => isWithinPath(path, base) || isWithinPath(base, path))
  const packages = program.areas.some(isReached)
    ? filesOfProgram.recall(key, () => filesOfPackages(program.folders, started.lastFolders))
    : []
  return withoutRepeats([...packages, ...program.names]).filter(({ path }) => isReached(path as AbsolutePath))
}

/**
 * Throws if a tool could change what this process runs from. For programs that others start again and again: a hook,
 * a gateway, a runner.
 */
export const refuseOwnProgram = (boundary: Pick<Boundary, 'write'>, started: StartedProgram, fix: string): void => {
  const files = programFiles(boundary, started)
  for (const { negated, base, text } of boundary.write) {
    const real = futurePathOf(base)
    const inside = negated
      ? undefined
      : files.find(({ path }) => isWithinPath(path as AbsolutePath, real) && existsSync(path))
    if (inside !== undefined) throw fail('program-in-write-root', { path: inside.path, grant: text, fix })
  }
}

const lookFor = (started: StartedProgram): Program => {
  const folders = foldersOf(started)
  return { folders, names: filesOfNames(started, folders), areas: areasOf(folders) }
}

/** Where packages are looked for. If links lead elsewhere, a grant of any place may reach a package. */
const areasOf = (cores: readonly string[]): readonly AbsolutePath[] => {
  const packages = [...cores, ...cores.flatMap((folder) => [...placesAround(folder).values()])].map(realFuture)
  const folders = [...new Set(packages.flatMap(modulesFolders))]
  const checkouts = cores.filter((folder) => isCheckout('cordon', folder)).map(dirname)
  const places = [process.execPath, ...packages, ...folders, ...checkouts]
  const areas = places.map(realFuture)
  const staysWithin = (link: string): boolean => {
    const target = resolve(dirname(link), readLink(link) ?? '')
    return realPathOf(target) === target && areas.some((area) => isWithinPath(target as AbsolutePath, area))
  }
  return folders.flatMap(linksIn).every(staysWithin) ? areas : [parseAbsolutePath('/')]
}

const realFuture = (path: string): AbsolutePath => futurePathOf(parseAbsolutePath(path))

/** A folder of packages that is a link, and links in it and in its scopes. */
const linksIn = (modules: string): readonly string[] =>
  isLink(modules)
    ? [modules]
    : (ifSeen(() => readdirSync(modules, { withFileTypes: true })) ?? []).flatMap((entry) => {
        const path = join(modules, entry.name)
        if (entry.isSymbolicLink()) return [path]
        return entry.isDirectory() && entry.name.startsWith('@') ? linksIn(path) : []
      })

const foldersOf = ({ workspace }: StartedProgram): readonly string[] => {
  const found = workspace === undefined ? undefined : placeOfPackage('cordon', workspace)
  return [...new Set([PACKAGE_FOLDER, ...(found === undefined ? [] : [realpathSync(found)])])]
}

const filesOfPackages = (cores: readonly string[], lastFolders?: readonly string[]): readonly OwnFile[] => {
  const packages = cores.flatMap((folder) => packagesFrom(folder, 'all', lastFolders))
  const objects = packages.flatMap(({ name, folder }) =>
    isCheckout(name, folder) ? PARTS_OF_CHECKOUT.map((part) => join(folder, part)) : [folder],
  )
  const missing = packages.flatMap((each) => each.missing)
  const folders = [...new Set(missing.map((path) => parseAbsolutePath(dirname(path))))]
  const real = new Map<string, AbsolutePath>(folders.map((folder) => [folder, futurePathOf(folder)]))
  return [
    ...[...objects, realpathSync(process.execPath)].map((path) => programFile(path, 'object')),
    ...missing.map((path) => absentFile(join(real.get(dirname(path)) ?? '/', basename(path)), 'Cordon would load it')),
    ...[...packages.flatMap((each) => each.links), ...folders.flatMap(linksOnTheWay)].map((path) =>
      programFile(path, 'link'),
    ),
  ]
}

/**
 * A command of pnpm is a script, which prefers a `node` beside it, and `npx` finds that too. Where a name is missing, a
 * tool must not make one.
 */
const filesOfNames = (program: StartedProgram, folders: readonly string[]): readonly OwnFile[] => {
  const names = namesOf(program, folders)
  const commands = names.filter((path) => !isLink(path)).map(futurePathOf)
  // Its folder may stand first in PATH.
  const started = [...commands.filter((path) => existsSync(path)), ...names.filter(isLink)]
  const nodes = started
    .map((path) => realFuture(dirname(path)))
    .filter((folder) => basename(folder) !== 'node_modules')
    .map((folder) => join(folder, 'node'))
  // Another one than this process, where that was removed or installed in another place since.
  const named = folders.flatMap(frontsIn).map(({ node }) => node)
  return [
    ...commands.map((path) => nameFile(path, 'npx cordon would start it')),
    ...[...nodes, ...named].map(realFuture).map((path) => nameFile(path, 'the command of Cordon would start it')),
    ...[...names, ...nodes, ...named]
      .flatMap((path) => linksOnTheWay(parseAbsolutePath(path)))
      .map((path) => programFile(path, 'link')),
  ]
}

const nameFile = (path: string, why: string): OwnFile =>
  existsSync(path) ? programFile(path, 'object') : absentFile(path, why)

/** An object inside another one needs no guard of its own. */
const withoutRepeats = (files: readonly OwnFile[]): readonly OwnFile[] => {
  const known = new Map(files.map((file) => [`${file.program ?? ''} ${file.path}`, file]))
  const isInside = (path: string): boolean =>
    path !== '/' && (known.has(`object ${dirname(path)}`) || isInside(dirname(path)))
  return [...known.values()].filter(({ program, path }) => program === 'link' || !isInside(path))
}

/** A cell may install a package of this name elsewhere. */
const absentFile = (path: string, why: string): OwnFile => ({
  ...programFile(path, 'object'),
  what: `${why}: install it outside of a cell`,
  fix: 'install it outside of a cell',
})

const programFile = (path: string, program: 'object' | 'link'): OwnFile => ({
  path,
  access: 'read-only',
  what: 'what Cordon runs from',
  fix: 'grant something else, or run a Cordon that is installed elsewhere, such as with npm install -g cordon',
  program,
})

/**
 * The names by which the package is found in folders above it and above the project: its own, and that of its command.
 * Neither may appear in a folder of the project that is nearer than the package, or in any if the project has none:
 * `npx cordon` would start it.
 */
const namesOf = ({ startedAs, workspace }: StartedProgram, folders: readonly string[]): readonly AbsolutePath[] => {
  const isPackage = (path: string) => existsSync(path) && folders.includes(realpathSync(path))
  const near = workspace === undefined ? [] : modulesFolders(workspace)
  const found = near.findIndex((modules) => isPackage(join(modules, 'cordon')))
  const nearest = found < 0 ? near.length : found
  const beside = [...folders.flatMap((folder) => modulesFolders(dirname(folder))), ...near.slice(nearest)]
  const names = [...new Set(beside)].flatMap((modules) => {
    const [own, command] = namesIn(modules)
    return isPackage(own) ? [...(isLink(own) ? [own] : []), command] : [own, command].filter(isLink)
  })
  const nearer = near.slice(0, nearest).flatMap(namesIn)
  return [...(startedAs === undefined ? [] : [startedAs]), ...nearer, ...names].map((path) => parseAbsolutePath(path))
}

const namesIn = (modules: string): readonly [string, string] => [
  join(modules, 'cordon'),
  join(modules, '.bin', 'cordon'),
]
