import { joinNames, namesOf, parentOf } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import { matches } from '../glob/matches.js'
import type { Segment } from '../glob/glob-segments.js'
import { isMatch, startWalk, step } from '../glob/pattern-walk.js'
import type { PathPattern } from '../glob/path-pattern.js'
import { PROTECTED_NAMES } from './protected.js'
import type { ProtectedName } from './protected.js'

export interface Protection {
  readonly entry: ProtectedName
  /** The protected object: the path itself, or a folder that it lies in. */
  readonly path: AbsolutePath
}

/**
 * The protected name that keeps a path of a write root read-only, by the text of the path. Entries with
 * `object: 'file'` depend on the file system, so the sandbox checks those itself with `isNamedBy`, and the gate with
 * `isProtectedFile`.
 */
export const protectionOf = (write: readonly PathPattern[], path: AbsolutePath): Protection | undefined => {
  const grants = write.filter(({ negated }) => !negated)
  const names = namesOf(path)
  for (let depth = 1; depth <= names.length; depth += 1) {
    const candidate = joinNames(names.slice(0, depth))
    const entry = protectedEntryAt(grants, candidate)
    // Names of the scope `root` are files, so they protect nothing beneath such a path.
    if (entry?.scope === 'root' && depth < names.length) continue
    if (entry !== undefined && !isNamedBy(grants, entry, candidate)) return { entry, path: candidate }
  }
  return undefined
}

/** Whether the path has a protected name unless it is a directory. */
export const isProtectedFile = (write: readonly PathPattern[], path: AbsolutePath): boolean => {
  const grants = write.filter(({ negated }) => !negated)
  const isHere = (entry: ProtectedName) => path.endsWith(`/${entry.name}`) && isInScope(grants, entry, path)
  return FILES.some((entry) => isHere(entry) && !isNamedBy(write, entry, path))
}

const FILES = PROTECTED_NAMES.filter(({ object }) => object === 'file')

/** The protected names, without those that protect files only. */
export const PROTECTED = PROTECTED_NAMES.filter(({ object }) => object === 'any')

const lastName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** By the last part of the name, for speed: the gate asks for every path argument, at every depth. */
export const BY_LAST_NAME: ReadonlyMap<string, readonly ProtectedName[]> = PROTECTED.reduce((byName, entry) => {
  const last = lastName(entry.name)
  return byName.set(last, [...(byName.get(last) ?? []), entry])
}, new Map<string, readonly ProtectedName[]>())

const protectedEntryAt = (grants: readonly PathPattern[], path: AbsolutePath): ProtectedName | undefined =>
  BY_LAST_NAME.get(lastName(path))?.find((entry) => path.endsWith(`/${entry.name}`) && isInScope(grants, entry, path))

const isInScope = (grants: readonly PathPattern[], { scope }: ProtectedName, path: AbsolutePath): boolean => {
  switch (scope) {
    case 'anywhere':
      return true
    case 'project':
      return !path.includes('/node_modules/')
    case 'root':
      return isDirectlyInRoot(grants, path)
  }
}

/** A root is a folder where a grant begins. If another grant covers it, it is none: grants never take rights away. */
const isDirectlyInRoot = (grants: readonly PathPattern[], path: AbsolutePath): boolean => {
  const folder = parentOf(path)
  return (
    grants.some(({ base }) => base === folder) && !grants.some((grant) => grant.base !== folder && matches(grant, path))
  )
}

/**
 * Whether a write grant names a protected object: it contains the name literally, and its part up to the name matches
 * the object. `.git/hooks/**` and `app/package.json` name one, `app/**` does not.
 */
export const isNamedBy = (write: readonly PathPattern[], entry: ProtectedName, path: AbsolutePath): boolean =>
  write.some(
    ({ negated, segments }) =>
      !negated &&
      segments.some((_, end) => {
        const upToName = segments.slice(0, end + 1)
        return endsInName(upToName, entry) && walkEndsIn(upToName, path)
      }),
  )

/** Whether the last segments spell the protected name out. */
export const endsInName = (segments: readonly Segment[], { name }: ProtectedName): boolean => {
  const wanted = name.split('/')
  const tail = segments.slice(-wanted.length)
  return (
    tail.length === wanted.length && tail.every((segment, at) => segment.kind === 'name' && segment.name === wanted[at])
  )
}

const walkEndsIn = (segments: readonly Segment[], path: AbsolutePath): boolean =>
  isMatch(
    segments,
    namesOf(path).reduce((state, name) => step(segments, state, name), startWalk(segments)),
  )
