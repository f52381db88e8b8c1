import { fail } from '../errors/index.js'
import type { Constraints, DestructiveFacts, JsonSchema, JsonValue, StandardSchema } from '../gate/index.js'
import { parseConstraints } from '../gate/index.js'
import { parsePolicy } from '../policy/index.js'
import type { ToolPolicy } from '../policy/index.js'

import { checkFunctionToolOptions, checkProcessToolOptions } from './check-tool-options.js'

/** What a function tool gets beside its input. */
export interface ToolContext {
  /** Tells the caller how far it is; any value that has a JSON form. */
  readonly progress: (value: unknown) => void
}

interface CommonOptions<Input> {
  readonly name: string
  readonly description?: string
  /** A schema of any library that follows Standard Schema (zod, valibot, arktype …), or a JSON Schema. */
  readonly input?: StandardSchema<unknown, Input> | JsonSchema
  /** As a policy file would say it; what it does not grant is not there. */
  readonly policy?: unknown
  readonly constraints?: unknown
  /** The working directory; the workspace when not given. */
  readonly cwd?: string
  /** What a call destroys and how to get it back; such calls are marked in the record. */
  readonly destructive?: DestructiveFacts | ((input: Input) => DestructiveFacts | undefined)
  /** Where file names in the input are content and never opened. */
  readonly argumentGate?: 'enforced' | 'off'
  /** Finds out which files it was refused, at some cost for each file it opens; in the mode on_failure that is the rule for process tools. */
  readonly observe?: boolean
}

export interface ProcessToolOptions<Input> extends CommonOptions<Input> {
  /** The words to execute. No shell reads them, unless the first is one. */
  readonly command: (input: Input) => readonly string[]
  readonly stdin?: (input: Input) => string | Uint8Array
  /** Which exit statuses are success; 0 alone when not given. */
  readonly successes?: readonly number[]
}

export interface FunctionToolOptions<Input, Output> extends CommonOptions<Input> {
  /** Sent to its cell by its source, so it may use nothing from outside of itself. */
  readonly run?: (input: Input, context: ToolContext) => Output
  /** Or a module, by its path; `export` names the function in it (`default` when not given). */
  readonly module?: string | URL
  readonly export?: string
  /** Runs in this process, where no boundary can hold it: the argument gate alone stands before it. */
  readonly inProcess?: boolean
}

interface CommonDefinition {
  readonly name: string
  readonly description: string
  readonly schema: StandardSchema | JsonSchema | undefined
  readonly policy: ToolPolicy
  readonly constraints: Constraints
  readonly cwd: string | undefined
  readonly destructive: DestructiveFacts | ((input: JsonValue) => DestructiveFacts | undefined) | undefined
  readonly argumentGate: 'enforced' | 'off'
  readonly observe: boolean | undefined
}

export type ToolRun = (input: JsonValue, context: ToolContext) => unknown

export type ToolDefinition = CommonDefinition &
  (
    | {
        readonly kind: 'process'
        readonly command: (input: JsonValue) => readonly string[]
        readonly stdin: ((input: JsonValue) => string | Uint8Array) | undefined
        readonly successes: readonly number[]
      }
    | { readonly kind: 'function'; readonly from: FunctionSource }
    | { readonly kind: 'in-process'; readonly run: ToolRun }
  )

export type FunctionSource = { readonly kind: 'function'; readonly run: ToolRun } | { readonly kind: 'module'; readonly path: string | URL; readonly name: string }

/**
 * Of an input that neither a Standard Schema nor an annotated parameter describes the compiler knows nothing,
 * like of what JSON.parse gives; anything narrower makes an error of `({ a }) => a`.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type Unannotated = any

/** A tool that is a program: its words run in a cell. */
export const processTool = <Input = Unannotated>(options: ProcessToolOptions<Input>): ToolDefinition => {
  checkProcessToolOptions(options)
  return {
    ...common(options),
    kind: 'process',
    command: options.command as (input: JsonValue) => readonly string[],
    stdin: options.stdin as ((input: JsonValue) => string | Uint8Array) | undefined,
    successes: options.successes ?? [0],
  }
}

/** A tool that is a JavaScript function, in a Node process in a cell; or, with `inProcess`, in this one. */
export const tool = <Input = Unannotated, Output = unknown>(options: FunctionToolOptions<Input, Output>): ToolDefinition => {
  checkFunctionToolOptions(options)
  const { run, module, inProcess = false } = options
  if ((run === undefined) === (module === undefined)) throw fail('tool-incomplete', { tool: options.name, problem: 'it needs either a function (run) or a module' })
  if (module === undefined && options.export !== undefined) throw fail('tool-incomplete', { tool: options.name, problem: '"export" names a function of a module, and there is none (module)' })
  if (inProcess) {
    if (run === undefined) throw fail('tool-incomplete', { tool: options.name, problem: 'in this process it needs a function (run)' })
    return { ...common(options), kind: 'in-process', run: run as ToolRun }
  }
  const from: FunctionSource = module === undefined ? { kind: 'function', run: run as ToolRun } : { kind: 'module', path: module, name: options.export ?? 'default' }
  return { ...common(options), kind: 'function', from }
}

const common = <Input>(options: CommonOptions<Input>): CommonDefinition => ({
  name: options.name,
  description: options.description ?? '',
  schema: options.input,
  policy: parsePolicy(options.policy ?? {}, `policy of the tool ${options.name}`),
  constraints: parseConstraints(options.constraints ?? {}, `constraints of the tool ${options.name}`),
  cwd: options.cwd,
  destructive: options.destructive as CommonDefinition['destructive'],
  argumentGate: options.argumentGate ?? 'enforced',
  observe: options.observe,
})
