import { lstatSync } from 'node:fs'

import type { AbsolutePath } from '../policy/index.js'

import type { Cell } from './cell.js'
import { pathFor } from './file-names.js'
import type { PlannedCell } from './plan-cell.js'
import type { Place } from './object-at.js'

/** A cell that waits, boundary applied, and what that boundary was made of. */
export interface ReadyCell {
  readonly cell: Cell
  readonly program: string
  readonly planned: PlannedCell
  readonly sealed: readonly Place[]
  /** The very objects that stood at the granted paths: a mount and a Landlock rule hold those, not what replaced them. */
  readonly ground: string
}

/** Compares equal as long as the same objects are at these paths. A cell that waits keeps their numbers from being given again. */
export const groundOf = (paths: readonly AbsolutePath[]): string => paths.map(identityAt).join()

const identityAt = (path: AbsolutePath): string => {
  try {
    const { dev, ino } = lstatSync(pathFor(path), { bigint: true })
    return `${String(dev)}:${String(ino)}`
  } catch {
    return 'none'
  }
}

/** Whether it still is what a cell made now would be. */
export const isStillTrue = (ready: ReadyCell, program: string, sealed: readonly Place[]): boolean =>
  ready.cell.isAlive() && ready.program === program && isSameSeal(ready.sealed, sealed) && groundOf(ready.planned.ground) === ready.ground

const isSameSeal = (left: readonly Place[], right: readonly Place[]): boolean =>
  left.length === right.length && left.every(({ path, object }, index) => right[index]?.path === path && right[index].object === object)
