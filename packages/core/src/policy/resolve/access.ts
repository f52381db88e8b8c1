import type { AbsolutePath } from '../glob/absolute-path.js'
import type { FileGrants } from '../model.js'
import { matches } from '../glob/matches.js'
import type { PathPattern } from '../glob/path-pattern.js'
import { protectionOf } from '../protected/protection.js'

const isGranted = (patterns: readonly PathPattern[], path: AbsolutePath): boolean =>
  patterns.some((pattern) => !pattern.negated && matches(pattern, path))

const isCarvedOut = (patterns: readonly PathPattern[], path: AbsolutePath): boolean =>
  patterns.some((pattern) => pattern.negated && matches(pattern, path))

/** Granted for writing, not carved out of anything, and not a protected name. */
export const isWritable = (boundary: FileGrants, path: AbsolutePath): boolean =>
  isInWriteGrant(boundary, path) && protectionOf(boundary.write, path) === undefined

/** Write implies read, also of a protected name. A carve-out of `write` takes this away, but not a grant in `read`. */
export const isReadable = (boundary: FileGrants, path: AbsolutePath): boolean => {
  if (isCarvedOut(boundary.read, path)) return false
  return isGranted(boundary.read, path) || isGranted(boundary.presetRead, path) || isInWriteGrant(boundary, path)
}

const isInWriteGrant = ({ read, write }: FileGrants, path: AbsolutePath): boolean =>
  isGranted(write, path) && !isCarvedOut(write, path) && !isCarvedOut(read, path)
