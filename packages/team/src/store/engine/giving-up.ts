// Cancels a statement in the database when nobody waits for it any more.
import { setTimeout as elapsed } from 'node:timers/promises'

import type pg from 'pg'

import { streamOf } from './answer-guard.js'

/** How long a cancellation may take before the connection is closed. */
const ENDING_MS = 3_000
/** A cancellation between two statements has no effect, so it is repeated. */
const AGAIN_MS = 100

/**
 * Cancels the statement of a connection at the signal. The returned function ends that, and waits for a cancellation
 * under way, which would otherwise meet the next user of the connection.
 */
export const givingUp = (
  client: pg.PoolClient,
  signal: AbortSignal | undefined,
  end: (backend: number) => Promise<void>,
): (() => Promise<void>) => {
  if (signal === undefined) return () => Promise.resolve()
  const { processID } = client as unknown as { readonly processID: number }
  const over = new AbortController()
  let ending: Promise<void> = Promise.resolve()
  const endAgain = async (): Promise<void> => {
    const until = Date.now() + ENDING_MS
    while (!over.signal.aborted) {
      await Promise.race([end(processID).catch(() => undefined), elapsed(Math.max(1, until - Date.now()))])
      if (Date.now() >= until)
        streamOf(client).destroy(new Error('Connection terminated: nobody waits for it any more'))
      await elapsed(AGAIN_MS, undefined, { signal: over.signal }).catch(() => undefined)
    }
  }
  const giveUp = (): void => {
    ending = endAgain()
  }
  signal.addEventListener('abort', giveUp, { once: true })
  return async () => {
    signal.removeEventListener('abort', giveUp)
    over.abort()
    await ending
  }
}
