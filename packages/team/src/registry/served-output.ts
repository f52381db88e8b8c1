// The output of a running call, from a server.
import { withoutUndefined } from 'cordon/shapes'
import type { OutputChunk, StoreAccess } from '../store/index.js'

import { whileUnavailable } from './away.js'

/** Passes on the output from its oldest kept part. The returned function passes on the rest and stops. */
export const followAtServer = (
  store: Pick<StoreAccess, 'ask' | 'grow'>,
  id: string,
  told: (chunk: OutputChunk) => void,
): (() => Promise<void>) => {
  const over = new AbortController()
  let after: string | undefined
  const given = () => withoutUndefined({ id, after })
  const hear = (mark: string, chunk: OutputChunk): void => {
    after = mark
    told(chunk)
  }
  const listen = async (): Promise<void> => {
    const onItem = (mark: string, item: unknown): void => {
      hear(mark, item as OutputChunk)
    }
    while (!over.signal.aborted)
      if ((await store.grow('readOutput', given(), onItem, over.signal)) !== undefined) return
  }
  // Errors are ignored: the result has all the output.
  const listening = whileUnavailable(listen, over.signal).catch(() => undefined)
  return async () => {
    over.abort()
    await listening
    const rest = await store.ask('readOutput', given()).catch(() => undefined)
    for (const { mark, ...chunk } of rest?.chunks ?? []) hear(mark, chunk)
  }
}
