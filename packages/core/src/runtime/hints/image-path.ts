import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'
import type { SandboxProfile } from '../../sandbox/index.js'

/**
 * Whether a path that a program in a container used is one of its image. A grant of the same path of the host would not
 * help. Below `folders`, which are the user's, a path is meant to be one of the host.
 */
export const isOfImage = (
  { backend, read_roots: read, write_roots: write }: Pick<SandboxProfile, 'backend' | 'read_roots' | 'write_roots'>,
  path: string,
  folders: readonly AbsolutePath[],
): boolean =>
  backend === 'container' &&
  ![...read, ...write, ...folders].some(
    (root) => root !== '/' && isWithinPath(path as AbsolutePath, root as AbsolutePath),
  )
