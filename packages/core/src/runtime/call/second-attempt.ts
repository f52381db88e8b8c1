// A call as the caller sees it. In the mode on_failure it may run a second time with a wider policy.
import { randomUUID } from 'node:crypto'

import type { GateCall } from '../../gate/index.js'
import { describeViolation, isHabit } from '../../sandbox/index.js'

import type { CallHandlers } from '../call-outcome.js'
import { namedIn } from '../result/agent-words.js'
import type { ToolResult } from '../result/tool-result.js'
import type { CallServices } from './call-services.js'
import { performCall } from './life-of-a-call.js'
import { widerTool } from './wider-tool.js'
import type { Widener } from './wider-tool.js'

/**
 * In the mode on_failure a call that met its boundary may run again with more, if somebody approves. `widenerNow` gives
 * a widener only in that mode, which may have changed since the call began.
 * The second attempt is a call of its own, with its own decision, permit and record.
 */
export const callTool = async (
  services: CallServices,
  call: GateCall,
  handlers: CallHandlers,
  widenerNow: () => Widener | undefined,
): Promise<ToolResult> => {
  const { result: first } = await performCall(services, call, handlers)
  const tool = services.tools.get(call.tool)
  const widener = widenerNow()
  if (widener === undefined || first.status !== 'violated' || tool === undefined || handlers.signal?.aborted === true)
    return first
  const { violations } = first.facts
  const wider = widerTool(
    tool,
    violations.filter((each) => !isHabit(each, [namedIn(call.input)])),
    widener,
  )
  if (wider === undefined) return first

  const refused = violations.slice(0, MOST_NAMED).map(describeViolation).join('; ')
  const retry: GateCall = {
    ...call,
    callId: randomUUID(),
    // Only this process has the wider policy, so this question cannot be suspended.
    mayAsk: services.approval !== undefined,
    widening: {
      after: 'violation',
      reason: `it ran and met its boundary (${refused}); to run again with ${wider.added.join(', ')}`,
      retryOf: call.callId,
      added: wider.added,
    },
  }
  const { result: second } = await performCall(services, retry, { ...handlers, ...HERE_AND_NOW }, wider.tool)
  const { permission_decision } = second.facts
  // Not approved: the first result stands, and its facts name the second decision.
  if (permission_decision.decision === 'deny' || second.status === 'denied')
    return { ...first, facts: { ...first.facts, retry: { call_id: retry.callId, permission_decision } } }
  return { ...second, facts: { ...second.facts, first_attempt: first.facts } }
}

const HERE_AND_NOW = { resume: undefined, isSuspending: false, resumed: undefined } as const

const MOST_NAMED = 5
