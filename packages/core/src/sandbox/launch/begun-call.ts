import type { Backend } from '../backends.js'
import type { CellConnection } from './cell.js'
import type { CallPatrol } from '../watch/patrols.js'
import type { CellRequest } from '../plan/planned-cell.js'
import type { ReadyCell } from './ready-cell.js'

export interface BegunRequest {
  readonly request: CellRequest
  /** To a launcher with a head start. */
  readonly connection: CellConnection | undefined
  readonly backend: Backend
}

/**
 * Waits for the three things that a call begins with at the same time: the watcher looks into its write roots, the pool
 * looks for a warm cell, and a launcher may enter its namespaces. If one fails, the others are ended.
 */
export const allBegun = async (
  patrol: Promise<CallPatrol>,
  waiting: Promise<ReadyCell | undefined>,
  begun: Promise<BegunRequest>,
): Promise<readonly [CallPatrol, ReadyCell | undefined, BegunRequest]> => {
  try {
    return await Promise.all([patrol, waiting, begun])
  } catch (error) {
    void waiting.then((ready) => ready?.cell.discard())
    await begun.then(
      ({ connection }) => connection?.destroy(),
      () => undefined,
    )
    await patrol.then(
      ({ giveUp }) => giveUp(),
      () => undefined,
    )
    throw error
  }
}
