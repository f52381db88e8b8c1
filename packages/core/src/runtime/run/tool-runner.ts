// Runs a tool that an agent calls, by its kind.
import type { JsonValue } from '../../gate/index.js'
import { describeEnding } from '../../sandbox/index.js'
import type { ProcessResult } from '../../sandbox/index.js'

import type { ToolRunner } from '../call/call-services.js'
import { processEndingOf } from '../events/process-ending.js'
import { fixOfFailure, isOfImage, policyAdvice } from '../hints/index.js'
import { toolFailed } from '../result/agent-words.js'
import { outputInTurns } from '../result/in-turns.js'
import { judgeEnding } from '../result/judge-ending.js'
import type { Execution } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolOfKind } from '../tools/tools.js'
import { FUNCTION_COMMAND } from './function-cells.js'
import type { RunFunction } from './function-cells.js'
import type { RunProcess } from './process-cells.js'
import { runInProcess } from './run-in-process.js'
import { runOnServer } from './run-on-server.js'

export const createToolRunner = (runProcess: RunProcess, runFunction: RunFunction): ToolRunner<BoundTool> => ({
  processOf: ({ definition: { kind } }, { command = [] }) => {
    switch (kind) {
      case 'process':
        return { program: command[0] ?? '', words: command }
      case 'function':
        return { program: FUNCTION_COMMAND[0], words: FUNCTION_COMMAND }
      case 'in-process':
      case 'mcp':
        return undefined
    }
  },
  run: async (tool, call) => {
    const { definition } = tool
    const { input, command = [] } = call
    switch (definition.kind) {
      case 'process': {
        const result = await runProcess(tool, definition, call)
        return describeProcess(tool, definition, { input, command }, result)
      }
      case 'function':
        return runFunction(tool, definition, call)
      case 'in-process':
        return runInProcess(tool, definition, call)
      case 'mcp':
        return runOnServer(tool, definition, call)
    }
  },
})

export const describeProcess = async (
  { gate: { boundary }, cwd, workspace, ownFiles }: BoundTool,
  { name, successes, encoding }: ToolOfKind<'process'>,
  { input, command }: { readonly input: JsonValue; readonly command: readonly string[] },
  result: ProcessResult,
): Promise<Execution> => {
  const { profile, violations, usage } = result
  const output = await outputInTurns(result.status === 'exited' ? result.exitCode : null, result, encoding)
  const succeeded = result.status === 'exited' && successes.includes(result.exitCode)
  const advised = {
    workspace,
    ownFiles,
    isOfImage: (path: string) => profile.mode === 'sandboxed' && isOfImage(profile, path, [workspace]),
  }
  const failure = () => {
    const isExit = result.status === 'exited'
    const problem = `${isExit ? `exit status ${result.exitCode}` : describeEnding(result)}${lastWords(result.stderr)}`
    return toolFailed(name, problem, input, {
      // Without a cell no grant is missing.
      fix:
        isExit && profile.mode !== 'none'
          ? fixOfFailure({ ...advised, boundary, cwd, named: command.slice(1), kind: 'process' })
          : '',
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

const LONGEST_WORDS = 400

const lastWords = (stderr: Uint8Array): string => {
  // A letter takes at most four bytes. Half a letter at the cut is left out with what is before it.
  const words = Buffer.from(stderr.subarray(-5 * LONGEST_WORDS))
    .toString('utf8')
    .trim()
  return words === '' ? '' : `: ${words.length > LONGEST_WORDS ? `…${words.slice(-LONGEST_WORDS)}` : words}`
}
