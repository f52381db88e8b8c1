import { joinNames, namesOf, parentOf } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import { matches } from '../glob/matches.js'
import { isMatch, startWalk, step } from '../glob/pattern-walk.js'
import type { PathPattern } from '../glob/path-pattern.js'
import { PROTECTED_NAMES } from './protected.js'
import type { ProtectedName } from './protected.js'

export interface Protection {
  readonly entry: ProtectedName
  /** The protected object: the path asked about, or what it lies in. */
  readonly path: AbsolutePath
}

/**
 * The protected name that keeps a path from being written although it lies in a write root, going
 * by the text of the path. Entries with `object: 'file'` depend on what is really there; whoever
 * can look (the sandbox) asks for them with `isNamedBy` itself.
 */
export const protectionOf = (write: readonly PathPattern[], path: AbsolutePath): Protection | undefined => {
  const grants = write.filter(({ negated }) => !negated)
  const names = namesOf(path)
  for (let depth = 1; depth <= names.length; depth += 1) {
    const candidate = joinNames(names.slice(0, depth))
    const entry = protectedEntryAt(grants, candidate)
    // Names that count directly in a root are files, and say nothing about what lies beneath such a path.
    if (entry?.scope === 'root' && depth < names.length) continue
    if (entry !== undefined && !isNamedBy(grants, entry, candidate)) return { entry, path: candidate }
  }
  return undefined
}

// By the last part of the name: every path argument of every call is asked about, at every depth.
const BY_LAST_NAME: ReadonlyMap<string, readonly ProtectedName[]> = PROTECTED_NAMES.filter(
  ({ object }) => object === 'any',
).reduce((byName, entry) => {
  const last = entry.name.slice(entry.name.lastIndexOf('/') + 1)
  return byName.set(last, [...(byName.get(last) ?? []), entry])
}, new Map<string, readonly ProtectedName[]>())

const protectedEntryAt = (grants: readonly PathPattern[], path: AbsolutePath): ProtectedName | undefined =>
  BY_LAST_NAME.get(path.slice(path.lastIndexOf('/') + 1))?.find(
    (entry) => endsInName(path, entry.name) && isInScope(grants, entry, path),
  )

const endsInName = (path: AbsolutePath, name: string): boolean => path.endsWith(`/${name}`)

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

/**
 * A folder is a root where a grant begins. One that lies in the reach of another grant is an ordinary
 * folder of that: otherwise adding a grant could take a right away.
 */
const isDirectlyInRoot = (grants: readonly PathPattern[], path: AbsolutePath): boolean => {
  const folder = parentOf(path)
  return (
    grants.some(({ base }) => base === folder) && !grants.some((grant) => grant.base !== folder && matches(grant, path))
  )
}

/**
 * Whether a write grant names a protected object: the name stands literally in the grant, and the
 * grant up to there matches the object. `.git/hooks/**` and `app/package.json` name one, `app/**` does not.
 */
export const isNamedBy = (write: readonly PathPattern[], entry: ProtectedName, path: AbsolutePath): boolean => {
  const wanted = entry.name.split('/')
  return write.some(({ negated, segments }) => {
    if (negated) return false
    return segments.some((_, end) => {
      const upToName = segments.slice(0, end + 1)
      const tail = upToName.slice(-wanted.length)
      const standsThere =
        tail.length === wanted.length &&
        tail.every((segment, at) => segment.kind === 'name' && segment.name === wanted[at])
      return standsThere && walkEndsIn(upToName, path)
    })
  })
}

const walkEndsIn = (segments: PathPattern['segments'], path: AbsolutePath): boolean =>
  isMatch(
    segments,
    namesOf(path).reduce((state, name) => step(segments, state, name), startWalk(segments)),
  )
