// Whether the client still waits for an answer. AbortSignal.any() would leak memory here: its signals stay with the
// signal of the server.
import type { ServerResponse } from 'node:http'

export interface Presence {
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal
  /** Aborted when the client has gone, or the server ends. */
  readonly over: AbortSignal
}

export const presenceOf = (response: ServerResponse, ending: AbortSignal): Presence => {
  const [gone, over] = [new AbortController(), new AbortController()]
  const end = (): void => {
    over.abort()
  }
  if (ending.aborted) end()
  ending.addEventListener('abort', end, { once: true })
  response.once('close', () => {
    ending.removeEventListener('abort', end)
    gone.abort()
    over.abort()
  })
  return { gone: gone.signal, over: over.signal }
}

/** Passes a signal that is aborted when the time is over or the client has gone. */
export const withinTime = async <Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  gone: AbortSignal,
  milliseconds: number,
): Promise<Result> => {
  const giveUp = new AbortController()
  const end = (): void => {
    giveUp.abort()
  }
  const timer = setTimeout(end, milliseconds)
  gone.addEventListener('abort', end, { once: true })
  if (gone.aborted) end()
  try {
    return await work(giveUp.signal)
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', end)
  }
}
