import { CordonError } from '../../errors/index.js'

const AWAY: ReadonlySet<string> = new Set([
  'store-unavailable',
  'store-full',
  'store-busy',
  'server-unavailable',
  'request-too-many',
])

/** It was not reached, or had no time for it: what asks again may be answered. */
export const isAway = (error: unknown): boolean => error instanceof CordonError && AWAY.has(error.code)

const PAUSES_MS = { first: 50, longest: 2_000 }

/** Again and again while the database cannot be reached, until the signal says that it is enough. */
export const whileUnavailable = async <Result>(work: () => Promise<Result>, enough: AbortSignal): Promise<Result> => {
  for (let pause = PAUSES_MS.first; ; pause = Math.min(pause * 2, PAUSES_MS.longest)) {
    try {
      return await work()
    } catch (error) {
      if (!isAway(error) || enough.aborted) throw error
      await elapsed(pause, enough)
    }
  }
}

const elapsed = (milliseconds: number, enough: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      enough.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    enough.addEventListener('abort', end)
  })
