// What a plan has to know of the backends, and of the wall around a cell.
import type { Mechanism } from '../../policy/index.js'

export const WALLS = ['bubblewrap', 'firejail'] as const
export type WallName = (typeof WALLS)[number]

/** `native`: the launcher alone. `seatbelt`: macOS. */
export const BACKENDS = ['native', ...WALLS, 'seatbelt'] as const
export type BackendName = (typeof BACKENDS)[number]
export type BackendOfLinux = Exclude<BackendName, 'seatbelt'>

export interface WallFacts {
  readonly name: WallName
  /** The namespaces that it makes. A `mount-namespace` has a root of granted paths alone. */
  readonly brings: readonly Mechanism[]
}

export const bringsMounts = (wall: WallFacts | undefined): boolean => wall?.brings.includes('mount-namespace') === true
