// A wall is a program of the system that makes namespaces around the launcher. The launcher then builds its `landlock`
// form inside.
import type { AbsolutePath } from '../../policy/index.js'

import type { Step } from '../plan/plan.js'
import type { WallFacts } from '../plan/host-facts.js'

/** What a wall has to build for one cell. */
export interface WalledCell {
  readonly steps: readonly Step[]
  /** The private folder of the cell. */
  readonly temporary: AbsolutePath
  readonly network: 'own' | 'shared'
  /** The limit of private folders, in bytes. */
  readonly scratch: number
}

export interface WallCommand {
  /** Without the program itself. */
  readonly words: readonly string[]
  /** What it reads from descriptors, from `FIRST_INPUT` on. */
  readonly inputs: readonly Uint8Array[]
}

/** The launcher has the host at 3 and its channel at 4. */
export const FIRST_INPUT = 5

/**
 * It has to stay the parent of the first process inside, to pass descriptors 3 and 4 to the launcher, to start
 * `LAUNCHER channel`, to end when the launcher ends, and to say on stderr why it fails.
 */
export interface Wall extends WallFacts {
  readonly program: string
  readonly command: (cell: WalledCell) => WallCommand
  /**
   * How what it built differs from the request: mounts, or namespaces that it did not make. Asked before the command is
   * sent.
   */
  readonly departure: (cell: WalledCell, inside: () => number | undefined) => string | undefined
}
