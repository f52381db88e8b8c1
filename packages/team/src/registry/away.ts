import { setTimeout } from 'node:timers/promises'

import { isAway } from '../errors/errors.js'

const PAUSES_MS = { first: 50, longest: 2_000 }

/** Retries while the database cannot be reached, until the signal is aborted. */
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

const elapsed = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  setTimeout(milliseconds, undefined, { signal }).catch(() => undefined)

export const anyOf = (signal: AbortSignal | undefined, other: AbortSignal): AbortSignal =>
  signal === undefined ? other : AbortSignal.any([signal, other])
