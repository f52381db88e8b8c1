// What a call says while it runs, heard through a server.
import type { OutputChunk, StoreAccess } from '../../store/index.js'

import { whileUnavailable } from './away.js'

/** Tells it from the oldest that is kept, until the returned function is called; that one tells the rest first. */
export const followAtServer = (
  store: Pick<StoreAccess, 'ask' | 'grow'>,
  id: string,
  told: (chunk: OutputChunk) => void,
): (() => Promise<void>) => {
  const over = new AbortController()
  let after: string | undefined
  const given = () => ({ id, ...(after === undefined ? {} : { after }) })
  const hear = (mark: string, chunk: OutputChunk): void => {
    after = mark
    told(chunk)
  }
  const listen = async (): Promise<void> => {
    while (!over.signal.aborted)
      if (
        (await store.grow(
          'readOutput',
          given(),
          (mark, item) => {
            hear(mark, item as OutputChunk)
          },
          over.signal,
        )) !== undefined
      )
        return
  }
  // One that does not tell, or not to us: the result has it all.
  const listening = whileUnavailable(listen, over.signal).catch(() => undefined)
  return async () => {
    over.abort()
    await listening
    const rest = await store.ask('readOutput', given()).catch(() => undefined)
    for (const { mark, ...chunk } of rest?.chunks ?? []) hear(mark, chunk)
  }
}
