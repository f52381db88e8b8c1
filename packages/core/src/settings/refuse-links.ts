// Settings files of other programs. Those of a project come with it, and so may links that lead anywhere.
import { constants, copyFileSync, realpathSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'

import { isLink } from '../../platform/index.js'

/** Never through a link that is there already. */
export const copyNew = (from: string, to: string): void => {
  copyFileSync(from, to, constants.COPYFILE_EXCL)
}

/** Throws if a file of a project, or a folder in the project above it, is a link. */
export const refuseLinks = (path: string, project: string): void => {
  if (isLink(path)) throw new Error('it is a link')
  const folder = dirname(resolve(project, path))
  const real = resolve(realpathSync(project), relative(project, folder))
  if (realpathSync(folder) !== real) throw new Error('its folder is a link')
}
