// The tree of an npm package: read from npm's own lock file, written as one, and compared with what was installed.
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { jsonOfFile } from 'cordon/runtime'
import { isMapping } from 'cordon/shapes'

import { LOCKED_FIELDS } from './lock-file.js'
import type { LockEntry, LockedPackage } from './lock-file.js'
import { isNpmName } from './package-words.js'

const ROOT = { name: 'cordon-mcp-server', private: true } as const

const MODULES = 'node_modules/'

const placeOf = (name: string, parent = ''): string => `${parent === '' ? '' : `${parent}/`}${MODULES}${name}`

/** `node_modules/a/node_modules/@b/c` is `@b/c`. */
const folderNameOf = (place: string): string => place.slice(place.lastIndexOf(MODULES) + MODULES.length)

/** The package.json of a folder that has only this package. */
export const manifestFor = (name: string, wanted: string): string =>
  JSON.stringify({ ...ROOT, dependencies: { [name]: wanted } })

/** npm's own lock file for it. */
export const lockFor = (name: string, { version, tree }: LockEntry): string =>
  JSON.stringify({
    name: ROOT.name,
    lockfileVersion: 3,
    requires: true,
    packages: { '': { name: ROOT.name, dependencies: { [name]: version } }, ...tree },
  })

/** Reads npm's lock file. Throws if a package is not of the registry. */
export const readTree = (name: string, text: string): LockEntry => {
  const file: unknown = JSON.parse(text)
  const packages = isMapping(file) ? file['packages'] : undefined
  if (!isMapping(packages)) throw new Error('npm wrote a lock file of another version')
  const tree: Record<string, LockedPackage> = {}
  for (const [place, value] of Object.entries(packages)) {
    if (place === '') continue
    if (!isMapping(value)) throw new Error(`npm wrote nothing about ${place}`)
    if (value['link'] === true || value['resolved'] !== undefined || !isPinned(value))
      throw new Error(`it needs ${folderNameOf(place)}, which is not of the registry, or has no sha512`)
    tree[place] = Object.fromEntries(
      LOCKED_FIELDS.flatMap((field) => (value[field] === undefined ? [] : [[field, value[field]] as const])),
    ) as LockedPackage
  }
  const main = tree[placeOf(name)]
  if (main?.integrity === undefined) throw new Error('npm did not find it')
  return { version: main.version, integrity: main.integrity, tree }
}

const isPinned = ({ version, integrity, inBundle }: Readonly<Record<string, unknown>>): boolean =>
  typeof version === 'string' && (inBundle === true || (typeof integrity === 'string' && /^sha512-/.test(integrity)))

/**
 * Throws if a lock has more or other packages than the installed ones ask for. A lock may come with a project that
 * nobody trusts. It may choose versions, but no packages.
 */
export const checkTree = (folder: string, name: string, { version, integrity, tree }: LockEntry): void => {
  const main = tree[placeOf(name)]
  if (main?.version !== version || main.integrity !== integrity) throw new Error('it pins two versions')
  const manifests = new Map<string, Manifest>()
  for (const [place, locked] of Object.entries(tree)) {
    if (locked === undefined) continue
    if (!isPlace(place)) throw new Error(`it has the place ${JSON.stringify(place)}`)
    if (locked.inBundle !== true && locked.integrity?.startsWith('sha512-') !== true)
      throw new Error(`it has no sha512 of ${place}`)
    const manifest = jsonOfFile(join(folder, place, 'package.json')) as RawManifest | undefined
    if (manifest !== undefined) manifests.set(place, checked(place, locked, manifest))
    else if (locked.optional !== true && locked.devOptional !== true) throw new Error(`${place} was not installed`)
  }
  for (const place of manifests.keys())
    if (tree[place]?.inBundle === true && !parentsOf(place).some((parent) => manifests.get(parent)?.hasBundle === true))
      throw new Error(`${place} is in no archive of another package, and has no sha512`)
  const needed = new Set<string>()
  const need = (place: string, real: string): void => {
    const manifest = manifests.get(place)
    if (manifest === undefined || needed.has(place)) return
    if (manifest.name !== real) throw new Error(`${place} is ${manifest.name}, and not ${real}`)
    needed.add(place)
    for (const [needs, spec] of Object.entries(manifest.needs)) {
      const at = findFrom(place, needs, manifests)
      if (at === undefined && manifest.required.has(needs)) throw new Error(`${place} lacks ${needs}`)
      if (at !== undefined) need(at, /^npm:(?<alias>@?[^@]+)/.exec(spec)?.groups?.['alias'] ?? needs)
    }
  }
  need(placeOf(name), name)
  const unneeded = [...manifests.keys()].find((place) => !needed.has(place))
  if (unneeded !== undefined) throw new Error(`nothing asks for ${unneeded}`)
}

