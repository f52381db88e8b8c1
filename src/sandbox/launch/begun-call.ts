import type { Duplex } from 'node:stream'

import type { CallPatrol } from '../watch/patrols.js'
import type { CellRequest } from '../plan/plan-cell.js'
import type { ReadyCell } from './ready-cell.js'

export interface BegunRequest {
  readonly request: CellRequest
  /** To a launcher that has a head start. */
  readonly connection: Duplex | undefined
}

/**
 * What a call begins with goes on at the same time: the watcher looks into its write roots, the pool for a cell that
 * stands ready, and where there is none a launcher enters its namespaces. When one of these fails the call is
 * refused, and nobody else will end the others.
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
