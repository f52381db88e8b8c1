// How the process of a function or of a WASI module ended.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { JsonValue } from '../../gate/index.js'
import { describeEnding } from '../../sandbox/index.js'
import type { CallResult } from '../../sandbox/index.js'

import { processEndingOf } from '../events/process-ending.js'
import type { ProcessEnding } from '../events/process-ending.js'
import type { ThrownError } from '../function-cell/messages.js'
import { toolFailed } from '../result/agent-words.js'
import type { FunctionReply } from './function-reply.js'

export interface EndedFunction {
  readonly result: CallResult
  readonly reply: FunctionReply
  readonly input: JsonValue
  /** Bytes on the pipe to the runtime. */
  readonly said: number
}

/** The error of one that did not answer with a value. */
export const failureOf = (
  tool: string,
  result: CallResult,
  reply: Exclude<FunctionReply, { kind: 'value' }>,
  input: JsonValue,
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

/** The process exits by killing itself, once it has answered. */
export const endingOf = (result: CallResult, { kind }: FunctionReply, exitCode: number): ProcessEnding =>
  result.status === 'signaled' && result.signal === SIGKILL && kind !== 'nothing'
    ? { kind: 'completed', exitCode }
    : processEndingOf(result, result.violations)

const SIGKILL = 9
