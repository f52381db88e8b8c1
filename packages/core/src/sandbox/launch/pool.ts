import { fail } from '../../errors/index.js'

import type { CallResult } from '../call-result.js'
import type { ReadyCell } from './ready-cell.js'
import type { Pool, RunInput } from '../sandbox-interface.js'

const MOST_WAITING = 8
const REFILL_MS = 25
const IDLE_MS = 30_000

/** Keeps cells of the pools that were used last, because each cell takes memory. */
interface KeptCells {
  readonly use: (giveUp: () => void) => void
  readonly forget: (giveUp: () => void) => void
}

export const keepLatest = (most: number): KeptCells => {
  const inOrder = new Set<() => void>()
  const forget = (giveUp: () => void): void => {
    inOrder.delete(giveUp)
  }
  return {
    use: (giveUp) => {
      forget(giveUp)
      inOrder.add(giveUp)
      const [longestUnused] = inOrder
      if (inOrder.size <= most || longestUnused === undefined) return
      forget(longestUnused)
      longestUnused()
    },
    forget,
  }
}

export const createPool = <Ready extends ReadyCell>(
  prepare: () => Promise<Ready>,
  run: (input: RunInput, ready: Promise<Ready | undefined>) => Promise<CallResult>,
  kept: KeptCells,
  onClose: () => void,
): Pool => {
  const waiting: Promise<Ready>[] = []
  let running = 0
  let wanted = 1
  let closed = false
  let idle: NodeJS.Timeout | undefined

  const fill = () => {
    while (!closed && waiting.length < wanted) {
      const next = prepare()
      // Not a failure yet: the call that wants this cell tries again and reports the problem.
      next.catch(() => undefined)
      waiting.push(next)
    }
  }
  /** Passes over cells that died while they waited (killed by hand, out of memory). */
  const take = async (): Promise<Ready | undefined> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const ready = await next.catch(() => undefined)
      // Perhaps the kernel knows that it ended, and we do not yet.
      await new Promise(setImmediate)
      if (ready?.cell.isAlive() === true) return ready
    }
    return undefined
  }
  /** All but the first `left`. */
  const giveUp = (left: number) => {
    wanted = left
    for (const next of waiting.splice(left)) {
      next.then(
        ({ cell }) => {
          cell.discard()
        },
        () => undefined,
      )
    }
  }

  const restInTime = () => {
    clearTimeout(idle)
    idle = setTimeout(() => {
      giveUp(Math.min(wanted, 1))
    }, IDLE_MS)
    idle.unref()
    kept.use(giveUpAll)
  }
  const giveUpAll = () => {
    giveUp(0)
  }
  fill()
  restInTime()

  return {
    run: async (input) => {
      if (closed) throw fail('sandbox-closed', { what: 'pool' })
      running += 1
      // As many cells as calls overlap, up to a bound, so that a burst finds cells ready.
      wanted = Math.min(MOST_WAITING, Math.max(running, Math.ceil((wanted + running) / 2)))
      restInTime()
      try {
        const result = run(input, take())
        // Building the next cell takes processor time from the call that just began. A short call has ended by then.
        setTimeout(fill, REFILL_MS).unref()
        return await result
      } finally {
        running -= 1
        // The caller gets its result first: planning takes longer than many a tool runs.
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
      kept.forget(giveUpAll)
      giveUpAll()
      onClose()
    },
  }
}
