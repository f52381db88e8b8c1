import { fail } from '../../errors/index.js'
import type { Constraints, DestructiveFacts, JsonSchema, JsonValue, StandardSchema } from '../../gate/index.js'
import { parseConstraints } from '../../gate/index.js'
import { parsePolicy } from '../../policy/index.js'
import type { ToolPolicy } from '../../policy/index.js'

import { checkFunctionToolOptions, checkProcessToolOptions } from './check-tool-options.js'
import { policyFileOf } from './policy-from.js'
import type { ResultLimits } from '../result/result-limits.js'
import type { CommonToolOptions, FunctionToolOptions, ProcessToolOptions, ToolContext } from './tool-options.js'

interface CommonDefinition {
  readonly name: string
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

export type ToolRun = (input: JsonValue, context: ToolContext) => unknown

export type ToolDefinition = CommonDefinition &
  (
    | {
        readonly kind: 'process'
        readonly command: (input: JsonValue) => readonly string[]
        readonly stdin: ((input: JsonValue) => string | Uint8Array) | undefined
        readonly successes: readonly number[]
      }
    | { readonly kind: 'function'; readonly from: FunctionSource; readonly result: ResultLimits | undefined }
    | { readonly kind: 'in-process'; readonly run: ToolRun; readonly result: ResultLimits | undefined }
  )

export type FunctionSource =
  | { readonly kind: 'function'; readonly run: ToolRun }
  | { readonly kind: 'module'; readonly path: string | URL; readonly name: string }

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
export const tool = <Input = Unannotated, Output = unknown>(
  options: FunctionToolOptions<Input, Output>,
): ToolDefinition => {
  checkFunctionToolOptions(options)
  const { run, module, inProcess = false } = options
  if ((run === undefined) === (module === undefined))
    throw fail('tool-incomplete', { tool: options.name, problem: 'it needs either a function (run) or a module' })
  if (module === undefined && options.export !== undefined)
    throw fail('tool-incomplete', {
      tool: options.name,
      problem: '"export" names a function of a module, and there is none (module)',
    })
  if (inProcess) {
    if (run === undefined)
      throw fail('tool-incomplete', { tool: options.name, problem: 'in this process it needs a function (run)' })
    const definition = common(options)
    const [credential] = definition.policy.credentials
    // It would be put into requests that pass the proxy, and those of this process do not.
    if (credential !== undefined)
      throw fail('tool-incomplete', {
        tool: options.name,
        problem:
          `in this process nothing puts in its credential "${credential.id}"; leave "inProcess" out, so that ` +
          'it runs in a cell',
      })
    return { ...definition, kind: 'in-process', run: run as ToolRun, result: options.result }
  }
  const from: FunctionSource =
    module === undefined
      ? { kind: 'function', run: run as ToolRun }
      : { kind: 'module', path: module, name: options.export ?? 'default' }
  return { ...common(options), kind: 'function', from, result: options.result }
}

const common = <Input>(options: CommonToolOptions<Input>): CommonDefinition => ({
  name: options.name,
  description: options.description ?? '',
  schema: options.input,
  policy: parsePolicy(options.policy ?? {}, `policy of the tool ${options.name}`),
  policyFile: policyFileOf(options.policy),
  constraints: parseConstraints(options.constraints ?? {}, `constraints of the tool ${options.name}`),
  cwd: options.cwd,
  destructive: options.destructive as CommonDefinition['destructive'],
  argumentGate: options.argumentGate ?? 'enforced',
  observe: options.observe,
})
