// Whether somebody still waits for an answer. Signals of its own, taken apart at the end: those that are made of others
// stay with the one that lives as long as the server.
import type { ServerResponse } from 'node:http'

export interface Presence {
  /** Who asked has gone. */
  readonly gone: AbortSignal
  /** Nothing is waited for any more: they have gone, or the server ends. */
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

/** Does it with a signal that says when the time is over, or they have gone. */
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
