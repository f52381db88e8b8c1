// `.cordon/mcp.lock`: the version and the integrity of each package that servers are started from, with everything that
// the package needs. It names no host: packages come from the registry that the user has configured.
import { lstatSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { CordonError, messageOf } from 'cordon/errors'
import { PROJECT_FOLDER, projectFolders, readRuleFile, replaceFile, takeLock, trustOf } from 'cordon/runtime'
import type { Trust } from 'cordon/runtime'
import { parseAbsolutePath } from 'cordon/policy'
import { fields, list, matching, oneOf, optional, placeInFile, text, valuesOf, yesOrNo } from 'cordon/shapes'
import type { Shaped } from 'cordon/shapes'

import { fail } from '../errors/errors.js'

const FILE = 'mcp.lock'

/** npm takes other texts for other packages: `npm:other@1.0.0`. */
const VERSION = matching(/^v?\d[\w.+!-]*$/, 'a version, such as 1.2.3')

/** One package in the tree of another, by its place (npm: node_modules/a/node_modules/b; PyPI: its name). */
const LOCKED = fields({
  version: VERSION,
  /** Missing for a package that lies in the archive of another one. */
  integrity: optional(matching(/^sha(?:512|256)-[\w+/]+=*$/, 'sha512-… or sha256-…')),
  /** If its folder has another name. */
  name: optional(text()),
  inBundle: optional(yesOrNo()),
  optional: optional(yesOrNo()),
  peer: optional(yesOrNo()),
  devOptional: optional(yesOrNo()),
  hasInstallScript: optional(yesOrNo()),
  dependencies: optional(valuesOf(text())),
  optionalDependencies: optional(valuesOf(text())),
  peerDependencies: optional(valuesOf(text())),
  peerDependenciesMeta: optional(valuesOf(fields({ optional: optional(yesOrNo()) }))),
  bundleDependencies: optional(list(text())),
  os: optional(list(text())),
  cpu: optional(list(text())),
  libc: optional(list(text())),
})

const ENTRY = fields({ version: VERSION, integrity: text(), tree: valuesOf(LOCKED) })

const LOCK = fields({ format: oneOf('1'), packages: valuesOf(ENTRY) })

export type LockedPackage = Shaped<typeof LOCKED>
export type LockEntry = Shaped<typeof ENTRY>

export const LOCKED_FIELDS: readonly string[] = Object.keys(LOCKED.schema['properties'] as object)

/** Where a lock is, and who may have written it. */
export interface LockPlace {
  readonly path: string
  readonly trust: Trust
}

/** Of the nearest folder with `.cordon`, from the workspace upwards. Without one, of the user's settings. */
export const lockPlaceOf = (workspace: string, configFolder: string): LockPlace => {
  const user = process.geteuid?.() ?? 0
  const project = projectFolders(parseAbsolutePath(workspace), user).find(({ folder }) =>
    isFolder(join(folder, PROJECT_FOLDER)),
  )
  return project === undefined
    ? { path: join(configFolder, FILE), trust: trustOf('user', user, user) }
    : { path: join(project.folder, PROJECT_FOLDER, FILE), trust: trustOf('project', user, project.owner) }
}

/** A link could lead out of the project. */
const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

export type LockedPackages = Readonly<Record<string, LockEntry | undefined>>

export const readLock = ({ path, trust }: LockPlace): LockedPackages => {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return {}
  try {
    const { packages } = LOCK.read(JSON.parse(readRuleFile(path, trust)) as unknown, placeInFile('the lock'))
    // Names come from a file, and must not meet what every object has.
    return Object.assign(Object.create(null) as LockedPackages, packages)
  } catch (error) {
    throw fail('mcp-lock-invalid', { path, problem: messageOf(error) }, error)
  }
}

/** Changes one entry. Several gateways may start at the same time, so each takes its turn. Returns the entry. */
export const changeLock = async (
  place: LockPlace,
  key: string,
  change: (before: LockEntry | undefined) => LockEntry,
): Promise<LockEntry> => {
  const { path } = place
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const release = await takeLock(`${path}.turn`)
    try {
      const packages = readLock(place)
      const before = packages[key]
      const after = change(before)
      if (after !== before) write(path, { ...packages, [key]: after })
      return after
    } finally {
      release()
    }
  } catch (error) {
    if (error instanceof CordonError) throw error
    throw fail('file-unwritable', { path, problem: messageOf(error) }, error)
  }
}

const write = (path: string, packages: LockedPackages): void => {
  const text = `${JSON.stringify({ format: '1', packages: inOrder(packages) }, undefined, 2)}\n`
  replaceFile(path, text, { mode: { ofNew: 0o644 } })
}

/** By names, so that a file changes only where its packages do. */
export const inOrder = <Value>(mapping: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(mapping).toSorted(([one], [other]) => (one < other ? -1 : 1)))
