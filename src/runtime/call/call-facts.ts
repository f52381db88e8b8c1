import type { CordonError } from '../../errors/index.js'
import type { PermissionDecision } from '../../gate/index.js'

import type { Outcome } from '../call-outcome.js'
import type { CallFacts, CallUsage, Execution } from '../result/tool-result.js'
import type { CallServices, CallTool } from './call-services.js'

/** In the words of records. */
export const usageOf = (usage: Execution['usage']): CallUsage | null =>
  usage === null
    ? null
    : {
        wall_ms: usage.wallMs,
        cpu_ms: usage.cpuMs,
        max_rss_bytes: usage.maxResidentBytes,
        peak_memory_bytes: usage.peakMemoryBytes ?? null,
      }

/** What the operator can read about a call. */
export const factsOf = <Tool extends CallTool>(
  { gate, events }: CallServices<Tool>,
  decision: PermissionDecision,
  outcome: Outcome | undefined,
  error: CordonError | undefined,
): CallFacts => ({
  call_id: decision.call_id,
  session_id: events.sessionId,
  tool: decision.tool,
  permission_state: gate.state(),
  permission_decision: decision,
  sandbox_profile: outcome?.profile ?? null,
  violations: outcome?.violations ?? [],
  egress: outcome?.egress ?? null,
  ...(outcome?.bareRequests === undefined || outcome.bareRequests.length === 0
    ? {}
    : { bare_requests: outcome.bareRequests }),
  usage: usageOf(outcome?.usage ?? null),
  error: error === undefined ? null : { code: error.code, message: error.message, fix: error.fix ?? null },
  printed: outcome?.printed ?? '',
  ...(outcome?.registered === undefined ? {} : { registered: outcome.registered }),
})
