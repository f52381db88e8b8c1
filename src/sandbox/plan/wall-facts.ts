// What a plan has to know of the wall around a cell.
import type { Mechanism, WallName } from '../../policy/index.js'

export interface WallFacts {
  readonly name: WallName
  /** The namespaces that it makes. A `mount-namespace` has a root of granted paths alone. */
  readonly brings: readonly Mechanism[]
}

export const bringsMounts = (wall: WallFacts | undefined): boolean => wall?.brings.includes('mount-namespace') === true
