// Runs one claimed call, up to its completion.
import { CordonError, messageOf } from 'cordon/errors'
import { appendOutput, completeInvocation, requireInvocation } from '../store/index.js'
import type { Completion, Engine, Invocation, InvocationWatch } from '../store/index.js'

import type { Cordon } from 'cordon/runtime'
import { deliverCompletion, watchClaim } from '../registry/index.js'

import type { ClaimedCalls } from './claimed-calls.js'
import { relayOutput } from './output-relay.js'
import type { RunnerNews } from './runner-options.js'

export interface ClaimedRun {
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
