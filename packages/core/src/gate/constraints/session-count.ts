import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import { constraintDenial } from './constraints.js'
import type { Constraints } from './constraints.js'
import { NEW_SESSION_COUNT, inARow, startedInAll, withCompleted, withStarted } from './session-count-state.js'
import type { SessionCountState } from './session-count-state.js'

/** The limits of one session. An omitted limit is not set. */
export interface SessionBudget {
  readonly toolCalls?: number
  readonly sameToolInARow?: number
  readonly argumentBytes?: number
  /** Milliseconds from the first call. */
  readonly duration?: number
}

interface PlannedCall {
  readonly tool: string
  readonly constraints: Constraints
  readonly argumentBytes: number
}

/** The running count of one session. It is the only mutable value of this room. */
export interface SessionCount {
  readonly denial: (call: PlannedCall, now: number) => CordonError | undefined
  /** Checks once more and counts, in one step: of two concurrent calls only one gets the last place. */
  readonly begin: (call: PlannedCall, now: number) => CordonError | undefined
  readonly complete: (tool: string) => void
  readonly state: () => SessionCountState
}

export const createSessionCount = ({
  state: initial = NEW_SESSION_COUNT,
  budget = {},
}: { readonly state?: SessionCountState; readonly budget?: SessionBudget } = {}): SessionCount => {
  let state = initial
  const denial: SessionCount['denial'] = (call, now) =>
    constraintDenial(call.tool, call.constraints, state) ?? budgetDenial(call, budget, state, now)
  return {
    denial,
    begin: (call, now) => {
      const denied = denial(call, now)
      if (denied === undefined) state = withStarted(state, call.tool, now)
      return denied
    },
    complete: (tool) => {
      state = withCompleted(state, tool)
    },
    state: () => state,
  }
}

const budgetDenial = (
  { tool, argumentBytes }: PlannedCall,
  budget: SessionBudget,
  state: SessionCountState,
  now: number,
): CordonError | undefined => {
  const over = (text: string) => fail('budget-exhausted', { tool, budget: text })
  const { toolCalls = Infinity, sameToolInARow = Infinity, argumentBytes: mostBytes = Infinity } = budget
  const { duration = Infinity } = budget
  if (startedInAll(state) >= toolCalls) return over(`${toolCalls} tool calls`)
  if (inARow(state, tool) >= sameToolInARow) return over(`the same tool ${sameToolInARow} times in a row`)
  if (argumentBytes > mostBytes) return over(`${mostBytes} bytes of arguments`)
  return now - (state.began_at ?? now) > duration ? over(`${duration} ms`) : undefined
}
