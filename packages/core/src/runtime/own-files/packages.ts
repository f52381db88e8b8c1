// The packages that a package loads, found as Node finds them. Nothing is looked at twice: a start looks at a hundred.
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join, resolve } from 'node:path'

import { bug } from '../../errors/index.js'
import {
  NAMES_AROUND,
  PACKAGE_FOLDER,
  isCheckout,
  jsonOfFile,
  linkStatusAt,
  placesAround,
  realpathSync,
  statusAt,
} from '../../platform/index.js'
import { parseAbsolutePath } from '../../policy/index.js'

import { linksOnTheWay } from './links-on-the-way.js'

/** Packages that a package loads without needing them in its manifest: optional ones, and the core. */
const LOADED_PEERS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(NAMES_AROUND.map((name) => [name, ['cordon']])),
  'cordon': ['@opentelemetry/api', ...NAMES_AROUND],
  '@cordon/manifest': ['cordon', 'typescript'],
}
/** Nothing of it is loaded. */
const TYPES = '@types/'
/** `require('NAME')` prefers a file of these names to the folder of a package without `exports`. */
const FILE_ENDINGS = ['.js', '.json', '.node']

/**
 * How many needs are followed. All packages of Cordon have about eighty together. In a project anybody may have made a
 * package of this name, which needs any number.
 */
const MOST_NEEDS = { needed: 5_000, all: 500 } as const

/** One installed package, by its real folder. */
export interface InstalledPackage {
  readonly name: string
  readonly folder: string
  /** Symbolic links on the way to it. */
  readonly links: readonly string[]
  /** What Node finds if this package loads another one by its name. */
  readonly needs: readonly InstalledPackage[]
  /** Nothing is there now. A package or a file there would be loaded in place of one that it needs. */
  readonly missing: readonly string[]
}

/** A package with everything that it loads, each folder once. `needed`: without the packages that are optional. */
export const packagesFrom = (
  folder: string,
  which: 'needed' | 'all' = 'all',
  lastFolders: readonly string[] = ownLastFolders(),
): readonly InstalledPackage[] => {
  const known = new Map<string, InstalledPackage>()
  let followed = 0
  const manifestAt = remembered((at) => (jsonOfFile(join(at, 'package.json')) ?? {}) as Manifest)
  const placeAt: PlaceAt = remembered((path) => lookAt(path, placeAt))
  const take = (name: string, { real, links }: Place): InstalledPackage => {
    const found = known.get(real)
    if (found !== undefined) return links.length === 0 ? found : { ...found, links: [...found.links, ...links] }
    const needs: InstalledPackage[] = []
    const missing: string[] = []
    const taken = { name, folder: real, links, needs, missing }
    known.set(real, taken)
    const folders = modulesFolders(real)
    const isClosed = !isCheckout(name, real)
    for (const needed of namesNeeded(manifestAt(real), which)) {
      followed += 1
      if (followed > MOST_NEEDS[which]) break
      const at = folders.findIndex((modules) => placeAt(join(modules, needed)) !== undefined)
      const place = at < 0 ? undefined : placeAt(join(folders[at] ?? '/', needed))
      const passed = at < 0 ? [...folders, ...lastFolders] : folders.slice(0, at)
      // Nothing can be made in a package itself.
      const open = isClosed ? passed.filter((modules) => dirname(modules) !== real) : passed
      const places = open.map((modules) => placeAt(modules)?.real ?? modules)
      missing.push(...places.flatMap((modules) => [join(modules, needed), ...filesBeside(modules, needed)]))
      if (place === undefined) continue
      if (manifestAt(place.real).exports === undefined)
        missing.push(...filesBeside(placeAt(folders[at] ?? '/')?.real ?? '/', needed))
      needs.push(keep(needed, place))
    }
    for (const [around, path] of name === 'cordon' && which === 'all' ? placesAround(real) : []) {
      const place = placeAt(path)
      if (place === undefined) missing.push(path)
      else keep(around, place)
    }
    return taken
  }
  const keep = (name: string, place: Place): InstalledPackage => {
    const one = take(name, place)
    known.set(one.folder, one)
    return one
  }
  take(manifestAt(folder).name ?? 'cordon', placeAt(folder) ?? { real: folder, links: [] })
  if (followed > MOST_NEEDS[which] && folder === PACKAGE_FOLDER) bug('Cordon needs too many packages')
  return [...known.values()]
}

type Variables = Readonly<Record<string, string | undefined>>

/** Where `require` looks last in a process with these variables, as Node finds it when it starts. */
export const lastFoldersOf = ({ HOME: home = '', NODE_PATH: named = '' }: Variables): readonly string[] => [
  ...named.split(delimiter).filter((folder) => folder !== ''),
  ...(home === '' ? [] : ['.node_modules', '.node_libraries'].map((name) => resolve(home, name))),
  resolve(process.execPath, '../../lib/node'),
]

/** The same for this process. */
const ownLastFolders = (): readonly string[] =>
  (createRequire(import.meta.url).resolve.paths('cordon') ?? []).filter((folder) => basename(folder) !== 'node_modules')

const filesBeside = (modules: string, name: string): readonly string[] =>
  FILE_ENDINGS.map((ending) => join(modules, `${name}${ending}`))

const remembered = <Found>(look: (path: string) => Found): ((path: string) => Found) => {
  const known = new Map<string, { readonly found: Found }>()
  return (path) => {
    const { found } = known.get(path) ?? { found: look(path) }
    known.set(path, { found })
    return found
  }
}

interface Place {
  readonly real: string
  readonly links: readonly string[]
}

type PlaceAt = (path: string) => Place | undefined

const lookAt = (path: string, placeAt: PlaceAt): Place | undefined => {
  if (path === '/') return { real: path, links: [] }
  const folder = placeAt(dirname(path))
  // A folder that is closed to this user is closed to Node.
  const status = folder === undefined ? undefined : linkStatusAt(path)
  if (folder === undefined || status === undefined) return undefined
  if (!status.isSymbolicLink()) return { real: join(folder.real, basename(path)), links: folder.links }
  try {
    return { real: realpathSync(path), links: linksOnTheWay(parseAbsolutePath(path)) }
  } catch {
    return undefined
  }
}

const namesNeeded = (
  { name, dependencies = {}, optionalDependencies = {} }: Manifest,
  which: 'needed' | 'all',
): readonly string[] => {
  const peers = which === 'all' ? (LOADED_PEERS[name ?? ''] ?? []) : []
  return [...new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers])].filter(
    (each) => PACKAGE_NAME.test(each) && !each.startsWith(TYPES),
  )
}

/** A manifest of a project can say anything. */
const PACKAGE_NAME = /^(?:@[\w-][\w.-]*\/)?[\w-][\w.-]*$/

interface Manifest {
  readonly name?: string
  readonly exports?: unknown
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Where Node finds a package from a folder. */
export const placeOfPackage = (name: string, from: string): string | undefined =>
  modulesFolders(from)
    .map((folder) => join(folder, name))
    .find((place) => statusAt(place) !== undefined)

/** The folders `node_modules` in which Node looks, the nearest first. */
export const modulesFolders = (from: string): readonly string[] => {
  const folders: string[] = []
  for (let at = from; ; at = dirname(at)) {
    if (basename(at) !== 'node_modules') folders.push(join(at, 'node_modules'))
    if (at === dirname(at)) return folders
  }
}
