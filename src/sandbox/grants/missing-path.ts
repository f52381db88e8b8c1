import { lstatSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { pathFor } from './file-names.js'

/** The error for a granted path at which nothing was found: there is nothing, or this user may not look. */
export const missingPath = (path: AbsolutePath): CordonError => {
  try {
    lstatSync(pathFor(path))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') return fail('path-denied', { path, problem: 'a folder on the way there is closed to this user (EACCES)' }, error)
  }
  return fail('path-missing', { path })
}
