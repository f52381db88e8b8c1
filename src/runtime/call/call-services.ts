import type { Evaluation, Gate, Mode } from '../../gate/index.js'
import type { CordonError } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import type { Outcome } from '../call-outcome.js'
import type { ApprovalSettings } from '../approvals.js'
import type { EventStream } from '../events/event-stream.js'
import type { RecordSettings } from '../events/recorded-arguments.js'
import type { Executor } from './execute.js'
import type { RegisteredCalls } from '../registry/registered-calls.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { CallFacts, CallUsage, Execution } from '../result/tool-result.js'
import type { ToolDefinition } from '../tools/tools.js'

/** What every call of one runtime uses. */
export interface CallServices {
  readonly gate: Gate
  readonly events: EventStream
  readonly tools: ReadonlyMap<string, BoundTool>
  /** A tool as this runtime would know it, with what it holds apart from every tool. */
  readonly bind: (definition: ToolDefinition) => BoundTool
  /** Folders that no call is given in addition, whoever would approve it. */
  readonly withheld: readonly AbsolutePath[]
  readonly executor: Executor
  readonly approval: ApprovalSettings | undefined
  /** Where calls are in the registry of a team. */
  readonly registeredCalls: RegisteredCalls | undefined
  readonly record: RecordSettings
  readonly mode: Mode
  readonly sessionId: string
  readonly newId: () => string
  /** Where a call comes in: the caller's span becomes the parent of its own. */
  readonly begin: (callId: string) => void
}

const usageOf = (usage: Execution['usage']): CallUsage | null =>
  usage === null ? null : { wall_ms: usage.wallMs, cpu_ms: usage.cpuMs, max_rss_bytes: usage.maxResidentBytes, peak_memory_bytes: usage.peakMemoryBytes ?? null }

export const factsOf = ({ gate, sessionId }: CallServices, { decision }: Evaluation, outcome: Outcome | undefined, error: CordonError | undefined): CallFacts => ({
  call_id: decision.call_id,
  session_id: sessionId,
  tool: decision.tool,
  permission_state: gate.state(),
  permission_decision: decision,
  sandbox_profile: outcome?.profile ?? null,
  violations: outcome?.violations ?? [],
  egress: outcome?.egress ?? null,
  ...(outcome?.bareRequests === undefined || outcome.bareRequests.length === 0 ? {} : { bare_requests: outcome.bareRequests }),
  usage: usageOf(outcome?.usage ?? null),
  error: error === undefined ? null : { code: error.code, message: error.message, fix: error.fix ?? null },
  printed: outcome?.printed ?? '',
  ...(outcome?.registered === undefined ? {} : { registered: outcome.registered }),
})
