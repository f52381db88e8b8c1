import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

import { fail, reasonOf } from '../../errors/index.js'
import { isWithinPath, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { usage } from '../arguments.js'

/** A configuration is code of the project. It must not put files of the user into a manifest. */
export const fileIn = (folder: AbsolutePath, named: string): AbsolutePath => {
  const path = realPathOf(resolve(folder, named))
  if (isWithinPath(path, folder)) return path
  throw usage(`${named} is outside of the project ${folder}`, 'cordon manifest', 'name a file in the project')
}

const realPathOf = (path: string): AbsolutePath => {
  try {
    return parseAbsolutePath(realpathSync(path))
  } catch (error) {
    throw fail('file-unreadable', { path, problem: reasonOf(error), fix: 'name a file in the project' }, error)
  }
}
