import type { ConstraintsInput, DestructiveFacts } from '../../gate/index.js'
import type { PolicyInput } from '../../policy/index.js'

import type { LogLevel } from '../result/tool-result.js'
import type { ResultLimits } from '../result/result-limits.js'
import type { InputSchema } from './schema-type.js'

/** What a function tool gets beside its input. */
export interface ToolContext {
  /** Tells the caller how far it is; any value that has a JSON form. */
  readonly progress: (value: unknown) => void
  /**
   * Aborted when the function should stop: at its time limit, or when its caller cancels. Only a tool in the agent's
   * own process sees that. A cell is ended with everything in it.
   */
  readonly signal: AbortSignal
  /** The id of this call in events and in the audit log. */
  readonly callId: string
  /** The name of the session that the call belongs to. */
  readonly session: string
  /** For the operator, not for the model: `onLog` of the call gets each line, and `facts.printed` keeps them. */
  readonly logger: ToolLogger
}

export type ToolLogger = Readonly<Record<LogLevel, (message: string, data?: unknown) => void>>

export interface CommonToolOptions<Name extends string, Schema extends InputSchema | undefined, Input> {
  readonly name: Name
  readonly description?: string
  /** A schema of any library that follows Standard Schema (zod, valibot, arktype …), or a JSON Schema. */
  readonly input?: Schema
  /** As a policy file would say it; what it does not grant is not there. */
  readonly policy?: PolicyInput
  readonly constraints?: ConstraintsInput
  /** The working directory; the workspace when not given. */
  readonly cwd?: string
  /** What a call destroys and how to get it back; such calls are marked in the record. */
  readonly destructive?: DestructiveFacts | ((input: Input) => DestructiveFacts | undefined)
  /** Where file names in the input are content and never opened. */
  readonly argumentGate?: 'enforced' | 'off'
  /**
   * Which refusals of files are found out: all (`true`), only those of changes (`false`), or those that cost little
   * (left out).
   */
  readonly observe?: boolean
}

export interface ProcessToolOptions<
  Name extends string,
  Schema extends InputSchema | undefined,
  Input,
> extends CommonToolOptions<Name, Schema, Input> {
  /** The words to execute. No shell reads them, unless the first is one. */
  readonly command: (input: Input) => readonly string[]
  readonly stdin?: (input: Input) => string | Uint8Array
  /** Which exit statuses are success; 0 alone when not given. */
  readonly successes?: readonly number[]
  /** `base64` for output that is not text (default: `utf8`). */
  readonly encoding?: 'utf8' | 'base64'
}

export interface ContainerToolOptions<
  Name extends string,
  Schema extends InputSchema | undefined,
  Input,
> extends ProcessToolOptions<Name, Schema, Input> {
  /** An image that the engine has: `name@sha256:…`, or a tag, which is resolved once. */
  readonly image: string
  /** An OCI runtime of the engine, such as `runsc` (default: the engine's own). */
  readonly runtime?: string
}

export interface WasmToolOptions<
  Name extends string,
  Schema extends InputSchema | undefined,
  Input,
> extends CommonToolOptions<Name, Schema, Input> {
  /** A WASI 0.1 program, by its path. It is read when the tool is declared. */
  readonly module: string | URL
  /** Its arguments, without the name of the program. */
  readonly args?: (input: Input) => readonly string[]
  /** The input as JSON when not given. */
  readonly stdin?: (input: Input) => string
  /** Which exit statuses are success; 0 alone when not given. */
  readonly successes?: readonly number[]
  /** How large its output may be, see `tool`. */
  readonly result?: ResultLimits
}

export interface FunctionToolOptions<
  Name extends string,
  Schema extends InputSchema | undefined,
  Input,
  Output,
> extends CommonToolOptions<Name, Schema, Input> {
  /** Sent to its cell by its source, so it may use nothing from outside of itself. */
  readonly run?: (input: Input, context: ToolContext) => Output
  /** Or a module, by its path; `export` names the function in it (`default` when not given). */
  readonly module?: string | URL
  readonly export?: string
  /** Runs in this process, where no boundary can hold it: the argument gate alone stands before it. */
  readonly inProcess?: boolean
  /** How large its result may be: 1 MiB and 20,000 values and keys when not given. A larger one fails the call. */
  readonly result?: ResultLimits
}
