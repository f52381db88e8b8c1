// The file grants of a boundary as bits on a trie. Two boundaries can share one trie, as sides `a` and `b`, so that one
// walk answers for both.
import { isWithinPath, joinNames, namesOf } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import type { FileGrants } from '../model.js'
import { getOrAdd } from '../get-or-add.js'
import { renderSegment } from '../glob/glob-segments.js'
import type { Segment } from '../glob/glob-segments.js'
import { matches } from '../glob/matches.js'
import { nameSegments } from '../glob/path-pattern.js'
import type { PathPattern } from '../glob/path-pattern.js'
import { createTrie } from './path-trie.js'
import type { ActiveNodes, Bits, TrieBuilder } from './path-trie.js'
import type { ProtectedName } from '../protected/protected.js'
import { BY_LAST_NAME, PROTECTED, endsInName } from '../protected/protection.js'

const sideAt = (shift: number) => ({
  grantRead: 1 << shift,
  carveRead: 2 << shift,
  grantPreset: 4 << shift,
  grantWrite: 8 << shift,
  carveWrite: 16 << shift,
  /** A protected name, or beneath one. */
  protected: 32 << shift,
  /** Hints: a protected name that only this side's grants spell out, and one that only this side protects. */
  names: 64 << shift,
  alone: 128 << shift,
})

export type SideBits = Readonly<ReturnType<typeof sideAt>>
type Side = 'a' | 'b'
export const SIDES: Readonly<Record<Side, SideBits>> = { a: sideAt(0), b: sideAt(8) }

const IN_DEPENDENCIES: Bits = 1 << 16
const PROTECTS: Bits = 1 << 17

/** `protects`: the path that ends here is a protected name. `names`: a write grant spells it out. */
interface ProtectionMark {
  readonly kind: 'protects' | 'names'
  readonly entry: ProtectedName
  readonly sides: ReadonlySet<Side>
}

type Trie = TrieBuilder<ProtectionMark>

/** The grants of two boundaries in one trie. */
export const accessTrie = (a: FileGrants, b: FileGrants): Trie => {
  const trie = createTrie<ProtectionMark>()
  addAccess(trie, 'a', a)
  addAccess(trie, 'b', b)
  return trie
}

const addAccess = (trie: Trie, side: Side, { read, write, presetRead }: FileGrants): void => {
  const bits = SIDES[side]
  for (const pattern of read) addPattern(trie, pattern, pattern.negated ? bits.carveRead : bits.grantRead)
  for (const pattern of write) addPattern(trie, pattern, pattern.negated ? bits.carveWrite : bits.grantWrite)
  for (const pattern of presetRead) addPattern(trie, pattern, bits.grantPreset)
}

/** A literal and a carve-out cover everything beneath. A pattern grants exactly the paths that it describes. */
const addPattern = (trie: Trie, { segments, kind, negated }: PathPattern, bit: Bits): void => {
  trie.add(segments, {
    at: bit,
    under: kind === 'literal' || negated || segments.at(-1)?.kind === 'any-depth' ? bit : 0,
  })
}

const ANY_DEPTH: Segment = { kind: 'any-depth' }

/** The write grants of the sides on which protected names are read-only. */
type ProtectingGrants = Readonly<Partial<Record<Side, readonly PathPattern[]>>>

/** Marks the protected names: those of any depth, those directly in a root, and those that a grant spells out. */
export const addProtection = (trie: Trie, write: ProtectingGrants): void => {
  const protect = (segments: readonly Segment[], entry: ProtectedName, sides: ReadonlySet<Side>) => {
    // Searches look for names that are protected for `b` and not for `a`.
    const hint = sides.has('a') ? PROTECTS : PROTECTS | SIDES.b.alone
    trie.add(segments, { at: 0, under: 0, hint, mark: { kind: 'protects', entry, sides } })
  }
  trie.add([ANY_DEPTH, ...nameSegments(['node_modules'])], { at: 0, under: IN_DEPENDENCIES })
  const protecting = new Set(BOTH.filter((side) => write[side] !== undefined))
  for (const entry of PROTECTED)
    if (entry.scope !== 'root') protect([ANY_DEPTH, ...nameSegments(entry.name.split('/'))], entry, protecting)
  for (const { path, entry, sides } of bySides(write, rootedPaths, ({ path }) => path))
    protect(nameSegments(namesOf(path)), entry, sides)
  for (const { segments, entry, sides } of bySides(write, namingPrefixes, ({ text }) => text)) {
    const hint = PROTECTS | (sides.has('b') ? 0 : SIDES.a.names)
    trie.add(segments, { at: 0, under: 0, hint, mark: { kind: 'names', entry, sides } })
  }
}

