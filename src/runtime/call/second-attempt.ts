import type { GateCall, Mode } from '../../gate/index.js'
import { describeViolation, isHabit } from '../../sandbox/index.js'

import type { CallHandlers } from '../call-outcome.js'
import { namedIn } from '../result/agent-words.js'
import type { ToolResult } from '../result/tool-result.js'
import type { CallServices } from './call-services.js'
import { performCall } from './life-of-a-call.js'
import { widerTool } from './wider-tool.js'
import type { Widener } from './wider-tool.js'

export interface CallingServices extends CallServices, Widener {
  readonly mode: Mode
  readonly newId: () => string
}

/**
 * A call as the caller sees it. In the mode on_failure a call that met its boundary may run a second time with
 * more, when somebody approves. That is a call of its own, with its own decision, permit and record.
 */
export const callTool = async (
  services: CallingServices,
  call: GateCall,
  handlers: CallHandlers,
): Promise<ToolResult> => {
  const { result: first } = await performCall(services, call, handlers)
  const tool = services.tools.get(call.tool)
  if (
    services.mode !== 'on_failure' ||
    first.status !== 'violated' ||
    tool === undefined ||
    handlers.signal?.aborted === true
  )
    return first
  const { violations } = first.facts
  const wider = widerTool(
    tool,
    violations.filter((each) => !isHabit(each, [namedIn(call.input)])),
    services,
  )
  if (wider === undefined) return first

  const refused = violations.slice(0, MOST_NAMED).map(describeViolation).join('; ')
  const retry: GateCall = {
    ...call,
    callId: services.newId(),
    widening: {
      after: 'violation',
      reason: `it ran and met its boundary (${refused}); to run again with ${wider.added.join(', ')}`,
      retryOf: call.callId,
      added: wider.added,
    },
  }
  const { result: second } = await performCall(services, retry, { ...handlers, resume: undefined }, wider.tool)
  const { permission_decision } = second.facts
  // Not approved: the first result stands, and its facts say what was asked.
  if (permission_decision.decision === 'deny' || second.status === 'denied')
    return { ...first, facts: { ...first.facts, retry: { call_id: retry.callId, permission_decision } } }
  return { ...second, facts: { ...second.facts, first_attempt: first.facts } }
}

const MOST_NAMED = 5
