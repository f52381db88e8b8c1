import { fail } from '../errors/index.js'

import type { CallResult } from './call-result.js'
import type { Cell } from './cell.js'
import type { RunInput } from './sandbox.js'

/** Cells of one program that stand ready. Each serves one call; the next one is built behind it. */
export interface Pool {
  readonly run: (input: RunInput) => Promise<CallResult>
  /** Settles when a cell stands ready. */
  readonly ready: () => Promise<void>
  readonly size: () => number
  readonly close: () => void
}

const MOST_WAITING = 8
const IDLE_MS = 30_000

export const createPool = (open: () => Cell, run: (cell: Cell, input: RunInput) => Promise<CallResult>, onClose: () => void): Pool => {
  const waiting: Cell[] = []
  let running = 0
  let wanted = 1
  let closed = false
  let idle: NodeJS.Timeout | undefined

  const fill = () => {
    while (!closed && waiting.length < wanted) waiting.push(open())
  }
  /** A cell may have died while it waited (killed by hand, out of memory): it is passed over, not used. */
  const take = (): Cell => {
    for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) if (cell.isAlive()) return cell
    return open()
  }
  const restInTime = () => {
    clearTimeout(idle)
    idle = setTimeout(() => {
      wanted = 0
      for (const cell of waiting.splice(0)) cell.discard()
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
      const cell = take()
      // Built after the call has begun: its own start is what the caller waits for.
      setImmediate(fill)
      restInTime()
      try {
        return await run(cell, input)
      } finally {
        running -= 1
      }
    },
    ready: async () => {
      if (wanted === 0) wanted = 1
      fill()
      await waiting[0]?.ready
    },
    size: () => waiting.length,
    close: () => {
      closed = true
      clearTimeout(idle)
      for (const cell of waiting.splice(0)) cell.discard()
      onClose()
    },
  }
}
