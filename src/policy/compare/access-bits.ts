// What a boundary says about paths, as bits on a trie. Two boundaries can share one trie, as sides
// `a` and `b`, so that one walk answers for both.
import { namesOf } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import type { Boundary } from '../boundary.js'
import { renderSegment } from '../glob/glob-segments.js'
import type { Segment } from '../glob/glob-segments.js'
import { matches } from '../glob/matches.js'
import type { PathPattern } from '../glob/path-pattern.js'
import type { Active, Bits, TrieBuilder } from './path-trie.js'
import { PROTECTED_NAMES } from '../protected/protected.js'
import type { ProtectedName } from '../protected/protected.js'

export interface SideBits {
  readonly grantRead: Bits
  readonly carveRead: Bits
  readonly grantPreset: Bits
  readonly grantWrite: Bits
  readonly carveWrite: Bits
  /** A protected name, or beneath one. */
  readonly protected: Bits
  /** Hints: a protected name that only this side's grants spell out, and one that only this side keeps. */
  readonly names: Bits
  readonly alone: Bits
}

const sideAt = (shift: number): SideBits => ({
  grantRead: 1 << shift,
  carveRead: 2 << shift,
  grantPreset: 4 << shift,
  grantWrite: 8 << shift,
  carveWrite: 16 << shift,
  protected: 32 << shift,
  names: 64 << shift,
  alone: 128 << shift,
})

export type Side = 'a' | 'b'
export const SIDES: Readonly<Record<Side, SideBits>> = { a: sideAt(0), b: sideAt(8) }

const IN_DEPENDENCIES: Bits = 1 << 16
const PROTECTS: Bits = 1 << 17

/** `protects`: the path that ends here is one of the protected names. `names`: a write grant spells it out. */
export interface ProtectionMark {
  readonly kind: 'protects' | 'names'
  readonly entry: ProtectedName
  readonly sides: readonly Side[]
}

type Trie = TrieBuilder<ProtectionMark>

export const addAccess = (
  trie: Trie,
  side: Side,
  { read, write, presetRead }: Pick<Boundary, 'read' | 'write' | 'presetRead'>,
): void => {
  const bits = SIDES[side]
  for (const pattern of read) addPattern(trie, pattern, pattern.negated ? bits.carveRead : bits.grantRead)
  for (const pattern of write) addPattern(trie, pattern, pattern.negated ? bits.carveWrite : bits.grantWrite)
  for (const pattern of presetRead) addPattern(trie, pattern, bits.grantPreset)
}

/** A literal and a carve-out take everything beneath; a pattern grants exactly what it describes. */
const addPattern = (trie: Trie, { segments, kind, negated }: PathPattern, bit: Bits): void => {
  trie.add(segments, {
    at: bit,
    under: kind === 'literal' || negated || segments.at(-1)?.kind === 'any-depth' ? bit : 0,
  })
}

const ANY_DEPTH: Segment = { kind: 'any-depth' }
const nameSegments = (names: readonly string[]): readonly Segment[] => names.map((name) => ({ kind: 'name', name }))

const PROTECTED = PROTECTED_NAMES.filter(({ object }) => object === 'any').map((entry) => ({
  entry,
  names: entry.name.split('/'),
}))
const BY_LAST_NAME = new Map(
  PROTECTED.map(({ names }) => names.at(-1)).map((last) => [
    last,
    PROTECTED.filter(({ names }) => names.at(-1) === last),
  ]),
)
const IN_ROOT = PROTECTED.filter(({ entry }) => entry.scope === 'root')

/** The write grants of the sides that keep protected names from being written. */
export type ProtectingGrants = Readonly<Partial<Record<Side, readonly PathPattern[]>>>

/** Marks the protected names: those that hold anywhere, those directly in a root, and those that a grant spells out. */
export const addProtection = (trie: Trie, write: ProtectingGrants): void => {
  const sides = (['a', 'b'] as const).filter((side) => write[side] !== undefined)
  const protect = (segments: readonly Segment[], entry: ProtectedName, holding: readonly Side[]) => {
    // Searches are interested in what is protected for `b` and not for `a`.
    const hint = holding.includes('a') ? PROTECTS : PROTECTS | SIDES.b.alone
    trie.add(segments, { at: 0, under: 0, hint, mark: { kind: 'protects', entry, sides: holding } })
  }
  trie.add([ANY_DEPTH, ...nameSegments(['node_modules'])], { at: 0, under: IN_DEPENDENCIES })
  for (const { entry, names } of PROTECTED) {
    if (entry.scope !== 'root') protect([ANY_DEPTH, ...nameSegments(names)], entry, sides)
  }
  const grants = { a: (write.a ?? []).filter(isGrant), b: (write.b ?? []).filter(isGrant) }
  for (const { value: path, sides: holding } of bySides(
    rootedPaths(grants.a),
    rootedPaths(grants.b),
    ({ path }) => path,
  )) {
    protect(nameSegments(namesOf(path.path)), path.entry, holding)
  }
  for (const { value: naming, sides: holding } of bySides(
    namingPrefixes(grants.a),
    namingPrefixes(grants.b),
    ({ text }) => text,
  )) {
    const hint = holding.includes('b') ? 0 : SIDES.a.names
    trie.add(naming.segments, {
      at: 0,
      under: 0,
      hint: hint | PROTECTS,
      mark: { kind: 'names', entry: naming.entry, sides: holding },
    })
  }
}

