// The registry of a runner: every call is decided and claimed already. Its result carries the fence of the claim.
import { fail } from '../errors/errors.js'
import type { Completion, Invocation } from '../store/index.js'
import type { CallRegistry } from 'cordon/runtime'

import { completionOf, outcomeOf } from '../registry/index.js'

/** A call that this runner has claimed. */
export interface ClaimedCall {
  readonly invocation: Invocation
  /** Aborted when the run has to end. */
  readonly ended: AbortSignal
  readonly complete: (completion: Completion) => Promise<void>
}

export interface ClaimedCalls extends CallRegistry {
  readonly add: (call: ClaimedCall) => void
  readonly remove: (id: string) => void
}

export const claimedCalls = (): ClaimedCalls => {
  const calls = new Map<string, ClaimedCall>()
  const nothing = (): Promise<void> => Promise.resolve()
  return {
    execution: 'here',
    add: (call) => {
      calls.set(call.invocation.id, call)
    },
    remove: (id) => {
      calls.delete(id)
    },
    ask: ({ tool, resume = '' }) => {
      const call = calls.get(resume)
      if (call?.invocation.tool !== tool)
        throw fail('store-state', {
          problem: `a runner runs what it has claimed, and it has no call of ${tool}`,
          hint: '',
        })
      const { invocation, ended, complete } = call
      const decision = { kind: 'approved', by: invocation.approvalDecidedBy, hasEnded: false } as const
      return Promise.resolve({
        id: invocation.id,
        cancelled: ended,
        // People were asked already, if needed. So nobody is asked here.
        now: () => Promise.resolve({ kind: 'waiting', because: 'the registry wants it approved' }),
        decision: () => Promise.resolve(decision),
        withdraw: nothing,
        start: nothing,
        complete: (run) => complete(completionOf(run)),
        ended: () => Promise.resolve(outcomeOf(invocation)),
      })
    },
    leave: () => undefined,
    close: nothing,
  }
}
