import { CordonError } from '../../errors/index.js'

import { NOTHING_RAN } from '../call-outcome.js'
import type { CallHandlers, CallOutcome } from '../call-outcome.js'
import type { RegisteredCalls } from '../registry/registered-calls.js'
import type { CallServices, CallTool, Permitted } from './call-services.js'
import { runPermitted } from './run-permitted.js'

/**
 * With a registry, a call is claimed before it runs, so that no other process runs it. It is completed there before its
 * caller gets the result.
 */
export const claimAndRun = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  tool: Tool,
  evaluation: Permitted,
  handlers: CallHandlers,
): Promise<CallOutcome> => {
  const { registeredCalls } = services
  if (registeredCalls === undefined) return runPermitted(services, tool, evaluation, handlers)
  const { call_id: callId } = evaluation.decision
  if (registeredCalls.isElsewhere(callId)) return runElsewhere(registeredCalls, callId, handlers)
  let started: Awaited<ReturnType<RegisteredCalls['start']>>
  try {
    started = await registeredCalls.start(callId)
  } catch (error) {
    await registeredCalls.drop(callId)
    if (!(error instanceof CordonError)) throw error
    return { ...NOTHING_RAN, status: 'not_started', error }
  }
  const { invocation, cancelled } = started
  const signal = handlers.signal === undefined ? cancelled : AbortSignal.any([handlers.signal, cancelled])
  const outcome = await runPermitted(services, tool, evaluation, { ...handlers, signal }).catch(
    async (error: unknown) => {
      // It will not run, or its end could not be recorded: the registry must not wait for it.
      const known = error instanceof CordonError ? error : undefined
      const status = known?.code === 'end-not-recorded' ? 'failed' : 'not_started'
      await registeredCalls.complete(callId, { ...NOTHING_RAN, status, error: known }).catch(() => undefined)
      throw error
    },
  )
  try {
    await registeredCalls.complete(callId, outcome)
    return { ...outcome, registered: { invocation, runner: null, boundary: null } }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    // It ran, and the registry does not know. A person has to look at it there.
    return { ...outcome, status: 'failed', output: undefined, error }
  }
}

/** Another runner runs the call, or has run it before. The registry has its result. */
const runElsewhere = async (
  registeredCalls: RegisteredCalls,
  callId: string,
  handlers: CallHandlers,
): Promise<CallOutcome> => {
  try {
    const wait = () => registeredCalls.elsewhere(callId, handlers)
    return { ...NOTHING_RAN, ...(await (handlers.turn?.lentDuring(wait) ?? wait())) }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return {
      ...NOTHING_RAN,
      status: error.code === 'cancelled' || error.code === 'runtime-closed' ? 'cancelled' : 'failed',
      error,
    }
  }
}
