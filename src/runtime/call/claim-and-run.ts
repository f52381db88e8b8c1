import { CordonError, fail } from '../../errors/index.js'

import { NOTHING_RAN } from '../call-outcome.js'
import type { CallHandlers, Outcome } from '../call-outcome.js'
import type { RegisteredCalls } from '../registry/index.js'
import type { CallServices, CallTool, Permitted } from './call-services.js'
import { runPermitted } from './run-permitted.js'

/**
 * With a registry, a call is claimed before it begins, so that nobody else runs it, and completed before its caller
 * hears of it.
 */
export const claimAndRun = async <Tool extends CallTool>(
  services: CallServices<Tool>,
  tool: Tool,
  evaluation: Permitted,
  handlers: CallHandlers,
): Promise<Outcome> => {
  const { registeredCalls } = services
  if (registeredCalls === undefined) return runPermitted(services, tool, evaluation, handlers)
  const { call_id: callId } = evaluation.decision
  if (!registeredCalls.isAsked(callId))
    return {
      ...NOTHING_RAN,
      status: 'not_started',
      error: fail('store-state', {
        problem: 'the registry was not asked about this call',
        hint: 'let somebody answer in time',
      }),
    }
  if (registeredCalls.isElsewhere(callId)) return runElsewhere(registeredCalls, callId, handlers)
  const invocation = registeredCalls.idOf(callId)
  let cancelled: AbortSignal
  try {
    cancelled = await registeredCalls.start(callId)
  } catch (error) {
    await registeredCalls.drop(callId)
    if (!(error instanceof CordonError)) throw error
    return { ...NOTHING_RAN, status: 'not_started', error }
  }
  const signal = handlers.signal === undefined ? cancelled : AbortSignal.any([handlers.signal, cancelled])
  const outcome = await runPermitted(services, tool, evaluation, { ...handlers, signal }).catch(
    async (error: unknown) => {
      // It is claimed and will not run, or its end could not be recorded: nobody has to wait for it.
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
    // It ran, and the registry does not say so. A person has to look at it there.
    return { ...outcome, status: 'failed', output: undefined, error }
  }
}

/** A runner on another host takes the call from the registry and writes its result there, or has done so before. */
const runElsewhere = async (
  registeredCalls: RegisteredCalls,
  callId: string,
  handlers: CallHandlers,
): Promise<Outcome> => {
  try {
    return { ...NOTHING_RAN, ...(await registeredCalls.elsewhere(callId, handlers)) }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return {
      ...NOTHING_RAN,
      status: error.code === 'cancelled' || error.code === 'runtime-closed' ? 'cancelled' : 'failed',
      error,
    }
  }
}
