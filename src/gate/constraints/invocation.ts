import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import { constraintDenial } from './constraints.js'
import type { Constraints } from './constraints.js'
import { NEW_INVOCATION, inARow, startedInAll, withCompleted, withStarted } from './invocation-state.js'
import type { InvocationState } from './invocation-state.js'

/** What one invocation may do in all. An absent bound is not set. */
export interface InvocationBudget {
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

/** The running count of one invocation. The only thing here that changes, so each run has its own. */
export interface Invocation {
  readonly denial: (call: PlannedCall, now: number) => CordonError | undefined
  /** Looks once more and counts, in one step: of two calls at a time only one gets the last place. */
  readonly begin: (call: PlannedCall, now: number) => CordonError | undefined
  readonly complete: (tool: string) => void
  readonly state: () => InvocationState
}

export const createInvocation = ({ state: initial = NEW_INVOCATION, budget = {} }: { readonly state?: InvocationState; readonly budget?: InvocationBudget } = {}): Invocation => {
  let state = initial
  const denial: Invocation['denial'] = (call, now) => constraintDenial(call.tool, call.constraints, state) ?? budgetDenial(call, budget, state, now)
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

const budgetDenial = ({ tool, argumentBytes }: PlannedCall, budget: InvocationBudget, state: InvocationState, now: number): CordonError | undefined => {
  const over = (text: string) => fail('budget-exhausted', { tool, budget: text })
  if (budget.toolCalls !== undefined && startedInAll(state) >= budget.toolCalls) return over(`${budget.toolCalls} tool calls`)
  if (budget.sameToolInARow !== undefined && inARow(state, tool) >= budget.sameToolInARow) return over(`the same tool ${budget.sameToolInARow} times in a row`)
  if (budget.argumentBytes !== undefined && argumentBytes > budget.argumentBytes) return over(`${budget.argumentBytes} bytes of arguments`)
  if (budget.duration !== undefined && state.began_at !== null && now - state.began_at > budget.duration) return over(`${budget.duration} ms`)
  return undefined
}
