// A pattern as a small automaton over the names of a path. A walk through a directory tree carries the state along and
// skips folders in which nothing can match.
import { segmentMatches } from './glob-segments.js'
import type { Segment } from './glob-segments.js'

/** The segments that the next name may match. `segments.length` is the end. */
export type WalkState = ReadonlySet<number>

export const startWalk = (segments: readonly Segment[]): WalkState => enter(segments, new Set(), 0)

export const step = (segments: readonly Segment[], state: WalkState, name: string): WalkState => {
  const next = new Set<number>()
  for (const at of state) {
    const segment = segments[at]
    if (segment === undefined || !segmentMatches(segment, name)) continue
    if (segment.kind === 'any-depth') next.add(at)
    enter(segments, next, at + 1)
  }
  return next
}

/** The path walked so far matches. */
export const isMatch = (segments: readonly Segment[], state: WalkState): boolean => state.has(segments.length)

/** Something beneath the path walked so far could match. */
export const canMatchBeneath = (segments: readonly Segment[], state: WalkState): boolean =>
  [...state].some((at) => at < segments.length)

/** `**` may stand for no name, so a state at it is behind it too, except at the end. */
const enter = (segments: readonly Segment[], state: Set<number>, at: number): Set<number> => {
  state.add(at)
  if (segments[at]?.kind === 'any-depth' && at < segments.length - 1) enter(segments, state, at + 1)
  return state
}