/** Whether `b` could protect a name that `a` does not. Without such a name, `addProtection` can change no answer. */
export const mayProtectMoreInB = (write: ProtectingGrants): boolean =>
  write.b !== undefined &&
  (write.a === undefined ||
    bySides(write, rootedPaths, ({ path }) => path).some(({ sides }) => !sides.has('a')) ||
    bySides(write, namingPrefixes, ({ text }) => text).some(({ sides }) => !sides.has('b')))

const BOTH: readonly Side[] = ['a', 'b']

/** What `found` gives for the grants of each side: each value once, with the sides that have it. */
const bySides = <Value>(
  write: ProtectingGrants,
  found: (grants: readonly PathPattern[]) => readonly Value[],
  keyOf: (value: Value) => string,
): readonly (Value & { readonly sides: ReadonlySet<Side> })[] => {
  const values = new Map<string, Value & { readonly sides: Set<Side> }>()
  for (const side of BOTH) {
    for (const value of found((write[side] ?? []).filter(({ negated }) => !negated)))
      getOrAdd(values, keyOf(value), () => ({ ...value, sides: new Set<Side>() })).sides.add(side)
  }
  return [...values.values()]
}

/** The beginnings of grants that end in a protected name. */
const namingPrefixes = (grants: readonly PathPattern[]) =>
  grants.flatMap(({ segments }) =>
    segments.flatMap((segment, end) => {
      const candidates = segment.kind === 'name' ? (BY_LAST_NAME.get(segment.name) ?? []) : []
      const upToName = segments.slice(0, end + 1)
      return candidates
        .filter((entry) => endsInName(upToName, entry))
        .map((entry) => ({ entry, segments: upToName, text: `${entry.name} ${textOf(upToName)}` }))
    }),
  )

const textOf = (segments: readonly Segment[]): string => segments.map(renderSegment).join('/')

const IN_ROOT = PROTECTED.filter(({ scope }) => scope === 'root')

/** The names for which `isDirectlyInRoot` is true. */
const rootedPaths = (grants: readonly PathPattern[]) => {
  const whole = new Set(grants.filter(({ kind }) => kind !== 'pattern').map(({ base }) => base))
  const partial = grants.filter(({ kind }) => kind === 'pattern')
  return [...new Set(grants.map(({ base }) => base))].flatMap((base) => {
    if (isBeneathAny(base, whole)) return []
    const around = partial.filter((grant) => grant.base !== base && isWithinPath(base, grant.base))
    return IN_ROOT.map((entry) => ({ entry, path: joinNames([...namesOf(base), entry.name]) })).filter(
      ({ path }) => !around.some((grant) => matches(grant, path)),
    )
  })
}

const isBeneathAny = (path: AbsolutePath, folders: ReadonlySet<string>): boolean => {
  const names = namesOf(path)
  return names.some((_, depth) => folders.has(joinNames(names.slice(0, depth))))
}

/** The bits for "protected" of the path that ends at these nodes, for each side whose grants do not name it. */
const protectionBits = (active: ActiveNodes<ProtectionMark>, under: Bits): { here: Bits; beneath: Bits } => {
  let here: Bits = 0
  let beneath: Bits = 0
  for (const node of active) {
    for (const { kind, entry, sides } of node.marks) {
      if (kind !== 'protects' || (entry.scope === 'project' && (under & IN_DEPENDENCIES) !== 0)) continue
      for (const side of sides) {
        if (isNamed(active, entry, side)) continue
        // Names of the scope `root` are files, so they protect nothing beneath such a path.
        if (entry.scope === 'root') here |= SIDES[side].protected
        else beneath |= SIDES[side].protected
      }
    }
  }
  return { here, beneath }
}

const isNamed = (active: ActiveNodes<ProtectionMark>, entry: ProtectedName, side: Side): boolean =>
  active.some(({ marks }) =>
    marks.some((mark) => mark.kind === 'names' && mark.entry === entry && mark.sides.has(side)),
  )

/**
 * The bits that could still occur beneath. Most names are protected for both sides. Only a name that `a` spells out, or
 * that is protected for `b` alone, can be protected for `b` and not for `a`.
 */
const possibleBits = (reach: Bits): Bits => {
  const { a, b } = SIDES
  const ofA = (reach & PROTECTS) === 0 ? 0 : a.protected
  const ofB = (reach & (a.names | b.alone)) === 0 ? 0 : b.protected
  return reach | ofA | ofB
}

/** For a search in a trie with `addProtection`. */
export const PROTECTION = { settle: protectionBits, possible: possibleBits }
