import { fail } from '../../errors/index.js'

import { joinNames, namesOf } from './absolute-path.js'
import type { AbsolutePath } from './absolute-path.js'
import { escapeGlob, renderSegment } from './glob-segments.js'
import type { Segment } from './glob-segments.js'
import type { GlobAlternative, PathGlob } from './path-glob.js'

/** A glob bound to real places. A glob with `{a,b}` becomes one pattern per alternative. */
export interface PathPattern {
  /** As written in the policy. */
  readonly text: string
  /** Normalised and absolute: of a `literal` the path itself, otherwise a glob with escaped names. */
  readonly path: string
  readonly negated: boolean
  /**
   * - `literal`: one object, and everything beneath it if it is a directory
   * - `subtree`: `base/**`, everything beneath `base` but not `base` itself
   * - `pattern`: anything else, which matches exactly the paths that it describes
   */
  readonly kind: 'literal' | 'subtree' | 'pattern'
  /** The longest prefix without a wildcard; for `literal` the whole path. */
  readonly base: AbsolutePath
  readonly segments: readonly Segment[]
  /** Of a carve-out: it is for the symbolic link at `base`, and not for what that leads to. */
  readonly isOfLink?: true
}

export interface Places {
  readonly workspace: AbsolutePath
  readonly home: AbsolutePath
}

export const bindGlob = (glob: PathGlob, places: Places): readonly PathPattern[] =>
  glob.alternatives.map((alternative) => {
    const segments = [...anchorSegments(glob, alternative, places), ...alternative.segments]
    return patternOf(glob.text, segments, glob.negated)
  })

const anchorSegments = (glob: PathGlob, { anchor, levelsUp }: GlobAlternative, places: Places): readonly Segment[] => {
  if (anchor === 'root') return []
  const names = namesOf(anchor === 'home' ? places.home : places.workspace)
  if (levelsUp > names.length)
    throw fail('glob-malformed', { where: anchor, glob: glob.text, problem: 'it leads above the root' })
  return nameSegments(names.slice(0, names.length - levelsUp))
}

export const nameSegments = (names: readonly string[]): readonly Segment[] =>
  names.map((name) => ({ kind: 'name', name }))

/** The pattern of this object, and of everything beneath it if it is a directory. */
export const literalPattern = (path: AbsolutePath): PathPattern =>
  patternOf(escapeGlob(path), nameSegments(namesOf(path)), false)

/** The pattern of this object alone. */
export const exactPattern = (path: AbsolutePath): PathPattern => ({
  ...literalPattern(path),
  kind: 'pattern',
  path: escapeGlob(path),
})

/** Takes a path, and everything beneath it, out of the grants. */
export const carveOut = (path: AbsolutePath): PathPattern => ({
  ...literalPattern(path),
  text: `!${path}`,
  negated: true,
})

/** Takes a symbolic link out of the grants, and not what it leads to. */
export const carveOutLink = (path: AbsolutePath): PathPattern => ({ ...carveOut(path), isOfLink: true })

/** One text per meaning. */
export const patternText = ({ kind, path, negated }: PathPattern): string => `${negated ? '!' : ''}${kind} ${path}`

const patternOf = (text: string, segments: readonly Segment[], negated: boolean): PathPattern => {
  const firstWild = segments.findIndex(({ kind }) => kind !== 'name')
  const literals = firstWild === -1 ? segments : segments.slice(0, firstWild)
  const base = joinNames(literals.flatMap((segment) => (segment.kind === 'name' ? [segment.name] : [])))
  const [wild, ...others] = segments.slice(literals.length)
  const kind = wild === undefined ? 'literal' : wild.kind === 'any-depth' && others.length === 0 ? 'subtree' : 'pattern'
  const path = kind === 'literal' ? base : `/${segments.map(renderSegment).join('/')}`
  return { text, path, negated, kind, base, segments }
}
