// What was read for a run, while nothing of all that was looked at has changed. Runs of several commands with the same
// other words, folder and variables are read once.
import { createHash } from 'node:crypto'

import { createMemory } from '../platform/index.js'

import type { CommandLine } from '../line/caller.js'
import type { PrepareHooked } from '../hook/hook-seat.js'
import { parseOrder } from '../run/request/run-request.js'
import { prepareRun } from '../run/prepare-run.js'
import { prepareTyped } from '../run/prepare-typed.js'
import type { PrepareTyped } from '../run/prepare-typed.js'
import type { PreparedRun } from '../run/run-gate.js'
import { NotServed } from '../run/run-seat.js'

const MOST_REMEMBERED = 64

export interface RememberedRuns {
  readonly prepareTyped: PrepareTyped
  readonly prepareHooked: PrepareHooked
}

export const rememberRuns = (): RememberedRuns => {
  const memory = createMemory<PreparedRun>(MOST_REMEMBERED)
  const prepare = (line: CommandLine, isInteractive: boolean, kind: Kind): PreparedRun => {
    const prepared = memory.recall(keyOf(line, isInteractive, kind), () => {
      const { order } = parseOrder(line.given, line)
      if (order.policy.credentials.length > 0) throw new NotServed()
      return prepareRun(order, isInteractive, line, kind)
    })
    return { ...prepared, order: { ...prepared.order, argv: line.given.rest } }
  }
  return {
    prepareHooked: (line, mayAsk, kind) => Promise.resolve().then(() => prepare(line, mayAsk, kind)),
    prepareTyped: async (line, isInteractive, onOrder) => {
      try {
        const prepared = prepare(line, isInteractive, 'command')
        onOrder(prepared.order)
        return prepared
      } catch (error) {
        if (error instanceof NotServed) throw error
        // Once more, for what is known when it fails.
        return prepareTyped(line, isInteractive, onOrder)
      }
    },
  }
}

type Kind = Parameters<typeof prepareRun>[3]

const keyOf = ({ given, ...caller }: CommandLine, isInteractive: boolean, kind: Kind): string => {
  const { environment, startedAs, terminals } = caller
  const words = [[...given.switches], [...given.values], given.rest.length === 0]
  const parts = [words, caller.folder(), environment, startedAs, terminals, isInteractive, kind]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}
