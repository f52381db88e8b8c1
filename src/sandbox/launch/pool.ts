import { fail } from '../../errors/index.js'

import type { CallResult } from '../call-result.js'
import type { ReadyCell } from './ready-cell.js'
import type { RunInput } from '../sandbox.js'

/** Cells of one program that stand ready. Each serves one call; the next one is built behind it. */
export interface Pool {
  readonly run: (input: RunInput) => Promise<CallResult>
  /** Settles when a cell stands ready. */
  readonly ready: () => Promise<void>
  readonly size: () => number
  readonly close: () => void
}

const MOST_WAITING = 8
const REFILL_MS = 3
const IDLE_MS = 30_000

export const createPool = (
  prepare: () => Promise<ReadyCell>,
  run: (input: RunInput, ready: Promise<ReadyCell | undefined>) => Promise<CallResult>,
  onClose: () => void,
): Pool => {
  const waiting: Promise<ReadyCell>[] = []
  let running = 0
  let wanted = 1
  let closed = false
  let idle: NodeJS.Timeout | undefined

  const fill = () => {
    while (!closed && waiting.length < wanted) {
      const next = prepare()
      // A cell that cannot be made is no failure yet: the call that wants it tries again, and says why it cannot be.
      next.catch(() => undefined)
      waiting.push(next)
    }
  }
  /** A cell may have died while it waited (killed by hand, out of memory): it is passed over, not used. */
  const take = async (): Promise<ReadyCell | undefined> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const ready = await next.catch(() => undefined)
      // Its end may be known to the kernel and not yet to us.
      await new Promise(setImmediate)
      if (ready?.cell.isAlive() === true) return ready
    }
    return undefined
  }
  const giveUpAll = () => {
    for (const next of waiting.splice(0)) {
      next.then(
        ({ cell }) => {
          cell.discard()
        },
        () => undefined,
      )
    }
  }
  /**
   * Building the next cell takes processor time from the call that just began: it waits until that ends, or a little.
   */
  const refillSoon = () => {
    setTimeout(fill, REFILL_MS).unref()
  }
  const restInTime = () => {
    clearTimeout(idle)
    idle = setTimeout(() => {
      wanted = 0
      giveUpAll()
    }, IDLE_MS)
    idle.unref()
  }
  fill()
  restInTime()

  return {
    run: async (input) => {
      if (closed) throw fail('sandbox-closed', { what: 'pool' })
      running += 1
      // As many in reserve as calls overlap, so that a burst finds cells ready, up to a bound.
      wanted = Math.min(MOST_WAITING, Math.max(running, Math.ceil((wanted + running) / 2)))
      restInTime()
      try {
        const result = run(input, take())
        refillSoon()
        return await result
      } finally {
        running -= 1
        // After the caller has its result: planning the next cell takes longer than many a tool runs.
        setImmediate(fill)
      }
    },
    ready: async () => {
      if (wanted === 0) wanted = 1
      fill()
      const first = await waiting[0]
      await first?.cell.ready
    },
    size: () => waiting.length,
    close: () => {
      closed = true
      clearTimeout(idle)
      giveUpAll()
      onClose()
    },
  }
}
