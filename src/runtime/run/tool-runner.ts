// Runs a tool that an agent calls, by its kind.
import { bug } from '../../errors/index.js'
import { takeSnapshot } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import { describeEnding } from '../../sandbox/index.js'
import type { CallResult } from '../../sandbox/index.js'

import type { ToolRunner } from '../call/call-services.js'
import { processEndingOf } from '../events/process-ending.js'
import { fixOfFailure, policyAdvice } from '../hints/index.js'
import { toolFailed } from '../result/agent-words.js'
import { sizeInTurns, textInTurns } from '../result/in-turns.js'
import { judgeEnding } from '../result/judge-ending.js'
import type { Execution } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolDefinition } from '../tools/tools.js'
import { FUNCTION_COMMAND } from './function-cells.js'
import type { FunctionCells } from './function-cells.js'
import type { ProcessCells } from './process-cells.js'
import { runInProcess } from './run-in-process.js'

export const createToolRunner = ({
  processes,
  functions,
}: {
  readonly processes: ProcessCells
  readonly functions: FunctionCells
}): ToolRunner<BoundTool> => ({
  processOf: ({ definition: { kind } }, { command = [] }) => {
    switch (kind) {
      case 'process':
        return { program: command[0] ?? '', words: command }
      case 'function':
        return { program: FUNCTION_COMMAND[0], words: FUNCTION_COMMAND }
      case 'in-process':
        return undefined
    }
  },
  run: async (tool, { input, command = [], signal, onProgress, onOutput, beforeStart, network }) => {
    const { definition } = tool
    switch (definition.kind) {
      case 'process':
        return describeProcess(
          tool,
          definition,
          { input, command },
          await processes.run(tool, definition, { argv: command, input, signal, onOutput, beforeStart, network }),
        )
      case 'function':
        return functions.run(tool, definition, { input, signal, onProgress, beforeStart }, network)
      case 'in-process':
        return runInProcess(tool, definition, { input, signal, onProgress })
    }
  },
})

type ProcessDefinition = Extract<ToolDefinition, { kind: 'process' }>

const describeProcess = async (
  { gate: { boundary }, cwd, workspace, ownFiles }: BoundTool,
  { name, successes }: ProcessDefinition,
  { input, command }: { readonly input: JsonValue; readonly command: readonly string[] },
  result: CallResult,
): Promise<Execution> => {
  const { profile, violations, usage } = result
  const [stdout, stderr] = [await textInTurns(result.stdout), await textInTurns(result.stderr)]
  const taken = takeSnapshot({ exit_code: result.status === 'exited' ? result.exitCode : null, stdout, stderr })
  const output = taken.kind === 'json' ? taken.value : bug('decoded texts that are no JSON')
  if (result.stdout.byteLength + result.stderr.byteLength > SMALL_BYTES) await sizeInTurns(output)
  const succeeded = result.status === 'exited' && successes.includes(result.exitCode)
  const advised = { workspace, ownFiles, words: command }
  const failure = () => {
    const problem = `${result.status === 'exited' ? `exit status ${String(result.exitCode)}` : describeEnding(result)}${lastWords(stderr)}`
    return toolFailed(name, problem, input, {
      fix: result.status === 'exited' ? fixOfFailure({ ...advised, boundary, cwd, command, named: [] }) : '',
    })
  }
  return {
    ...judgeEnding(name, result, { succeeded, failure, command, fix: (met) => policyAdvice(met, advised) }),
    output,
    profile,
    violations,
    usage,
    writtenBytes: result.stdout.byteLength + result.stderr.byteLength,
    printed: '',
    ending: processEndingOf(result, violations),
  }
}

/** Less than this is hashed when it is recorded. */
const SMALL_BYTES = 64 * 1024

const LONGEST_WORDS = 400

const lastWords = (stderr: string): string => {
  const words = stderr.trim()
  return words === '' ? '' : `: ${words.length > LONGEST_WORDS ? `…${words.slice(-LONGEST_WORDS)}` : words}`
}
