import type { AbsolutePath } from '../../policy/index.js'

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
