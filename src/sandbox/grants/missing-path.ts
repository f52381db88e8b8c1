import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'

import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { PathPattern } from '../../policy/index.js'

import { pathFor } from './file-names.js'

/** The error for a granted path at which nothing was found: there is nothing, or this user may not look. */
export const missingPath = (
  { base: path, text }: Pick<PathPattern, 'base' | 'text'>,
  section: 'read' | 'write',
): CordonError => {
  try {
    lstatSync(pathFor(path))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES')
      return fail('path-denied', { path, problem: 'a folder on the way there is closed to this user (EACCES)' }, error)
  }
  // A tool makes a file in a folder that it may write to. A whole workspace or home is too much to advise.
  const around = dirname(text.replace(/\/\*\*$/, ''))
  const isInFolder =
    !['.', '..', '/', '~'].includes(around) &&
    lstatSync(pathFor(dirname(path)), { throwIfNoEntry: false })?.isDirectory() === true
  const folder = section === 'write' && isInFolder ? `; or grant its folder: --write ${around}` : ''
  return fail('path-missing', { path, fix: `create it first, or remove the grant${folder}` })
}
