// What was read for a run, while nothing of all that was looked at has changed. Runs of several commands with the same
// other words, folder and variables are read once.
import { createHash } from 'node:crypto'

import { CordonError } from '../errors/index.js'
import { NotOrdinary, createMemory } from '../platform/index.js'

import type { CommandLine } from '../line/caller.js'
import { OWN_SEAT } from '../hook/hook-seat.js'
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
  /**
   * Undefined: the run is prepared anew. This is so for runs with credentials, and after an error, because preparing
   * again tells `onOrder` what is known.
   */
  const remembered = (line: CommandLine, isInteractive: boolean, kind: Kind): PreparedRun | undefined => {
    try {
      const prepared = memory.recall(keyOf(line, isInteractive, kind), () => {
        const { order } = parseOrder(line.given, line)
        // Nothing keeps the variables of the caller, with whatever secrets they have.
        return { ...prepareRun(order, isInteractive, line, kind), environment: {} }
      })
      const { order } = prepared
      return order.policy.credentials.length > 0 || OF_THE_PROXY.some((name) => line.given.values.has(name))
        ? undefined
        : { ...prepared, environment: line.environment, order: { ...order, argv: line.given.rest } }
    } catch (error) {
      if (error instanceof NotOrdinary) throw new NotServed('a path of it leads through /proc, or to no ordinary file')
      if (error instanceof CordonError) return undefined
      throw error
    }
  }
  return {
    prepareHooked: async (line, mayAsk, kind) => remembered(line, mayAsk, kind) ?? OWN_SEAT.prepare(line, mayAsk, kind),
    prepareTyped: async (line, isInteractive, onOrder) => {
      const prepared = remembered(line, isInteractive, 'command')
      if (prepared === undefined) return prepareTyped(line, isInteractive, onOrder)
      onOrder(prepared.order)
      return prepared
    },
  }
}

/** look.ts does not see how the files of these options are read. */
const OF_THE_PROXY = ['secret', 'resolve', 'upstream-ca']

type Kind = Parameters<typeof prepareRun>[3]

const keyOf = ({ given, ...caller }: CommandLine, isInteractive: boolean, kind: Kind): string => {
  const { environment, startedAs, terminals } = caller
  const words = [[...given.switches], [...given.values], given.rest.length === 0]
  const parts = [words, caller.folder(), environment, startedAs, terminals, isInteractive, kind]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}
