// What a host can enforce. A cell is planned for these facts.
import { MECHANISMS } from '../../policy/index.js'
import type { AbsolutePath, BackendName, Form, Mechanism, WallName } from '../../policy/index.js'

import type { Identity } from './workspace-owner.js'

export interface HostFacts {
  /** The program with which it was tried. */
  readonly launcher: string
  readonly namespaces: Attempt
  /** Whether a cell may have its own /proc. Otherwise it borrows the host's and hides parts of it. */
  readonly ownProc: Attempt
  readonly landlock: Attempt & { readonly abi: number }
  /** The namespaces with a /proc of their own, without Landlock. */
  readonly mounts: Attempt
  readonly listener: Attempt
  /**
   * If there is no listener because this runs inside another cell: whether that cell's keeper serves cells inside it.
   */
  readonly nesting: Attempt
  /** Whether the keeper may borrow the tool's sockets. Otherwise it replaces them. */
  readonly borrowing: Attempt
  /** Whether each call gets a cgroup, and beneath which folder. */
  readonly cgroup: { readonly held: true; readonly parent: AbsolutePath } | Refused
  /** Whether the use of all processes of a cell can be added up, for limits. */
  readonly measuring: Attempt
  readonly kernelSecrets: readonly AbsolutePath[]
  /** Whether this process runs as root, which rlimits and file modes do not restrict. */
  readonly isRoot: boolean
  /** The user of the cells, if it is not the user of this process. */
  readonly identity: Identity | undefined
  /** What makes namespaces around the launcher. These facts are those inside it. */
  readonly wall: WallFacts | undefined
  /** Stronger backends that `auto` did not take. */
  readonly passedOver: readonly PassedOver[]
  /** The parent of the private folder of a cell without its own root. */
  readonly temporaryFolder: AbsolutePath
}

export interface PassedOver {
  readonly backend: BackendName
  readonly reason: string
}

export type Attempt = { readonly held: true } | Refused

interface Refused {
  readonly held: false
  readonly stage: string
  readonly problem: string
}

export const SUCCEEDED: Attempt = { held: true }
export const failedAt = (stage: string, problem: string): Refused => ({ held: false, stage, problem })

/** What a plan has to know of the wall around a cell. */
export interface WallFacts {
  readonly name: WallName
  /** The namespaces that it makes. A `mount-namespace` has a root of granted paths alone. */
  readonly brings: readonly Mechanism[]
}

export const NAMESPACES: readonly Mechanism[] = MECHANISMS.filter((name) => name.endsWith('-namespace'))

export const bringsMounts = (wall: WallFacts | undefined): boolean => wall?.brings.includes('mount-namespace') === true

interface FormParts {
  /** A root of its own, made of mounts: what is not granted is not there. */
  readonly ownRoot: boolean
  readonly ownProcesses: boolean
  readonly ownNetwork: boolean
  readonly landlock: boolean
}

/** What the launcher gives a cell of each form. A wall or a container around it may add some of this. */
export const FORM_HAS: Readonly<Record<Form, FormParts>> = {
  namespaces: { ownRoot: true, ownProcesses: true, ownNetwork: true, landlock: true },
  landlock: { ownRoot: false, ownProcesses: false, ownNetwork: false, landlock: true },
  mounts: { ownRoot: true, ownProcesses: true, ownNetwork: true, landlock: false },
}
