import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

import { reasonOf } from 'cordon/errors'
import { isWithinPath, parseAbsolutePath } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'

import { usage } from 'cordon/commands'

import { fail } from '../errors/errors.js'

/** A configuration is code of the project. It must not put files of the user into a manifest. */
export const fileIn = (folder: AbsolutePath, named: string): AbsolutePath => {
  const path = realFileAt(resolve(folder, named))
  if (isWithinPath(path, folder)) return path
  throw usage(`${named} is outside of the project ${folder}`, 'cordon manifest', 'name a file in the project')
}

const realFileAt = (path: string): AbsolutePath => {
  try {
    return parseAbsolutePath(realpathSync(path))
  } catch (error) {
    throw fail('file-unreadable', { path, problem: reasonOf(error), fix: 'name a file in the project' }, error)
  }
}
