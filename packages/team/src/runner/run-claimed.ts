// Runs one claimed call, up to its completion.
import { CordonError, messageOf } from 'cordon/errors'
import type { Cordon, CallRegistry } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { deliverCompletion, watchClaim, completionOf, outcomeOf } from '../registry/index.js'
import { appendOutput, completeInvocation, requireInvocation } from '../store/index.js'
import type { Completion, Engine, Invocation, InvocationWatch } from '../store/index.js'
import { relayOutput } from './output-relay.js'

/** What a runner reports to people. */
export type RunnerNews =
  | { readonly kind: 'ready'; readonly runner: string; readonly holds: readonly string[] }
  | { readonly kind: 'serving'; readonly tasks: number }
  | { readonly kind: 'left-to-others'; readonly tool: string; readonly because: string }
  | { readonly kind: 'began'; readonly invocation: string; readonly tool: string }
  /** A request went without the credential of its host. */
  | { readonly kind: 'without-credential'; readonly invocation: string; readonly because: string }
  | { readonly kind: 'ended'; readonly invocation: string; readonly status: string }
  /** The result was refused: another runner has the call by now. */
  | { readonly kind: 'refused'; readonly invocation: string; readonly because: string }
  /** The heartbeats do not arrive. The calls were ended. */
  | { readonly kind: 'lost'; readonly calls: number }
  | { readonly kind: 'trouble'; readonly because: string }
  | { readonly kind: 'draining'; readonly calls: number }

interface ClaimedRun {
  readonly engine: Engine
  readonly watch: InvocationWatch
  readonly calls: ClaimedCalls
  readonly cordon: Cordon
  readonly tell: (news: RunnerNews) => void
  /** Aborted to stop delivering results. */
  readonly enough: AbortSignal
}

/** `ended`: ends the run. Never rejects: the database gets every outcome. */
export const runClaimed = async (
  { engine, watch, calls, cordon, tell, enough }: ClaimedRun,
  invocation: Invocation,
  ended: AbortController,
): Promise<void> => {
  const { id, tool, input } = invocation
  const relay = relayOutput((chunk) => appendOutput(engine, invocation, chunk))
  const over = new AbortController()
  let delivered: Promise<void> | undefined
  const complete = async (completion: Completion): Promise<void> => {
    await relay.end()
    delivered = deliverCompletion(
      {
        complete: (claimed, with_) => completeInvocation(engine, claimed, with_),
        find: (wanted) => requireInvocation(engine, wanted),
      },
      invocation,
      completion,
      enough,
    )
    await delivered
  }
  watchClaim(invocation, (until, signal) => watch.wait(engine, id, { until, signal }), ended, over.signal)
  calls.add({ invocation, ended: ended.signal, complete })
  tell({ kind: 'began', invocation: id, tool })
  try {
    const { status, reason, facts } = await cordon.call(tool, input, {
      invocation: id,
      signal: ended.signal,
      onOutput: ({ stream, text }) => {
        relay.say(stream, text)
      },
      onProgress: (value) => {
        relay.say('progress', JSON.stringify(value ?? null))
      },
    })
    // This host refused the call: by its rules, or because it cannot enforce the boundary.
    if (delivered === undefined)
      await complete({
        status: 'failed',
        error: `the runner did not run it: ${reason ?? status}`,
        usage: { status, reason: reason ?? 'The call was refused by the host that would have run it.' },
      })
    else await delivered
    for (const because of facts.bare_requests ?? []) tell({ kind: 'without-credential', invocation: id, because })
    tell({ kind: 'ended', invocation: id, status })
  } catch (error) {
    await (delivered === undefined ? complete(failedBy(error)) : delivered).catch((problem: unknown) => {
      tell({ kind: 'refused', invocation: id, because: messageOf(problem) })
    })
  } finally {
    over.abort()
    calls.remove(id)
  }
}

const failedBy = (error: unknown): Completion => ({
  status: 'failed',
  error: error instanceof CordonError ? `${error.code}: ${error.message}` : messageOf(error),
  usage: { status: 'failed', ...(error instanceof CordonError ? { reason: error.agentMessage } : {}) },
})

/** A call that this runner has claimed. */
interface ClaimedCall {
  readonly invocation: Invocation
  /** Aborted when the run has to end. */
  readonly ended: AbortSignal
  readonly complete: (completion: Completion) => Promise<void>
}

interface ClaimedCalls extends CallRegistry {
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
