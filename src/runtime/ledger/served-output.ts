// What a call says while it runs, heard through a server.
import { setTimeout as pause } from 'node:timers/promises'

import type { OutputChunk, StoreAccess } from '../../store/index.js'

import { isAway } from './away.js'

const PAUSE_MS = 500

/** Tells it from the oldest that is kept, until the returned function is called; that one tells the rest first. */
export const followAtServer = (store: Pick<StoreAccess, 'ask' | 'grow'>, id: string, told: (chunk: OutputChunk) => void): (() => Promise<void>) => {
  const over = new AbortController()
  let after: string | undefined
  const given = () => ({ id, ...(after === undefined ? {} : { after }) })
  const hear = (mark: string, chunk: OutputChunk): void => {
    after = mark
    told(chunk)
  }
  const listen = async (): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        if ((await store.grow('readOutput', given(), (mark, item) => { hear(mark, item as OutputChunk) }, over.signal)) !== undefined) return
      } catch (error) {
        // One that does not tell, or not to us: the result has it all.
        if (!isAway(error)) return
        await pause(PAUSE_MS, undefined, { signal: over.signal }).catch(() => undefined)
      }
    }
  }
  const listening = listen()
  return async () => {
    over.abort()
    await listening
    const rest = await store.ask('readOutput', given()).catch(() => undefined)
    for (const { mark, ...chunk } of rest?.chunks ?? []) hear(mark, chunk)
  }
}
