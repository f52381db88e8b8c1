// One permitted call, by the kind of its tool. Each takes its arguments from the permit: they are the
// copy that was judged, whatever the caller did to its own object since.
import { bug } from '../../errors/index.js'
import { requirePermit, takeSnapshot } from '../../gate/index.js'
import type { JsonValue, Permit } from '../../gate/index.js'
import { describeEnding } from '../../sandbox/index.js'
import type { CallResult } from '../../sandbox/index.js'

import { toolFailed } from '../result/agent-words.js'
import { FUNCTION_COMMAND } from '../run/function-cells.js'
import type { FunctionCells } from '../run/function-cells.js'
import { processEndingOf } from '../events/process-ending.js'
import { fixOfFailure, policyAdvice } from '../hints/index.js'
import { sizeInTurns, textInTurns } from '../result/in-turns.js'
import { judgeEnding } from '../result/judge-ending.js'
import type { NetworkCall } from '../network/call-networks.js'
import type { ProcessCells } from '../run/process-cells.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { Execution, ToolOutput } from '../result/tool-result.js'
import type { ToolDefinition } from '../tools/tools.js'
import { runInProcess } from '../run/run-in-process.js'

export interface PermittedCall {
  readonly tool: BoundTool
  readonly permit: Permit
  readonly input: JsonValue
  /** Of a process tool: the words that the gate has judged. */
  readonly command: readonly string[] | undefined
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: JsonValue) => void
  readonly onOutput: ((chunk: ToolOutput) => void) | undefined
  /** Asked when everything is ready for its process; when it rejects, that is not started. */
  readonly beforeStart: () => Promise<void>
  /** By whom it is known on the network, and whether somebody approved it. */
  readonly network: NetworkCall
}

export interface Executor {
  /** The process that a call starts, if it starts one. */
  readonly processOf: (tool: BoundTool, command: readonly string[] | undefined) => { readonly program: string; readonly words: readonly string[] } | undefined
  readonly execute: (call: PermittedCall) => Promise<Execution>
}

export const createExecutor = (cells: { readonly processes: ProcessCells; readonly functions: FunctionCells }, now: () => number): Executor => ({
  processOf: ({ definition: { kind } }, command = []) => {
    switch (kind) {
      case 'process':
        return { program: command[0] ?? '', words: command }
      case 'function':
        return { program: FUNCTION_COMMAND[0], words: FUNCTION_COMMAND }
      case 'in-process':
        return undefined
    }
  },
  execute: async (call) => {
    const { tool, permit, command = [], signal, onProgress, onOutput, beforeStart, network } = call
    const { definition, gate } = tool
    const input = requirePermit(permit, { tool: gate.name, arguments: call.input, policyHash: gate.policyHash, now: now() })
    switch (definition.kind) {
      case 'process':
        return await describeProcess(tool, definition, { input, command }, await cells.processes.run(tool, definition, { argv: command, input, signal, onOutput, beforeStart, network }))
      case 'function':
        return cells.functions.run(tool, definition, { input, signal, onProgress, beforeStart }, network)
      case 'in-process':
        return runInProcess(tool, definition, { input, signal, onProgress })
    }
  },
})

type ProcessDefinition = Extract<ToolDefinition, { kind: 'process' }>

const describeProcess = async ({ gate: { boundary }, cwd, workspace, ownFiles }: BoundTool, { name, successes }: ProcessDefinition, { input, command }: { readonly input: JsonValue; readonly command: readonly string[] }, result: CallResult): Promise<Execution> => {
  const { profile, violations, usage } = result
  const [stdout, stderr] = [await textInTurns(result.stdout), await textInTurns(result.stderr)]
  const taken = takeSnapshot({ exit_code: result.status === 'exited' ? result.exitCode : null, stdout, stderr })
  const output = taken.kind === 'json' ? taken.value : bug('decoded texts that are no JSON')
  if (result.stdout.byteLength + result.stderr.byteLength > SMALL_BYTES) await sizeInTurns(output)
  const succeeded = result.status === 'exited' && successes.includes(result.exitCode)
  const advised = { workspace, ownFiles, words: command }
  const failure = () => {
    const problem = `${result.status === 'exited' ? `exit status ${String(result.exitCode)}` : describeEnding(result)}${lastWords(stderr)}`
    return toolFailed(name, problem, input, { fix: result.status === 'exited' ? fixOfFailure({ ...advised, boundary, cwd, command, named: [] }) : '' })
  }
  return { ...judgeEnding(name, result, { succeeded, failure, command, fix: (met) => policyAdvice(met, advised) }), output, profile, violations, usage, writtenBytes: result.stdout.byteLength + result.stderr.byteLength, printed: '', ending: processEndingOf(result, violations) }
}

/** Less than this is hashed when it is recorded. */
const SMALL_BYTES = 64 * 1024

const LONGEST_WORDS = 400

const lastWords = (stderr: string): string => {
  const words = stderr.trim()
  return words === '' ? '' : `: ${words.length > LONGEST_WORDS ? `…${words.slice(-LONGEST_WORDS)}` : words}`
}
