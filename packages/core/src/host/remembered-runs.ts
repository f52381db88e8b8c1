// What was read for a run, while nothing of all that was looked at has changed. Runs of several commands with the same
// other words, folder and variables are read once.
import { createHash } from 'node:crypto'

import { createMemory } from '../platform/index.js'

import type { CommandLine } from '../line/caller.js'
import { parseOrder } from '../run/request/run-request.js'
import { prepareRun } from '../run/prepare-run.js'
import { prepareTyped } from '../run/prepare-typed.js'
import type { PrepareTyped } from '../run/prepare-typed.js'
import type { PreparedRun } from '../run/run-gate.js'
import { NotServed } from '../run/run-seat.js'

const MOST_REMEMBERED = 64

export const rememberRuns = (): PrepareTyped => {
  const memory = createMemory<PreparedRun>(MOST_REMEMBERED)
  return async (line, isInteractive, onOrder) => {
    const { rest } = line.given
    try {
      const prepared = memory.recall(keyOf(line, isInteractive), () => {
        const { order } = parseOrder(line.given, line)
        if (order.policy.credentials.length > 0) throw new NotServed()
        return prepareRun(order, isInteractive, line)
      })
      const order = { ...prepared.order, argv: rest }
      onOrder(order)
      return { ...prepared, order }
    } catch (error) {
      if (error instanceof NotServed) throw error
      // Once more, for what is known when it fails.
      return prepareTyped(line, isInteractive, onOrder)
    }
  }
}

const keyOf = ({ given, ...caller }: CommandLine, isInteractive: boolean): string => {
  const { environment, startedAs, terminals } = caller
  const words = [[...given.switches], [...given.values], given.rest.length === 0]
  const parts = [words, caller.folder(), environment, startedAs, terminals, isInteractive]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}
