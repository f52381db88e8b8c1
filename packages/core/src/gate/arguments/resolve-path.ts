// What the host says about paths: the caller looks, because this room has no file system.
import type { AbsolutePath } from '../../policy/index.js'

import { foldName } from './folded-path.js'
import { normalisedPath } from './path-spelling.js'

/** The object that a path names. */
export type ResolvedPath =
  | {
      readonly kind: 'object'
      /** Without links. Below the nearest existing folder, the rest is as written. */
      readonly path: AbsolutePath
      readonly exists: boolean
      readonly parentExists: boolean
    }
  /** Too many links, no right to look, or too long. Such a path is denied. */
  | { readonly kind: 'unknown'; readonly problem: string }

/** Follows links as the kernel does: `..` after a link leads to the parent of its target. */
export type ResolvePath = (path: string) => ResolvedPath

/** Without a file system: a path names what its text says, and nothing is known to exist. */
export const resolveByText: ResolvePath = (path) => {
  const normalised = normalisedPath(path)
  if (normalised === undefined) return { kind: 'unknown', problem: 'it leads above the root' }
  return { kind: 'object', path: normalised, exists: false, parentExists: false }
}

/** The names in a folder, or undefined if they are not known. */
export type ListFolder = (path: AbsolutePath) => readonly string[] | undefined

/** Whether a path in the working directory may exist. False only if it certainly does not. */
export type MayExist = (path: string) => boolean

/** With fewer words, a look at each is faster. */
const MANY = 64

/**
 * Arguments may have a hundred thousand words, and each may be the name of a file. One list of the working directory
 * rules out nearly all of them. Names are compared as the laxest file system does.
 */
export const existingNames = (words: number, cwd: AbsolutePath, list: ListFolder): MayExist => {
  const names = words < MANY ? undefined : list(cwd)
  if (names === undefined) return () => true
  const known = new Set(names.map(fold))
  return (path) => {
    const rest = path.slice(cwd.length + 1)
    const slash = rest.indexOf('/')
    const first = slash === -1 ? rest : rest.slice(0, slash)
    return first === '' || first === '.' || first === '..' || known.has(fold(first))
  }
}

// First to upper case, because some letters become two there.
const fold = (name: string): string => foldName(name.toUpperCase())
