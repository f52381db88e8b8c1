// How a call of a WASI module ended. Its output is returned like that of a process tool, also if the call failed.
import { WASI_ADVICE, bug, fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { sizeOf, takeSnapshot } from '../../gate/index.js'
import type { JsonLimits, JsonValue } from '../../gate/index.js'
import { describeEnding } from '../../sandbox/index.js'

import { fixOfFailure, policyAdvice } from '../hints/index.js'
import { textsIn, toolFailed } from '../result/agent-words.js'
import { sizeInTurns, textInTurns } from '../result/in-turns.js'
import { judgeEnding } from '../result/judge-ending.js'
import type { Execution } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'
import { endingOf, failureOf } from './function-ending.js'
import type { EndedFunction } from './function-ending.js'
import type { FunctionReply, Written } from './function-reply.js'

export const describeModule = async (
  { workspace, ownFiles, gate: { boundary }, cwd }: BoundTool,
  name: string,
  successes: readonly number[],
  limits: JsonLimits,
  { result, reply, input, said }: EndedFunction,
): Promise<Execution> => {
  const status = statusIn(reply)
  const output = await outputOf(status, reply.written)
  const advised = { workspace, ownFiles }
  const advice = {
    failed: () => fixOfFailure({ ...advised, boundary, cwd, named: textsIn(input), kind: 'function' }),
    unloadable: WASI_ADVICE,
  }
  const failure = (): CordonError => {
    if (reply.kind !== 'value') return failureOf(name, result, reply, input, advice)
    if (status === undefined) return fail('tool-garbled', { tool: name, problem: describeEnding(result) })
    const problem = `it ended with the status ${status}${complaintIn(reply.written)}`
    return toolFailed(name, problem, input, { fix: advice.failed() })
  }
  const judged = judgeEnding(name, result, {
    succeeded: status !== undefined && successes.includes(status) && result.status !== 'limit',
    failure,
    ...(reply.kind === 'thrown' ? { cause: reply.error } : {}),
    command: [],
    fix: (met) => policyAdvice(met, advised),
  })
  const common = {
    profile: result.profile,
    violations: result.violations,
    usage: result.usage,
    writtenBytes: said + result.stderr.byteLength,
    printed: reply.printed,
    ending: endingOf(result, reply, status ?? 1),
  }
  const bytes = sizeOf(output).bytes + reply.written.leftOut
  if (reply.kind === 'thrown' && !reply.loaded) return { ...common, ...judged, output: undefined }
  if (judged.status !== 'ok' || bytes <= limits.bytes) return { ...common, ...judged, output }
  const problem = `it has ${bytes} bytes, and may have ${limits.bytes}`
  return {
    ...common,
    status: 'failed',
    error: fail('result-too-large', { tool: name, problem }),
    // Part of it could be taken for the whole.
    output: undefined,
  }
}

const statusIn = (reply: FunctionReply): number | undefined =>
  reply.kind === 'value' && reply.value.kind === 'json' && typeof reply.value.value === 'number'
    ? reply.value.value
    : undefined

const outputOf = async (status: number | undefined, written: Written): Promise<JsonValue> => {
  const [stdout, stderr] = [await textInTurns(written.stdout), await textInTurns(written.stderr)]
  const taken = takeSnapshot({ exit_code: status ?? null, stdout, stderr })
  const output = taken.kind === 'json' ? taken.value : bug('decoded texts that are no JSON')
  await sizeInTurns(output)
  return output
}

const LONGEST_COMPLAINT = 2_000

const complaintIn = ({ stderr }: Written): string => {
  const text = Buffer.from(stderr).toString('utf8').trim()
  return text === '' ? '' : `: ${text.slice(-LONGEST_COMPLAINT)}`
}
