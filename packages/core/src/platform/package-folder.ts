import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const withManifest = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : withManifest(dirname(folder))

/** The real folder of the package that a module belongs to, from a bundle and from single modules. */
export const packageFolderOf = (moduleUrl: string): string =>
  realpathSync(withManifest(dirname(fileURLToPath(moduleUrl))))

export const PACKAGE_FOLDER: string = packageFolderOf(import.meta.url)
