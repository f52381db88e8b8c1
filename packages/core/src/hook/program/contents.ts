// The list of hashes of a package: what was packed. It finds a package that was changed in part, by accident or by a
// tool. It cannot find one that was replaced as a whole, because the list is a part of the package.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Beside the bundles. `scripts/list-contents.mjs` writes it. */
export const CONTENTS_FILE = 'dist/contents.json'

export interface Contents {
  /** The files of the package that a copy needs, with their SHA-256. */
  readonly files: Readonly<Record<string, string>>
  /** The hashes of the packages that it was built with, by `name@version`. */
  readonly packages: Readonly<Record<string, string>>
}

export const hashFile = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

/** Files that nothing loads. */
const UNUSED = /\.(?:map|md|markdown|d\.[cm]?ts|ts)$/i

/** The files below a folder that run, without links and without packages of their own. */
export const filesBelow = (folder: string, at = ''): readonly string[] =>
  readdirSync(join(folder, at))
    .sort()
    .flatMap((name) => {
      const path = at === '' ? name : `${at}/${name}`
      const status = lstatSync(join(folder, path))
      if (status.isDirectory()) return name === 'node_modules' ? [] : filesBelow(folder, path)
      return status.isFile() && !UNUSED.test(name) ? [path] : []
    })

/** One hash of all files of a package. */
export const hashPackage = (folder: string): string => {
  const hash = createHash('sha256')
  for (const path of filesBelow(folder)) hash.update(`${path}\0${hashFile(join(folder, path))}\n`)
  return hash.digest('hex')
}

export const nameAndVersion = (folder: string): string => {
  const { name = '', version = '' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name?: string
    readonly version?: string
  }
  return `${name}@${version}`
}
