import type { CordonError } from '../../errors/index.js'
import type { Evaluation, Gate, GateTool, JsonValue, PermissionDecision } from '../../gate/index.js'
import type { ManifestVerdict } from '../../manifest/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import type { AppliedProfile } from '../../sandbox/index.js'

import type { ApprovalSettings } from '../approvals.js'
import type { EventStream } from '../events/event-stream.js'
import type { RecordSettings } from '../events/recorded-arguments.js'
import type { NetworkCall } from '../network/call-networks.js'
import type { RegisteredCalls } from '../registry/registered-calls.js'
import type { Execution, ToolLog, ToolOutput } from '../result/tool-result.js'
import type { Suspension } from '../suspend/suspended-call.js'
import type { BoundTool } from '../tools/bound-tool.js'

/** The part of a tool that the steps of a call use. Its runner knows more. */
export interface CallTool {
  readonly gate: GateTool
  readonly cwd: AbsolutePath
}

/** The parts of a runtime that all its calls share. */
export interface CallServices<Tool extends CallTool = BoundTool> {
  readonly gate: Gate
  readonly events: EventStream
  readonly tools: ReadonlyMap<string, Tool>
  readonly runner: ToolRunner<Tool>
  readonly approval: ApprovalSettings | undefined
  /** Undefined without a registry. */
  readonly registeredCalls: RegisteredCalls | undefined
  /** Undefined where calls cannot be suspended. */
  readonly suspension?: Suspension | undefined
  /** How a tool stands to the manifest. Undefined without one. */
  readonly manifestOf: (tool: string) => ManifestVerdict | undefined
  readonly record: RecordSettings
  readonly now: () => number
  /** False if mode, rules or tools have changed since the evaluation. Undefined where they cannot change. */
  readonly isCurrent?: (evaluation: Evaluation) => boolean
  /** Tools that do not run any more, with the reason. */
  readonly stopped: WeakMap<CallTool, string>
  /** Called when a call comes in: the caller's span becomes the parent of the call's span. */
  readonly begin: (callId: string) => void
  /** For a call that could not start: the decision that replaces its permit, if any does. */
  readonly revise?: (decision: PermissionDecision, error: CordonError) => PermissionDecision | undefined
}

/** Undefined where the call has no cell of its own. */
export type BeforeStart = (applied: AppliedProfile | undefined) => Promise<void>

/** A decision with a permit. */
export type Permitted = Extract<Evaluation, { kind: 'permitted' }>

/** Runs calls that have shown their permit. */
export interface ToolRunner<Tool extends CallTool> {
  /** The process that a call starts, if it starts one. */
  readonly processOf: (
    tool: Tool,
    inputs: Evaluation['inputs'],
  ) => { readonly program: string; readonly words: readonly string[] } | undefined
  readonly run: (tool: Tool, call: PermittedCall) => Promise<Execution>
}

export interface PermittedCall {
  /** The frozen copy that the gate judged. */
  readonly input: JsonValue
  /** For a process tool: the words that the gate judged. */
  readonly command: readonly string[] | undefined
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: JsonValue) => void
  readonly onOutput: ((chunk: ToolOutput) => void) | undefined
  readonly onLog: (line: ToolLog) => void
  /** For the context of a function tool. */
  readonly callId: string
  readonly session: string
  /** Called when the cell is ready. If it rejects, the process is not started. */
  readonly beforeStart: BeforeStart
  readonly network: NetworkCall
  /** For the server of an MCP tool. */
  readonly attachment: unknown
}