const isGrant = ({ negated }: PathPattern): boolean => !negated

/** Each value once, with the sides that have it. */
const bySides = <Value>(ofA: readonly Value[], ofB: readonly Value[], textOf: (value: Value) => string) => {
  const [a, b] = [ofA, ofB].map((values) => new Map(values.map((value) => [textOf(value), value]))) as [
    Map<string, Value>,
    Map<string, Value>,
  ]
  const both: readonly Side[] = ['a', 'b']
  return [...new Map([...a, ...b])].map(([text, value]) => ({
    value,
    sides: both.filter((side) => (side === 'a' ? a : b).has(text)),
  }))
}

/** The beginnings of grants that end in a protected name. */
const namingPrefixes = (grants: readonly PathPattern[]) =>
  grants.flatMap(({ segments }) =>
    segments.flatMap((segment, end) => {
      const candidates = segment.kind === 'name' ? (BY_LAST_NAME.get(segment.name) ?? []) : []
      const upToName = segments.slice(0, end + 1)
      const text = () => upToName.map(renderSegment).join('/')
      return candidates
        .filter(({ names }) => endsIn(upToName, names))
        .map(({ entry }) => ({ entry, segments: upToName, text: `${entry.name} ${text()}` }))
    }),
  )

const endsIn = (segments: readonly Segment[], names: readonly string[]): boolean => {
  const tail = segments.slice(-names.length)
  return (
    tail.length === names.length && tail.every((segment, at) => segment.kind === 'name' && segment.name === names[at])
  )
}

/** The same names as `isDirectlyInRoot` finds, the other way round. */
const rootedPaths = (
  grants: readonly PathPattern[],
): readonly { readonly entry: ProtectedName; readonly path: AbsolutePath }[] => {
  const whole = new Set(grants.filter(({ kind }) => kind !== 'pattern').map(({ base }) => base))
  const partial = grants.filter(({ kind }) => kind === 'pattern')
  return [...new Set(grants.map(({ base }) => base))].flatMap((base) => {
    if (isBeneathAny(base, whole)) return []
    const around = partial.filter(
      (grant) => grant.base !== base && (grant.base === '/' || base.startsWith(`${grant.base}/`)),
    )
    const paths = IN_ROOT.map(({ entry, names }) => ({
      entry,
      path: `${base === '/' ? '' : base}/${names.join('/')}` as AbsolutePath,
    }))
    return paths.filter(({ path }) => !around.some((grant) => matches(grant, path)))
  })
}

const isBeneathAny = (path: AbsolutePath, folders: ReadonlySet<string>): boolean => {
  const names = namesOf(path)
  return names.some((_, depth) => folders.has(`/${names.slice(0, depth).join('/')}`))
}

export interface ProtectionBits {
  /** Names that count directly in a root are files, and say nothing about what lies beneath such a path. */
  readonly here: Bits
  readonly beneath: Bits
}

/** The bits for "protected" of the path that ends at these nodes, for each side that does not name it. */
export const protectionBits = (active: Active<ProtectionMark>, under: Bits): ProtectionBits => {
  let here: Bits = 0
  let beneath: Bits = 0
  for (const node of active) {
    for (const { kind, entry, sides } of node.marks) {
      if (kind !== 'protects' || (entry.scope === 'project' && (under & IN_DEPENDENCIES) !== 0)) continue
      const bits = sides.reduce((sum, side) => (isNamed(active, entry, side) ? sum : sum | SIDES[side].protected), 0)
      if (entry.scope === 'root') here |= bits
      else beneath |= bits
    }
  }
  return here === 0 && beneath === 0 ? UNPROTECTED : { here, beneath }
}

export const UNPROTECTED: ProtectionBits = { here: 0, beneath: 0 }

const isNamed = (active: Active<ProtectionMark>, entry: ProtectedName, side: Side): boolean =>
  active.some(({ marks }) =>
    marks.some((mark) => mark.kind === 'names' && mark.entry === entry && mark.sides.includes(side)),
  )

/**
 * Which bits could still turn up. If `a` is not protected beneath, `b` can be only by a name that `a`
 * spells out, or that is protected for `b` alone: all other names are protected for both alike.
 */
export const possibleBits = (reach: Bits): Bits => {
  const { a, b } = SIDES
  const ofA = (reach & PROTECTS) === 0 ? 0 : a.protected
  const ofB = (reach & (a.names | b.alone)) === 0 ? 0 : b.protected
  return reach | ofA | ofB
}
