import { fail } from '../../errors/index.js'

import { joinNames, namesOf } from './absolute-path.js'
import type { AbsolutePath } from './absolute-path.js'
import { escapeGlob, renderSegment } from './glob-segments.js'
import type { Segment } from './glob-segments.js'
import type { GlobAlternative, PathGlob } from './path-glob.js'

/** A glob that is bound to real places. A glob with `{a,b}` becomes one pattern per alternative. */
export interface PathPattern {
  /** As written in the policy. */
  readonly text: string
  /** Normalised and absolute. For `literal` the path itself; otherwise a glob (special characters of names escaped). */
  readonly path: string
  readonly negated: boolean
  /**
   * - `literal`: names one object, and everything beneath it when it is a directory
   * - `subtree`: `base/**`, everything beneath `base` but not `base` itself
   * - `pattern`: anything else; matches exactly the paths it describes
   */
  readonly kind: 'literal' | 'subtree' | 'pattern'
  /** The longest prefix without a wildcard; for `literal` the whole path. */
  readonly base: AbsolutePath
  readonly segments: readonly Segment[]
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
  return names.slice(0, names.length - levelsUp).map((name) => ({ kind: 'name', name }))
}

/** The pattern that names exactly this object, and everything beneath it when it is a directory. */
export const literalPattern = (path: AbsolutePath): PathPattern =>
  patternOf(
    escapeGlob(path),
    namesOf(path).map((name) => ({ kind: 'name', name })),
    false,
  )

/** Takes a path, and all that is in it, out of what is granted. */
export const carveOut = (path: AbsolutePath): PathPattern => ({
  ...literalPattern(path),
  text: `!${path}`,
  negated: true,
})

const patternOf = (text: string, segments: readonly Segment[], negated: boolean): PathPattern => {
  const literals: string[] = []
  for (const segment of segments) {
    if (segment.kind !== 'name') break
    literals.push(segment.name)
  }
  const base = joinNames(literals)
  const wild = segments.slice(literals.length)
  const kind =
    wild.length === 0 ? 'literal' : wild.length === 1 && wild[0]?.kind === 'any-depth' ? 'subtree' : 'pattern'
  const path = kind === 'literal' ? base : `/${segments.map(renderSegment).join('/')}`
  return { text, path, negated, kind, base, segments }
}
