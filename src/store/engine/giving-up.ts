// A statement that nobody waits for any more is ended in the database, which would go on with it otherwise.
import { setTimeout as elapsed } from 'node:timers/promises'

import type pg from 'pg'

import { streamOf } from './answer-guard.js'

/** How long it may take to end one; afterwards its connection is closed here, whatever the database thinks. */
const ENDING_MS = 3_000
/** A word that comes between two statements ends neither, so it is said again. */
const AGAIN_MS = 100

/**
 * Ends what a connection is doing when the signal says so. The returned function stops that, and resolves when what was
 * under way has arrived, so that it does not meet whoever has the connection next.
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
