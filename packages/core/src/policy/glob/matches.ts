import { isWithinPath, namesOf } from './absolute-path.js'
import type { AbsolutePath } from './absolute-path.js'
import type { PathPattern } from './path-pattern.js'
import { isMatch, startWalk, step } from './pattern-walk.js'

/**
 * Whether a pattern covers a path. A carve-out (`negated`) of a directory also covers everything beneath it. A grant
 * with wildcards covers only the paths that it describes.
 */
export const matches = (pattern: PathPattern, path: AbsolutePath): boolean => {
  switch (pattern.kind) {
    case 'literal':
      return isWithinPath(path, pattern.base)
    case 'subtree':
      return path !== pattern.base && isWithinPath(path, pattern.base)
    case 'pattern':
      return isWithinPath(path, pattern.base) && walkMatches(pattern, namesOf(path))
  }
}

export const isGranted = (patterns: readonly PathPattern[], path: AbsolutePath): boolean =>
  patterns.some((pattern) => !pattern.negated && matches(pattern, path))

export const isCarvedOut = (patterns: readonly PathPattern[], path: AbsolutePath): boolean =>
  patterns.some((pattern) => pattern.negated && matches(pattern, path))

/** A carve-out wins over every grant. */
export const isCovered = (patterns: readonly PathPattern[], path: AbsolutePath): boolean =>
  isGranted(patterns, path) && !isCarvedOut(patterns, path)

const walkMatches = ({ segments, negated }: PathPattern, names: readonly string[]): boolean => {
  let state = startWalk(segments)
  for (const name of names) {
    if (negated && isMatch(segments, state)) return true
    if (state.size === 0) return false
    state = step(segments, state, name)
  }
  return isMatch(segments, state)
}
