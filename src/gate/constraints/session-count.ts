import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import { constraintDenial } from './constraints.js'
import type { Constraints } from './constraints.js'
import { NEW_SESSION_COUNT, inARow, startedInAll, withCompleted, withStarted } from './session-count-state.js'
import type { SessionCountState } from './session-count-state.js'

/** What one session may do in all. An absent bound is not set. */
export interface SessionBudget {
  readonly toolCalls?: number
  readonly sameToolInARow?: number
  readonly argumentBytes?: number
  /** Milliseconds from the first call. */
  readonly duration?: number
}

export interface PlannedCall {
  readonly tool: string
  readonly constraints: Constraints
  readonly argumentBytes: number
}

/** The running count of one session. The only thing here that changes, so each session has its own. */
export interface SessionCount {
  readonly denial: (call: PlannedCall, now: number) => CordonError | undefined
  /** Looks once more and counts, in one step: of two calls at a time only one gets the last place. */
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
  if (budget.toolCalls !== undefined && startedInAll(state) >= budget.toolCalls)
    return over(`${budget.toolCalls} tool calls`)
  if (budget.sameToolInARow !== undefined && inARow(state, tool) >= budget.sameToolInARow)
    return over(`the same tool ${budget.sameToolInARow} times in a row`)
  if (budget.argumentBytes !== undefined && argumentBytes > budget.argumentBytes)
    return over(`${budget.argumentBytes} bytes of arguments`)
  if (budget.duration !== undefined && state.began_at !== null && now - state.began_at > budget.duration)
    return over(`${budget.duration} ms`)
  return undefined
}
