import type { GateCall } from '../../gate/index.js'
import { describeViolation, isHabit } from '../../sandbox/index.js'

import { namedIn } from '../result/agent-words.js'
import { attemptCall } from './attempt.js'
import type { CallHandlers } from '../call-outcome.js'
import type { CallServices } from './call-services.js'
import type { ToolResult } from '../result/tool-result.js'
import { widerTool } from './wider-tool.js'

/**
 * A call as the caller sees it. In the mode on_failure one that met its boundary may run a second time
 * with more, when somebody approves: a call of its own, with its own decision, permit and record.
 */
export const liveCall = async (services: CallServices, call: GateCall, handlers: CallHandlers): Promise<ToolResult> => {
  services.begin(call.callId)
  services.registeredCalls?.expect(call.callId, handlers)
  const first = await attemptCall(services, call, handlers)
  const tool = services.tools.get(call.tool)
  if (services.mode !== 'on_failure' || first.status !== 'violated' || tool === undefined || handlers.signal?.aborted === true) return first
  const { violations } = first.facts
  const wider = widerTool(tool, violations.filter((each) => !isHabit(each, [namedIn(call.input)])), services)
  if (wider === undefined) return first

  const refused = violations.slice(0, MOST_TOLD).map(describeViolation).join('; ')
  const retry: GateCall = {
    ...call,
    callId: services.newId(),
    widening: { after: 'violation', reason: `it ran and met its boundary (${refused}); to run again with ${wider.added.join(', ')}`, retryOf: call.callId, added: wider.added },
  }
  services.begin(retry.callId)
  services.registeredCalls?.expect(retry.callId, { onInvocation: handlers.onInvocation, askedWith: handlers.askedWith, resume: undefined })
  const second = await attemptCall(services, retry, handlers, wider.tool)
  // Not approved: then the call is what it was, and its record tells what was asked.
  if (second.facts.permission_decision.decision === 'deny' || second.status === 'denied') return { ...first, facts: { ...first.facts, retry: { call_id: retry.callId, permission_decision: second.facts.permission_decision } } }
  return { ...second, facts: { ...second.facts, first_attempt: first.facts } }
}

const MOST_TOLD = 5
