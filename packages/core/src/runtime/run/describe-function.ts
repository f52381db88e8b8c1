// How a call of a function tool ended: of a JavaScript function, or of a WASI module.
import { IMPORT_ADVICE, WASI_ADVICE, fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { sizeOf } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import { describeEnding } from '../../sandbox/index.js'
import type { CallResult, Violation } from '../../sandbox/index.js'

import { processEndingOf } from '../events/process-ending.js'
import type { ThrownError } from '../function-cell/messages.js'
import { fixOfFailure, policyAdvice } from '../hints/index.js'
import { textsIn, toolFailed } from '../result/agent-words.js'
import { outputInTurns } from '../result/in-turns.js'
import { judgeEnding } from '../result/judge-ending.js'
import { resultLimitsOf } from '../result/result-limits.js'
import type { Execution } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolOfKind, WasmSource } from '../tools/tools.js'
import type { FunctionReply, ModuleOutput } from './function-reply.js'

interface EndedFunction {
  readonly result: CallResult
  readonly reply: FunctionReply
  readonly input: JsonValue
  /** Bytes on the pipe to the runtime. */
  readonly said: number
}

export const describeFunction = async (
  tool: BoundTool,
  definition: ToolOfKind<'function'>,
  ended: EndedFunction,
): Promise<Execution> =>
  definition.from.kind === 'wasm'
    ? describeModule(tool, definition, definition.from, ended)
    : describeResult(tool, definition, ended)

const describeResult = (tool: BoundTool, { name, from }: ToolOfKind<'function'>, ended: EndedFunction): Execution => {
  const { result, reply } = ended
  const isOfText = from.kind === 'function'
  const fix = (met: readonly Violation[]): string =>
    isOfText && met.some(isOfPackage) ? IMPORT_ADVICE : policyAdvice(met, tool)
  const failed = (thrown: string): string => (isOfText && IS_IMPORT.test(thrown) ? IMPORT_ADVICE : fixOf(tool, ended))
  const common = {
    ...commonOf(ended, reply.kind === 'exited' ? reply.code : reply.kind === 'value' ? 0 : 1),
    output: undefined,
  }
  if (reply.kind !== 'value')
    return {
      ...common,
      ...judgeEnding(name, result, {
        succeeded: false,
        failure: () => failureOf(name, ended, reply, { failed, unloadable: OF_MODULES }),
        ...(reply.kind === 'thrown' ? { cause: reply.error } : {}),
        command: [],
        fix,
      }),
    }
  const taken = reply.value
  const garbled = () =>
    fail('tool-garbled', {
      tool: name,
      problem: taken.kind === 'problem' ? `its result ${taken.problem}` : describeEnding(result),
    })
  if (taken.kind === 'too-large')
    return { ...common, status: 'failed', error: fail('result-too-large', { tool: name, problem: taken.problem }) }
  if (taken.kind === 'problem') return { ...common, status: 'failed', error: garbled() }
  const judged = judgeEnding(name, result, { succeeded: result.status !== 'limit', failure: garbled, command: [], fix })
  return { ...common, ...judged, output: judged.status === 'ok' ? taken.value : undefined }
}

const OF_MODULES =
  'see that the module has this export; if a module name is computed, or the module is in another folder, grant that ' +
  'folder in filesystem.read of the tool'

/** Node's own message. Imports of a function are looked up beside Cordon's runner, not beside the tool. */
const IS_IMPORT = /^Cannot find (?:module|package) /

const isOfPackage = (violation: Violation): boolean =>
  violation.kind === 'file' && violation.access === 'read' && violation.path.includes('/node_modules/')

/** The output of a module is returned like that of a process tool, also if the call failed. */
const describeModule = async (
  tool: BoundTool,
  { name, result: given }: ToolOfKind<'function'>,
  { successes }: WasmSource,
  ended: EndedFunction,
): Promise<Execution> => {
  const { result, reply, input } = ended
  const status = statusIn(reply)
  const output = await outputInTurns(status ?? null, reply.written)
  const failed = () => fixOf(tool, ended)
  const failure = (): CordonError => {
    if (reply.kind !== 'value') return failureOf(name, ended, reply, { failed, unloadable: WASI_ADVICE })
    if (status === undefined) return fail('tool-garbled', { tool: name, problem: describeEnding(result) })
    const problem = `it ended with the status ${status}${complaintIn(reply.written)}`
    return toolFailed(name, problem, input, { fix: failed() })
  }
  const judged = judgeEnding(name, result, {
    succeeded: status !== undefined && successes.includes(status) && result.status !== 'limit',
    failure,
    ...(reply.kind === 'thrown' ? { cause: reply.error } : {}),
    command: [],
    fix: (met) => policyAdvice(met, tool),
  })
  const common = commonOf(ended, status ?? 1)
  if (reply.kind === 'thrown' && !reply.loaded) return { ...common, ...judged, output: undefined }
  const bytes = sizeOf(output).bytes + reply.written.leftOut
  const limits = resultLimitsOf(given)
  if (judged.status !== 'ok' || bytes <= limits.bytes) return { ...common, ...judged, output }
  const problem = `it has ${bytes} bytes, and may have ${limits.bytes}`
  // Part of the output could be taken for the whole.
  return { ...common, status: 'failed', error: fail('result-too-large', { tool: name, problem }), output: undefined }
}

const statusIn = (reply: FunctionReply): number | undefined =>
  reply.kind === 'value' && reply.value.kind === 'json' && typeof reply.value.value === 'number'
    ? reply.value.value
    : undefined

const LONGEST_COMPLAINT = 2_000

const complaintIn = ({ stderr }: ModuleOutput): string => {
  const text = Buffer.from(stderr).toString('utf8').trim()
  return text === '' ? '' : `: ${text.slice(-LONGEST_COMPLAINT)}`
}

const fixOf = ({ workspace, ownFiles, cwd, gate: { boundary } }: BoundTool, { input }: EndedFunction): string =>
  fixOfFailure({ workspace, ownFiles, boundary, cwd, named: textsIn(input), kind: 'function' })

/** The error of one that did not answer with a value. */
const failureOf = (
  tool: string,
  { result, input }: EndedFunction,
  reply: Exclude<FunctionReply, { kind: 'value' }>,
  advice: { readonly failed: (problem: string) => string; readonly unloadable: string },
): CordonError => {
  if (reply.kind === 'nothing') return fail('tool-garbled', { tool, problem: reply.problem ?? describeEnding(result) })
  if (reply.kind === 'exited') {
    const how = `it ended its process with the exit status ${reply.code}, without a result`
    return toolFailed(tool, how, input, { fix: 'return a value, or throw an error, instead of process.exit()' })
  }
  const problem = wordsOf(reply.error)
  return reply.loaded
    ? toolFailed(tool, problem, input, { fix: advice.failed(problem), cause: reply.error })
    : fail('tool-unloadable', { tool, problem, fix: advice.unloadable }, reply.error)
}

const wordsOf = ({ name, message }: ThrownError): string =>
  name === 'Error' || message.startsWith(name) ? message : `${name}: ${message}`

const SIGKILL = 9

const commonOf = ({ result, reply, said }: EndedFunction, exitCode: number) => {
  const { profile, violations, usage } = result
  // The process exits by killing itself, once it has answered.
  const hasExited = result.status === 'signaled' && result.signal === SIGKILL && reply.kind !== 'nothing'
  return {
    profile,
    violations,
    usage,
    writtenBytes: said + result.stderr.byteLength,
    printed: reply.printed,
    ending: hasExited ? ({ kind: 'completed', exitCode } as const) : processEndingOf(result, violations),
  }
}
