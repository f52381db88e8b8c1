import { fail } from '../../errors/index.js'

import { MAX_LENGTH, isSpecial, readAlternatives } from './glob-alternatives.js'
import type { GlobCharacter, Reject } from './glob-alternatives.js'
import { readSegment } from './glob-segments.js'
import type { Segment } from './glob-segments.js'

/** Where a glob starts: at `/`, at `~`, or, being relative, at the workspace. */
export type Anchor = 'root' | 'home' | 'workspace'

/** A glob without `{a,b}` groups: one of the combinations of their parts. */
export interface GlobAlternative {
  readonly anchor: Anchor
  /** Leading `..` of a relative glob: how many levels above the anchor it starts. */
  readonly levelsUp: number
  readonly segments: readonly Segment[]
}

/** A path glob of a policy, not yet bound to a workspace and a home. */
export interface PathGlob {
  readonly text: string
  readonly negated: boolean
  readonly alternatives: readonly GlobAlternative[]
}

const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i

/** `where`: the place of the glob in its source, for errors. */
export const parsePathGlob = (text: string, where: string): PathGlob => {
  const reject: Reject = (problem) => fail('glob-malformed', { where, glob: text, problem })
  const negated = text.startsWith('!')
  const body = negated ? text.slice(1) : text
  if (body === '') throw reject('it is empty')
  if (body.startsWith('!')) throw reject('"!" may stand only once')
  if (URL_START.test(body)) throw reject('it is a URL, not a path')
  const alternatives =
    PLAIN.test(body) && body.length <= MAX_LENGTH
      ? [plainAlternative(body, reject)]
      : readAlternatives(body, reject).map((item) => readAlternative(item, reject))
  return { text, negated, alternatives }
}

/** Most globs have no character with a meaning: they are read without a look at each. */
const PLAIN = /^[^*?[\]{},~!\\\0]*$/

const plainAlternative = (text: string, reject: Reject): GlobAlternative => {
  const names = text.split('/')
  const anchor = names[0] === '' ? 'root' : 'workspace'
  return { anchor, ...normalise(names, (name) => ({ kind: 'name', name }), anchor, reject) }
}

const readAlternative = (characters: readonly GlobCharacter[], reject: Reject): GlobAlternative => {
  const pieces = splitAtSlashes(characters)
  const first = pieces[0] ?? []
  if (pieces.length === 1 && first.length === 0) throw reject('one of its alternatives is empty')
  const read = (piece: readonly GlobCharacter[]) => readSegment(piece, reject)
  if (first.length === 0) return { anchor: 'root', ...normalise(pieces, read, 'root', reject) }
  if (isSpecial(first[0], '~')) {
    if (first.length > 1) throw reject('"~" stands for the own home only; a literal tilde is written "\\~"')
    return { anchor: 'home', ...normalise(pieces.slice(1), read, 'home', reject) }
  }
  return { anchor: 'workspace', ...normalise(pieces, read, 'workspace', reject) }
}

const splitAtSlashes = (characters: readonly GlobCharacter[]): readonly (readonly GlobCharacter[])[] => {
  const pieces: GlobCharacter[][] = [[]]
  for (const character of characters) {
    if (character.character === '/') pieces.push([])
    else pieces.at(-1)?.push(character)
  }
  return pieces
}

const normalise = <Piece extends { readonly length: number }>(
  pieces: readonly Piece[],
  read: (piece: Piece) => Segment,
  anchor: Anchor,
  reject: Reject,
): Omit<GlobAlternative, 'anchor'> => {
  const segments: Segment[] = []
  let levelsUp = 0
  for (const piece of pieces) {
    if (piece.length === 0) continue
    const segment = read(piece)
    if (segment.kind === 'name' && segment.name === '.') continue
    if (segment.kind !== 'name' || segment.name !== '..') {
      segments.push(segment)
      continue
    }
    const left = segments.pop()
    // The parent of a wildcard depends on what the wildcard matched.
    if (left !== undefined && left.kind !== 'name') throw reject('".." cannot follow a wildcard')
    if (left === undefined) levelsUp += 1
  }
  if (anchor === 'root' && levelsUp > 0) throw reject('it leads above the root')
  return { levelsUp, segments: simplify(segments) }
}

const isAnyName = (segment: Segment | undefined): boolean =>
  segment?.kind === 'wildcard' && segment.parts.length === 1 && segment.parts[0]?.kind === 'run'

/** Gives equal meanings one form: `dir/**\/*` is the subtree `dir/**`. */
const simplify = (segments: readonly Segment[]): readonly Segment[] => {
  const once = segments.filter((segment, at) => segment.kind !== 'any-depth' || segments[at - 1]?.kind !== 'any-depth')
  const endsInAnyName = once.at(-2)?.kind === 'any-depth' && isAnyName(once.at(-1))
  return endsInAnyName ? once.slice(0, -1) : once
}