const isPlace = (place: string): boolean =>
  place.startsWith(MODULES) && place.slice(MODULES.length).split(`/${MODULES}`).every(isNpmName)

interface Manifest {
  readonly name: string
  /** Everything that it may find beside itself, by name, with the wanted versions. */
  readonly needs: Readonly<Record<string, string>>
  /** Those that it cannot do without. */
  readonly required: ReadonlySet<string>
  /** Whether other packages lie in its archive. */
  readonly hasBundle: boolean
}

type Specs = Readonly<Record<string, string>>

interface RawManifest extends Partial<Readonly<Record<'dependencies' | 'optionalDependencies', Specs>>> {
  readonly name: string
  readonly version: string
  readonly peerDependencies?: Specs
  /** npm knows two names. */
  readonly bundleDependencies?: readonly string[] | boolean
  readonly bundledDependencies?: readonly string[] | boolean
}

/** What npm checked by the lock must be what the package itself says. */
const checked = (place: string, locked: LockedPackage, manifest: RawManifest): Manifest => {
  const name = locked.name ?? folderNameOf(place)
  if (manifest.name !== name || withoutBuild(manifest.version) !== withoutBuild(locked.version))
    throw new Error(`${place} is ${manifest.name}@${manifest.version}, and not ${name}@${locked.version}`)
  const optional = manifest.optionalDependencies ?? {}
  const own = { ...manifest.dependencies, ...optional }
  const peers = manifest.peerDependencies ?? {}
  // A required package that the lock calls optional could be left out.
  if (
    !isDeepStrictEqual(own, { ...locked.dependencies, ...locked.optionalDependencies }) ||
    !isDeepStrictEqual(optional, { ...locked.optionalDependencies }) ||
    !isDeepStrictEqual(peers, { ...locked.peerDependencies })
  )
    throw new Error(`${place} needs other packages than the lock says`)
  const required = new Set(Object.keys(own).filter((each) => !(each in optional)))
  const bundled = manifest.bundleDependencies ?? manifest.bundledDependencies ?? []
  return { name, needs: { ...peers, ...own }, required, hasBundle: bundled === true || Object.keys(bundled).length > 0 }
}

/** npm leaves out the build: 1.0.0+5, v1.0.0. */
const withoutBuild = (version: string): string => version.replace(/^[v=\s]+/, '').replace(/\+.*$/s, '')

const parentsOf = (place: string): readonly string[] => {
  const parents: string[] = []
  for (let at = place.lastIndexOf(`/${MODULES}`); at > 0; at = place.lastIndexOf(`/${MODULES}`, at - 1))
    parents.push(place.slice(0, at))
  return parents
}

/** As Node finds it: beside the package, then beside each folder above. */
const findFrom = (place: string, name: string, places: ReadonlyMap<string, unknown>): string | undefined => {
  for (let from = place; ; from = from.slice(0, Math.max(0, from.lastIndexOf(`/${MODULES}`)))) {
    const at = placeOf(name, from)
    if (places.has(at)) return at
    if (from === '') return undefined
  }
}
