import type { AbsolutePath } from '../../policy/index.js'

import { foldName } from './folded-path.js'

/** The names in a folder; undefined where nobody can tell. */
export type ListFolder = (path: AbsolutePath) => readonly string[] | undefined

/** Whether a path that begins in the working directory may exist; false only where it certainly does not. */
export type MayExist = (path: string) => boolean

/** With fewer words than this, asking for each is done sooner. */
const MANY = 64

const always: MayExist = () => true

/**
 * Arguments may hold a hundred thousand words, and each may be the name of a file. Nearly all of them are
 * no names in the working directory, which one look at it tells. Names are compared as the laxest file
 * system would.
 */
export const existingNames = (words: number, cwd: AbsolutePath, list: ListFolder): MayExist => {
  if (words < MANY) return always
  const names = list(cwd)
  if (names === undefined) return always
  const known = new Set(names.map(fold))
  return (path) => {
    const rest = path.slice(cwd.length + 1)
    const slash = rest.indexOf('/')
    const first = slash === -1 ? rest : rest.slice(0, slash)
    return first === '' || first === '.' || first === '..' || known.has(fold(first))
  }
}

// Some letters are two in capitals, and one of the two forms would be missed.
const fold = (name: string): string => foldName(name.toUpperCase())
