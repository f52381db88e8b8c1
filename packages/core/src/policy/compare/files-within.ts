import { isWithinPath } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import { PROTECTION, SIDES, accessTrie, addProtection, mayProtectMoreInB } from './access-bits.js'
import type { SideBits } from './access-bits.js'
import { isWritable } from '../resolve/access.js'
import type { FileGrants } from '../model.js'
import { newEffort } from './effort.js'
import { and, bit, findPath, not, or } from './find-path.js'
import type { Formula } from './find-path.js'
import { patternText } from '../glob/path-pattern.js'
import type { PathPattern } from '../glob/path-pattern.js'
import type { Witness } from './witness.js'

export interface WriteGrants extends FileGrants {
  /** Whether protected names are read-only, as in every boundary. */
  readonly holdsProtected: boolean
}

const inWriteGrant = (side: SideBits): Formula =>
  and(bit(side.grantWrite), not(bit(side.carveWrite)), not(bit(side.carveRead)))
export const readable = (side: SideBits): Formula =>
  and(
    not(bit(side.carveRead)),
    or(bit(side.grantRead), bit(side.grantPreset), and(bit(side.grantWrite), not(bit(side.carveWrite)))),
  )
export const writable = (side: SideBits): Formula => and(inWriteGrant(side), not(bit(side.protected)))

const { a: A, b: B } = SIDES
const READ_BEYOND = and(readable(A), not(readable(B)))
const WRITE_BEYOND = and(writable(A), not(writable(B)))
const GRANT_BEYOND = and(inWriteGrant(A), not(inWriteGrant(B)))
const PROTECTED_MORE = and(writable(A), bit(B.protected))

/** A path that `a` lets a tool read and `b` does not. */
export const readBeyond = (a: FileGrants, b: FileGrants): Witness | undefined => {
  const rest = readGrantsToCheck(a, b)
  const grants = [...rest.read, ...rest.write, ...rest.presetRead].filter(isGrant)
  if (grants.length === 0) return undefined
  const root = accessTrie(near(grants, rest), near(grants, b)).build()
  const needed = A.grantRead | A.grantPreset | A.grantWrite
  return toWitness(findPath({ root, wanted: READ_BEYOND, needed }, newEffort()), 'read')
}

/** A path that `a` lets a tool write and `b` does not. */
export const writeBeyond = (a: WriteGrants, b: WriteGrants): Witness | undefined => {
  const effort = newEffort()
  const write = a.holdsProtected === b.holdsProtected ? writeGrantsToCheck(a, b) : a.write
  const grants = write.filter(isGrant)
  if (grants.length === 0) return undefined
  const [ofA, ofB] = [near(grants, { ...a, write }), near(grants, b)]
  // First without protected names, which is much faster and mostly decides.
  const unprotected = accessTrie(ofA, ofB).build()
  const granted = findPath({ root: unprotected, wanted: GRANT_BEYOND, needed: A.grantWrite }, effort)
  if (granted.kind === 'undecided' || (granted.kind === 'path' && canWrite(a, granted.path)))
    return toWitness(granted, 'write')

  // The protected names depend on all grants, also on those that need no check.
  const protecting = { ...(a.holdsProtected ? { a: a.write } : {}), ...(b.holdsProtected ? { b: b.write } : {}) }
  if (granted.kind === 'none' && !mayProtectMoreInB(protecting)) return undefined
  const trie = accessTrie(ofA, ofB)
  addProtection(trie, protecting)
  const wanted = granted.kind === 'none' ? PROTECTED_MORE : WRITE_BEYOND
  return toWitness(findPath({ ...PROTECTION, root: trie.build(), wanted, needed: A.grantWrite }, effort), 'write')
}

/** The patterns that could match a path of these grants. A pattern matches its base, and paths beneath it. */
const near = (grants: readonly PathPattern[], { read, write, presetRead }: FileGrants): FileGrants => {
  const bases = [...new Set(grants.map(({ base }) => base))]
  const isNear = ({ base }: PathPattern) =>
    bases.some((other) => isWithinPath(base, other) || isWithinPath(other, base))
  return { read: read.filter(isNear), write: write.filter(isNear), presetRead: presetRead.filter(isNear) }
}

const canWrite = (a: WriteGrants, path: AbsolutePath): boolean => !a.holdsProtected || isWritable(a, path)

const toWitness = (found: ReturnType<typeof findPath>, access: 'read' | 'write'): Witness | undefined => {
  switch (found.kind) {
    case 'path':
      return { kind: 'file', access, path: found.path }
    case 'undecided':
      return { kind: 'undecided', section: access }
    case 'none':
      return undefined
  }
}

// A grant of both sides needs no search if `b` carves no more out of it. This keeps the common case fast, and every
// policy is within itself, however entangled it is.

const textsOf = (patterns: readonly PathPattern[], negated: boolean): ReadonlySet<string> =>
  new Set(patterns.filter((pattern) => pattern.negated === negated).map(patternText))

const isSubset = (texts: ReadonlySet<string>, of: ReadonlySet<string>): boolean =>
  [...texts].every((text) => of.has(text))
const union = (one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> => new Set([...one, ...other])

const without = (patterns: readonly PathPattern[], granted: ReadonlySet<string>): readonly PathPattern[] =>
  patterns.filter((pattern) => pattern.negated || !granted.has(patternText(pattern)))

const readGrantsToCheck = (a: FileGrants, b: FileGrants): FileGrants => {
  if (!isSubset(textsOf(b.read, true), textsOf(a.read, true))) return a
  // Most patterns of presets are the same objects on both sides.
  const presets = new Set(b.presetRead)
  const presetRead = a.presetRead.filter((pattern) => !presets.has(pattern))
  if (presetRead.length === 0 && !a.read.some(isGrant) && !a.write.some(isGrant)) return { ...a, presetRead }
  const readOfB = union(textsOf(b.read, false), textsOf(b.presetRead, false))
  const takesNoMore = isSubset(textsOf(b.write, true), union(textsOf(a.write, true), textsOf(a.read, true)))
  return {
    read: without(a.read, readOfB),
    presetRead: without(presetRead, readOfB),
    write: without(a.write, takesNoMore ? union(readOfB, textsOf(b.write, false)) : readOfB),
  }
}

const isGrant = ({ negated }: PathPattern): boolean => !negated

const writeGrantsToCheck = (a: FileGrants, b: FileGrants): readonly PathPattern[] => {
  const carvedOfA = union(textsOf(a.write, true), textsOf(a.read, true))
  const carvedOfB = union(textsOf(b.write, true), textsOf(b.read, true))
  const grantsOf = ({ write }: FileGrants) => textsOf(write, false)
  // The protected names depend on all grants together, and one more grant never protects another name. So if `b` has
  // every grant of `a`, no name is protected for `b` alone.
  return isSubset(grantsOf(a), grantsOf(b)) && isSubset(carvedOfB, carvedOfA) ? without(a.write, grantsOf(b)) : a.write
}
