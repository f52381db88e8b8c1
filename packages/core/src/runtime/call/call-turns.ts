// Turns for calls that need a cell. A burst of calls would otherwise be decided, planned and started all at once, and
// the event loop would stand still for as long. Calls take their turns in the order in which they came.
import { AsyncLocalStorage } from 'node:async_hooks'
import { availableParallelism } from 'node:os'

/** The turn of one call. */
export interface CallTurn {
  /** Waits for somebody else, such as a person, while the next call has the turn. */
  readonly lentDuring: <Result>(work: () => Promise<Result>) => Promise<Result>
}

export interface CallTurns {
  /** A call whose signal is aborted does not wait any longer: it goes on, and ends as cancelled. */
  readonly take: <Result>(
    signal: AbortSignal | undefined,
    work: (turn: CallTurn | undefined) => Promise<Result>,
  ) => Promise<Result>
  /** Runs code of the agent for a call that has a turn: the calls that this code makes must not wait for that turn. */
  readonly inside: <Result>(work: () => Result) => Result
}

/** Programs mostly wait for disks and hosts, so there may be far more of them than processors. */
export const defaultConcurrency = (): number => Math.max(16, 8 * availableParallelism())

export const createCallTurns = (most: number): CallTurns => {
  const waiting = new Set<() => void>()
  // Entered only for hooks and classifiers: before Node 24, every promise of a process that enters one costs more.
  const nested = new AsyncLocalStorage<true>()
  let free = most

  /** False if the signal came first. */
  const begin = (signal: AbortSignal | undefined): boolean | Promise<boolean> => {
    if (signal?.aborted === true) return false
    if (free > 0) {
      free -= 1
      return true
    }
    return new Promise((resolve) => {
      const leave = (): void => {
        waiting.delete(go)
        resolve(false)
      }
      const go = (): void => {
        waiting.delete(go)
        signal?.removeEventListener('abort', leave)
        resolve(true)
      }
      waiting.add(go)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
  const end = (): void => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }

  return {
    take: async (signal, work) => {
      if (nested.getStore() === true) return work(undefined)
      let isHeld = await begin(signal)
      const turn: CallTurn = {
        lentDuring: async (wait) => {
          if (isHeld) end()
          try {
            return await wait()
          } finally {
            isHeld = isHeld && (await begin(signal))
          }
        },
      }
      try {
        return await work(turn)
      } finally {
        if (isHeld) end()
      }
    },
    inside: (work) => nested.run(true, work),
  }
}
