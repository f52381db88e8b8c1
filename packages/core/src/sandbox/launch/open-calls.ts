// The calls and pools of one sandbox. They end when it is closed.
import { fail } from '../../errors/index.js'

import { interrupted } from '../call-result.js'
import type { CallResult } from '../call-result.js'
import type { Pool } from '../sandbox-interface.js'
import type { Cell } from './cell.js'

interface OpenCalls {
  readonly isClosed: () => boolean
  readonly refuseClosed: () => void
  /** Closing waits for its end. */
  readonly tracked: (call: Promise<CallResult>) => Promise<CallResult>
  /** Closing kills the cell. The call then fails, with what it did until then. */
  readonly untilClosed: (cell: Cell, call: Promise<CallResult>) => Promise<CallResult>
  /** `make` gets what the pool calls when it is closed. */
  readonly pool: (make: (onClose: () => void) => Pool) => Pool
  readonly close: () => Promise<void>
}

export const createOpenCalls = (): OpenCalls => {
  const pools = new Set<Pool>()
  const running = new Set<Cell>()
  const calls = new Set<Promise<CallResult>>()
  let closed = false
  return {
    isClosed: () => closed,
    refuseClosed: () => {
      if (closed) throw fail('sandbox-closed', { what: 'sandbox' })
    },
    tracked: async (call) => {
      calls.add(call)
      try {
        return await call
      } finally {
        calls.delete(call)
      }
    },
    untilClosed: async (cell, call) => {
      running.add(cell)
      try {
        const result = await call
        if (closed) throw interrupted(fail('sandbox-closed', { what: 'sandbox' }), result)
        return result
      } finally {
        running.delete(cell)
      }
    },
    pool: (make) => {
      const pool = make(() => pools.delete(pool))
      pools.add(pool)
      return pool
    },
    close: async () => {
      closed = true
      for (const pool of pools) pool.close()
      for (const cell of running) cell.kill()
      await Promise.allSettled(calls)
    },
  }
}
