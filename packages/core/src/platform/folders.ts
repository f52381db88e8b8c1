import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const withManifest = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : withManifest(dirname(folder))

/** The real folder of the package that a module belongs to, from a bundle and from single modules. */
export const packageFolderOf = (moduleUrl: string): string =>
  realpathSync(withManifest(dirname(fileURLToPath(moduleUrl))))

export const PACKAGE_FOLDER: string = packageFolderOf(import.meta.url)

/**
 * Makes a folder with the folders above it, one by one. The recursive `mkdir` of Node never ends below /proc, where
 * nobody can make a folder.
 */
export const makeFolders = (path: string, mode = 0o777): void => {
  if (isFolder(path)) return
  if (dirname(path) !== path) makeFolders(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
