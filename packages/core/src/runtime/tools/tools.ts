import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { Constraints, DestructiveFacts, JsonSchema, JsonValue, StandardSchema } from '../../gate/index.js'
import { parseConstraints } from '../../gate/index.js'
import { parsePolicy } from '../../policy/index.js'
import type { ToolPolicy } from '../../policy/index.js'
import type { SandboxProfile } from '../../sandbox/index.js'

import { noteTool } from '../describing.js'
import { checkContainerToolOptions, checkFunctionToolOptions, checkProcessToolOptions } from './check-tool-options.js'
import { policyFileOf } from './policy-from.js'
import type { WasmWords } from '../function-cell/messages.js'
import type { ResultLimits } from '../result/result-limits.js'
import type { GivenInputOf, InputSchema, OutputOf, ParsedInputOf, Unannotated } from './schema-type.js'
import type {
  CommonToolOptions,
  ContainerToolOptions,
  FunctionToolOptions,
  ProcessToolOptions,
  ToolContext,
} from './tool-options.js'

interface CommonDefinition<Name extends string> {
  readonly name: Name
  readonly description: string
  readonly schema: StandardSchema | JsonSchema | undefined
  readonly policy: ToolPolicy
  /** Where the policy was read from a file (`policyFrom`). */
  readonly policyFile: string | undefined
  readonly constraints: Constraints
  readonly cwd: string | undefined
  readonly destructive: DestructiveFacts | ((input: JsonValue) => DestructiveFacts | undefined) | undefined
  readonly argumentGate: 'enforced' | 'off'
  readonly observe: boolean | undefined
}

/** What a process tool returns. A type and not an interface, which would not count as a JSON value. */
export type ProcessOutput = {
  /** Null where a signal ended it. */
  readonly exit_code: number | null
  readonly stdout: string
  readonly stderr: string
}

export type ToolRun = (input: JsonValue, context: ToolContext) => unknown

/** What the compiler knows of the calls of a tool. Nothing is there when the program runs. */
declare const CALLS: unique symbol

export interface CallTypes<Input, Output> {
  readonly [CALLS]?: { readonly input: Input; readonly output: Output }
}

/** A tool of a runtime, by its name. */
export type ToolOf<Tools extends readonly ToolDefinition[], Name extends string> = Tools[number] extends infer Tool
  ? Tool extends { readonly name: infer Known }
    ? Name extends Known
      ? Tool
      : never
    : never
  : never

export type InputOf<Tool> = Tool extends CallTypes<infer Input, unknown> ? Input : never
/** JSON, if the compiler knows no more: an `any` ends here. */
export type OutputOfTool<Tool> =
  Tool extends CallTypes<unknown, infer Output> ? (unknown extends Output ? JsonValue : Output) : never

/** `Input`: as a caller gives it, before the schema has read it. */
export type ToolDefinition<
  Name extends string = string,
  Input = Unannotated,
  Output = Unannotated,
> = CommonDefinition<Name> &
  CallTypes<Input, Output> &
  (
    | {
        readonly kind: 'process'
        readonly command: (input: JsonValue) => readonly string[]
        readonly stdin: ((input: JsonValue) => string | Uint8Array) | undefined
        readonly successes: readonly number[]
        readonly encoding: 'utf8' | 'base64'
        /** The container that it runs in. Undefined: a cell of this host. */
        readonly container: ToolContainer | undefined
      }
    | { readonly kind: 'function'; readonly from: FunctionSource; readonly result: ResultLimits | undefined }
    | {
        readonly kind: 'mcp'
        readonly server: ToolServer
        /** As its server calls it. */
        readonly ownName: string
        readonly hasPolicy: boolean
        /** What a manifest compares in place of its policy. Undefined: the policy itself. */
        readonly reviewed: ToolPolicy | undefined
        /** What would give it a policy. */
        readonly policyFix: string | undefined
      }
    | { readonly kind: 'in-process'; readonly run: ToolRun; readonly result: ResultLimits | undefined }
  )

export type ToolOfKind<Kind extends ToolDefinition['kind']> = Extract<ToolDefinition, { readonly kind: Kind }>

export interface ToolContainer {
  readonly image: string
  readonly runtime: string | undefined
}

/** An MCP server, as a tool of it is called. */
export interface ToolServer {
  readonly name: string
  /** The process of the server that takes one call. It is started if there is none. */
  readonly instance: () => Promise<ServerInstance>
}

/** One process of an MCP server, in its cell. */
export interface ServerInstance {
  readonly profile: SandboxProfile
  readonly scope: NonNullable<SandboxProfile['scope']>
  readonly call: (call: ServerCall) => Promise<ServerReply>
  /** The call is over, or will not come. */
  readonly giveBack: () => void
}

export interface ServerCall {
  readonly input: JsonValue
  readonly signal: AbortSignal | undefined
  /** From the caller of the tool to its server. The gate does not judge it. */
  readonly attachment: unknown
}

/** `refused`: the server answered with an error. `lost`: it gave no answer. */
export type ServerReply =
  | { readonly kind: 'result'; readonly result: JsonValue; readonly isError: boolean }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'lost'; readonly error: CordonError }

export type FunctionSource =
  | { readonly kind: 'function'; readonly run: ToolRun }
  | { readonly kind: 'module'; readonly path: string | URL; readonly name: string }
  | WasmSource

