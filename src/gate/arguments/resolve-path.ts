import type { AbsolutePath } from '../../policy/index.js'

import { normalisedPath } from './path-spelling.js'

/** What a path really names. */
export type ResolvedPath =
  | {
      readonly kind: 'object'
      /**
       * Without links. Of what does not exist: the real path of the nearest folder that does, and the rest as written.
       */
      readonly path: AbsolutePath
      readonly exists: boolean
      readonly parentExists: boolean
    }
  /** Nobody can tell: too many links, no right to look, too long. Such a path is denied. */
  | { readonly kind: 'unknown'; readonly problem: string }

/** Follows links as the kernel does: `..` after a link leads to the parent of its target. */
export type ResolvePath = (path: string) => ResolvedPath

/** For where there is no file system to ask: a path names what its text says, and nothing is known to exist. */
export const resolveByText: ResolvePath = (path) => {
  const normalised = normalisedPath(path)
  if (normalised === undefined) return { kind: 'unknown', problem: 'it leads above the root' }
  return { kind: 'object', path: normalised, exists: false, parentExists: false }
}
