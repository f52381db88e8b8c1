import type {
  ApprovalAnswer,
  Evaluation,
  HookSubject,
  HookVerdict,
  JsonValue,
  Mode,
  PermissionState,
  RuleInput,
  RuleSet,
  RuleSetInput,
} from '../gate/index.js'

import type { StreamPart } from './call/call-stream.js'
import type { CallOptions, ResumedCallOptions, StreamOptions, UnconfinedOptions } from './cordon-options.js'
import type { Listener } from './events/event-stream.js'
import type { EventType } from './events/event-parts.js'
import type { ListedTool } from './model/list-tools.js'
import type { ToolResult } from './result/tool-result.js'
import type { InputOf, OutputOfTool, ToolDefinition, ToolOf } from './tools/tools.js'

/** Runs tools: every call is decided, recorded and confined. Two runtimes share nothing. */
export interface Cordon<Tools extends readonly ToolDefinition[] = readonly ToolDefinition[]> {
  readonly call: Call<Tools>
  /**
   * Goes on with a suspended call, in this process or another one. The call is gated again, and runs only if nothing
   * has become stricter. With a registry people answer there, and `answer` is left out.
   */
  readonly resume: (ticket: string, answer?: ApprovalAnswer, options?: ResumedCallOptions) => Promise<ToolResult>
  /**
   * Runs a process tool **without a sandbox**: a plain process with all rights of this user. `call` never does that.
   * Each call is decided and recorded like any other, needs the approval of a person, and prints a warning on stderr.
   */
  readonly runUnconfined: (name: string, input?: unknown, options?: UnconfinedOptions) => Promise<ToolResult>
  /** Decides without running, asking or counting. */
  readonly evaluate: (name: string, input?: unknown, options?: Pick<CallOptions, 'session'>) => Promise<Evaluation>
  /**
   * Gives output, progress and log lines while the call runs, and its result last. The call begins with the first read.
   * Leaving the loop early cancels it.
   */
  readonly callStream: CallStream<Tools>
  /**
   * Opens the sandbox before the first call, and makes a cell ready for a tool. A process tool needs the input of a
   * call, which names its program.
   */
  readonly prewarm: (name?: string, input?: unknown) => Promise<void>
  /** Runs a call as a model gave it. Arguments that are not JSON are recorded as a call that was refused. */
  readonly callFromModel: (call: ModelCall, options?: CallOptions) => Promise<ToolResult>
  /** For the model: names, descriptions, JSON Schemas and what the policies guarantee. */
  readonly listTools: () => readonly ListedTool[]
  /** These changes hold for later calls. A call that is being decided is refused, because it was judged before. */
  readonly setMode: (mode: Mode) => Promise<void>
  /** Adds a rule set of this session. It replaces an earlier one of the same name. */
  readonly addRules: (name: string, rules: RuleSet | RuleSetInput | readonly RuleInput[]) => Promise<void>
  readonly removeRules: (name: string) => Promise<void>
  readonly addTool: (...tools: readonly ToolDefinition[]) => Promise<void>
  /** Calls that run go on. */
  readonly removeTool: (name: string) => Promise<void>
  readonly on: <Type extends EventType | '*'>(type: Type, listener: Listener<Type>) => () => void
  readonly state: () => PermissionState
  /** Counts and approvals of all sessions, sealed. `state.resume` of another runtime continues with them. */
  readonly exportState: () => string
  /** Forgets a session. A later call with its name begins a new one. */
  readonly endSession: (session: string) => void
  /** Runs the hooks of a point that only the host sees. */
  readonly runHooks: (
    point: 'user_prompt_submit' | 'post_sampling',
    subject: Pick<HookSubject, 'input' | 'output' | 'reason'>,
  ) => Promise<HookVerdict>
  /** Rules of files that name tools which this runtime does not have, and variables of policies that are not set. */
  readonly warnings: readonly string[]
  /** Text that hooks want the model to read from the start. */
  readonly context: readonly string[]
  readonly close: () => Promise<void>
  /** The same as `close`, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** How a call answers. */
interface Answers<Output = JsonValue> {
  readonly result: Promise<ToolResult<Output>>
  readonly stream: AsyncIterableIterator<StreamPart<Output>>
}

/** A call without an input gets an empty mapping. */
interface CallWith<Tools extends readonly ToolDefinition[], Answer extends keyof Answers, Options> {
  /** With a name that the compiler does not know, such as one that a model gave. */
  <const Name extends string>(
    name: string extends Name ? Name : never,
    input?: unknown,
    options?: Options,
  ): Answers[Answer]
  <const Name extends Tools[number]['name']>(
    name: Name,
    ...rest: CallInput<InputOf<ToolOf<Tools, Name>>, Options>
  ): Answers<OutputOfTool<ToolOf<Tools, Name>>>[Answer]
}

export type Call<Tools extends readonly ToolDefinition[]> = CallWith<Tools, 'result', CallOptions>
type CallStream<Tools extends readonly ToolDefinition[]> = CallWith<Tools, 'stream', StreamOptions>

type CallInput<Input, Options> = object extends Input
  ? [input?: Input, options?: Options]
  : [input: Input, options?: Options]

/** A call as a model gives it. */
export interface ModelCall {
  /** A name of `listTools()`: `name` or `modelName`. */
  readonly name: string
  /** A value, or the JSON text of one. An empty text is an empty object: some providers send that. */
  readonly arguments?: unknown
}
