import type { AbsolutePath } from '../glob/absolute-path.js'
import type { FileGrants } from '../model.js'
import { isCarvedOut, isCovered, isGranted } from '../glob/matches.js'
import { protectionOf } from '../protected/protection.js'

/** Granted for writing, not carved out of anything, and not a protected name. */
export const isWritable = (boundary: FileGrants, path: AbsolutePath): boolean =>
  isInWriteGrant(boundary, path) && protectionOf(boundary.write, path) === undefined

/** Write implies read, also of a protected name. A carve-out of `write` takes this away, but not a grant in `read`. */
export const isReadable = (boundary: FileGrants, path: AbsolutePath): boolean => {
  if (isCarvedOut(boundary.read, path)) return false
  return isGranted(boundary.read, path) || isGranted(boundary.presetRead, path) || isInWriteGrant(boundary, path)
}

const isInWriteGrant = ({ read, write }: FileGrants, path: AbsolutePath): boolean =>
  isCovered(write, path) && !isCarvedOut(read, path)
