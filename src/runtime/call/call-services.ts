import type { CordonError } from '../../errors/index.js'
import type { Evaluation, Gate, GateTool, JsonValue, PermissionDecision } from '../../gate/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import type { ApprovalSettings } from '../approvals.js'
import type { EventStream } from '../events/event-stream.js'
import type { RecordSettings } from '../events/recorded-arguments.js'
import type { NetworkCall } from '../network/call-networks.js'
import type { RegisteredCalls } from '../registry/registered-calls.js'
import type { Execution, ToolOutput } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'

/** What the steps of a call need to know of a tool. Its runner knows more. */
export interface CallTool {
  readonly gate: GateTool
  readonly cwd: AbsolutePath
}

/** What every call of one runtime uses. */
export interface CallServices<Tool extends CallTool = BoundTool> {
  readonly gate: Gate
  readonly events: EventStream
  readonly tools: ReadonlyMap<string, Tool>
  readonly runner: ToolRunner<Tool>
  readonly approval: ApprovalSettings | undefined
  /** Undefined where no registry keeps the calls. */
  readonly registeredCalls: RegisteredCalls | undefined
  readonly record: RecordSettings
  readonly now: () => number
  /** Called when a call comes in: the caller's span becomes the parent of the call's span. */
  readonly begin: (callId: string) => void
  /** The decision that replaces a permit where the call could not start; undefined where the permit stands. */
  readonly revise?: (decision: PermissionDecision, error: CordonError) => PermissionDecision | undefined
}

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
  /** The copy that was judged, whatever the caller did to its own object since. */
  readonly input: JsonValue
  /** Of a process tool: the words that the gate has judged. */
  readonly command: readonly string[] | undefined
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: JsonValue) => void
  readonly onOutput: ((chunk: ToolOutput) => void) | undefined
  /** Called when the cell is ready. Where it rejects, the process is not started. */
  readonly beforeStart: () => Promise<void>
  /** The name of the call on the network, and whether somebody approved it. */
  readonly network: NetworkCall
}
