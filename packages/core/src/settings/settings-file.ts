// Settings files of other programs: read, and written with a backup. Those of a project come with it, and so may links
// that lead anywhere.
import { constants, copyFileSync, existsSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

import { codeOf } from '../errors/index.js'
import { isLink, makeFolders, readOrdinaryFile, realPathOf, replaceFile } from '../platform/index.js'
import type { ReplaceOptions } from '../platform/index.js'

/** Undefined if there is no such file. */
export const readSettingsFile = (path: string): string | undefined => {
  try {
    return readOrdinaryFile(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

export interface SettingsChange {
  /** As it was read. Empty without a file. */
  readonly before: string
  /** Empty: the file is removed. */
  readonly after: string
  /** The folder that the file comes with. Undefined for a file of the user, or of the machine. */
  readonly project: string | undefined
  readonly mode: ReplaceOptions['mode']
  /** Called with the real path of the file, if it exists. */
  readonly backUp: (path: string) => void
}

/** A file of the user that is a link, perhaps into a folder of settings, stays one. A link of a project is refused. */
export const writeSettingsFile = (path: string, { before, after, project, mode, backUp }: SettingsChange): void => {
  // Before folders are made: they would be made where a link leads.
  if (project !== undefined) refuseLinks(path, project)
  makeFolders(dirname(path))
  const real = realPathOf(path) ?? path
  if (existsSync(real)) backUp(real)
  const isSame = (): boolean => (readSettingsFile(real) ?? '') === before
  if (after === '') rmSync(real, { force: true })
  else if (!replaceFile(real, after, { mode, onlyIf: isSame }))
    throw new Error('somebody else changed it at the same time')
}

export const backupBeside = (path: string): string => `${path}.before-cordon`

/** Never through a link that is there already. */
export const copyNew = (from: string, to: string): void => {
  copyFileSync(from, to, constants.COPYFILE_EXCL)
}

/** Throws if a file of a project, or a folder in the project above it, is a link. They need not exist. */
export const refuseLinks = (path: string, project: string): void => {
  const [name = '', ...folders] = relative(project, resolve(project, path)).split(sep).toReversed()
  const folder = folders.reduceRight((above, each) => {
    const inside = join(above, each)
    if (isLink(inside)) throw new Error('its folder is a link')
    return inside
  }, project)
  if (isLink(join(folder, name))) throw new Error('it is a link')
}