export interface WasmSource {
  readonly kind: 'wasm'
  /** As they were when the tool was declared. */
  readonly bytes: Uint8Array
  /** The SHA-256 of the bytes. */
  readonly hash: string
  readonly words: (input: JsonValue) => WasmWords
  /** The functions of the author, from which `words` is made. */
  readonly written: readonly (((input: never) => unknown) | undefined)[]
  readonly successes: readonly number[]
}

/** A tool that is a program: its words run in a cell. */
export const processTool = <
  const Name extends string,
  const Schema extends InputSchema | undefined = undefined,
  Input = ParsedInputOf<Schema>,
>(
  options: ProcessToolOptions<Name, Schema, Input>,
): ToolDefinition<Name, NoInfer<GivenInputOf<Schema, Input>>, ProcessOutput> => {
  checkProcessToolOptions(options)
  return noteTool(processDefinition(options, undefined))
}

/** A tool that is a program of a container image. Each call gets a container of its own, with a cell in it. */
export const containerTool = <
  const Name extends string,
  const Schema extends InputSchema | undefined = undefined,
  Input = ParsedInputOf<Schema>,
>(
  options: ContainerToolOptions<Name, Schema, Input>,
): ToolDefinition<Name, NoInfer<GivenInputOf<Schema, Input>>, ProcessOutput> => {
  checkContainerToolOptions(options)
  return noteTool(processDefinition(options, { image: options.image, runtime: options.runtime }))
}

const processDefinition = <Name extends string, Schema extends InputSchema | undefined, Input>(
  options: ProcessToolOptions<Name, Schema, Input>,
  container: ToolContainer | undefined,
): ToolDefinition<Name, NoInfer<GivenInputOf<Schema, Input>>, ProcessOutput> => ({
  ...commonDefinition(options),
  kind: 'process',
  command: options.command as (input: JsonValue) => readonly string[],
  stdin: options.stdin as ((input: JsonValue) => string | Uint8Array) | undefined,
  successes: options.successes ?? [0],
  encoding: options.encoding ?? 'utf8',
  container,
})

/** A tool that is a JavaScript function, in a Node process in a cell; or, with `inProcess`, in this one. */
export const tool = <
  const Name extends string,
  const Schema extends InputSchema | undefined = undefined,
  Input = ParsedInputOf<Schema>,
  Output = Unannotated,
>(
  options: FunctionToolOptions<Name, Schema, Input, Output>,
): ToolDefinition<Name, NoInfer<GivenInputOf<Schema, Input>>, NoInfer<OutputOf<Output>>> => {
  checkFunctionToolOptions(options)
  const { name, run, module, inProcess = false, result } = options
  const incomplete = (problem: string) => fail('tool-incomplete', { tool: name, problem })
  if ((run === undefined) === (module === undefined)) throw incomplete('it needs either a function (run) or a module')
  if (module === undefined && options.export !== undefined)
    throw incomplete('"export" names a function of a module, and there is none (module)')
  if (inProcess) {
    if (run === undefined) throw incomplete('in this process it needs a function (run)')
    const definition = commonDefinition(options)
    const [credential] = definition.policy.credentials
    // It would be put into requests that pass the proxy, and those of this process do not.
    if (credential !== undefined)
      throw incomplete(
        `in this process nothing puts in its credential "${credential.id}"; leave "inProcess" out, so that ` +
          'it runs in a cell',
      )
    return noteTool({ ...definition, kind: 'in-process', run: run as ToolRun, result })
  }
  const from: FunctionSource =
    module === undefined
      ? { kind: 'function', run: run as ToolRun }
      : { kind: 'module', path: module, name: options.export ?? 'default' }
  return noteTool({ ...commonDefinition(options), kind: 'function', from, result })
}

type McpTool = ToolOfKind<'mcp'>

interface McpToolOptions
  extends
    Pick<McpTool, 'name' | 'description' | 'server' | 'ownName' | 'policyFix'>,
    Partial<Pick<McpTool, 'reviewed'>> {
  readonly input: JsonSchema
  /** Undefined: nobody wrote one, so the tool gets no right and no mode trusts it. */
  readonly policy: ToolPolicy | undefined
  readonly cwd: string
}

/** A tool of an MCP server, which runs in cells of its own. */
export const mcpTool = ({ name, description, input, cwd, policy, ...ofServer }: McpToolOptions): ToolDefinition => ({
  ...commonDefinition({ name, description, input, cwd, policy: { risk: 'unknown' } }),
  ...(policy === undefined ? {} : { policy }),
  kind: 'mcp',
  hasPolicy: policy !== undefined,
  reviewed: undefined,
  ...ofServer,
})

export const commonDefinition = <Name extends string, Input>(
  options: CommonToolOptions<Name, InputSchema | undefined, Input>,
): CommonDefinition<Name> => ({
  name: options.name,
  description: options.description ?? '',
  schema: options.input,
  policy: parsePolicy(options.policy ?? {}, `policy of the tool ${options.name}`),
  policyFile: policyFileOf(options.policy),
  constraints: parseConstraints(options.constraints ?? {}, `constraints of the tool ${options.name}`),
  cwd: options.cwd,
  destructive: options.destructive as CommonDefinition<Name>['destructive'],
  argumentGate: options.argumentGate ?? 'enforced',
  observe: options.observe,
})
