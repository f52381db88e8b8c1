import type { AbsolutePath } from '../glob/absolute-path.js'
import type { Boundary } from '../boundary.js'
import { matches } from '../glob/matches.js'
import type { PathPattern } from '../glob/path-pattern.js'
import { protectionOf } from '../protected/protection.js'

type PathGrants = Pick<Boundary, 'read' | 'write' | 'presetRead'>

const isGranted = (patterns: readonly PathPattern[], path: AbsolutePath): boolean =>
  patterns.some((pattern) => !pattern.negated && matches(pattern, path))

const isCarvedOut = (patterns: readonly PathPattern[], path: AbsolutePath): boolean =>
  patterns.some((pattern) => pattern.negated && matches(pattern, path))

/** Granted for writing, not carved out of anything, and not a protected name. */
export const isWritable = (boundary: PathGrants, path: AbsolutePath): boolean =>
  isInWriteGrant(boundary, path) && protectionOf(boundary.write, path) === undefined

/**
 * Write implies read, and a protected name is still readable; what is carved out of `write` needs a grant in `read`.
 */
export const isReadable = (boundary: PathGrants, path: AbsolutePath): boolean => {
  if (isCarvedOut(boundary.read, path)) return false
  return isGranted(boundary.read, path) || isGranted(boundary.presetRead, path) || isInWriteGrant(boundary, path)
}

const isInWriteGrant = ({ read, write }: PathGrants, path: AbsolutePath): boolean =>
  isGranted(write, path) && !isCarvedOut(write, path) && !isCarvedOut(read, path)
