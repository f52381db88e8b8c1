import { fail } from '../errors/index.js'
import { sizeOf, takeSnapshot } from '../gate/index.js'
import type { JsonLimits, JsonValue, Snapshot } from '../gate/index.js'

import type { RegisteredTool } from './registered-tool.js'
import { PROGRESS_LIMITS, resultLimitsOf } from './result-limits.js'
import type { Execution, InProcessProfile } from './tool-result.js'
import type { ToolDefinition } from './tools.js'

export interface FunctionCall {
  readonly input: JsonValue
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: JsonValue) => void
}

/** A function in the agent's own process. Nothing holds it; a limit of time or a cancellation is only no longer waited for. */
export const runInProcess = async (
  { gate }: RegisteredTool,
  { name, run, policy, result }: Extract<ToolDefinition, { kind: 'in-process' }>,
  { input, signal, onProgress }: FunctionCall,
): Promise<Execution> => {
  const profile: InProcessProfile = { mode: 'none', backend: 'none', enforced: { arguments: gate.argumentGate === 'enforced' ? ['argument-gate'] : [] } }
  const began = performance.now()
  const ended = (rest: Pick<Execution, 'status' | 'output' | 'error'>): Execution => ({
    ...rest,
    profile,
    violations: [],
    usage: { wallMs: performance.now() - began, cpuMs: 0, maxResidentBytes: 0, peakMemoryBytes: undefined },
    writtenBytes: null,
    printed: '',
    ending: null,
  })
  const progress = (value: unknown) => {
    const taken = takeSnapshot(value, { elements: PROGRESS_LIMITS.elements, letters: PROGRESS_LIMITS.bytes })
    if (taken.kind === 'json') onProgress(taken.value)
  }
  const given = until(signal, policy.limits.wall)
  try {
    const outcome = await Promise.race<Outcome>([valueOf(() => run(input, { progress })), given.over])
    if (outcome.kind === 'cancelled') return ended({ status: 'cancelled', output: undefined, error: fail('cancelled', {}) })
    if (outcome.kind === 'timeout') return ended({ status: 'timeout', output: undefined, error: fail('tool-timed-out', { tool: name }) })
    const taken = takeResult(outcome.value ?? null, resultLimitsOf(result))
    if (taken.kind === 'json') return ended({ status: 'ok', output: taken.value, error: undefined })
    if (taken.isTooLarge) return ended({ status: 'failed', output: undefined, error: fail('result-too-large', { tool: name, problem: `it ${taken.problem}` }) })
    return ended({ status: 'failed', output: undefined, error: fail('tool-failed', { tool: name, problem: `its result is not JSON: ${taken.where} ${taken.problem}` }) })
  } catch (error) {
    return ended({ status: 'failed', output: undefined, error: fail('tool-failed', { tool: name, problem: error instanceof Error ? error.message : String(error) }, error) })
  } finally {
    given.done()
  }
}

const takeResult = (value: unknown, { bytes, elements }: JsonLimits): Snapshot => {
  const taken = takeSnapshot(value, { elements, letters: bytes })
  const size = taken.kind === 'json' ? sizeOf(taken.value).bytes : 0
  return size > bytes ? { kind: 'problem', where: 'it', problem: `has ${String(size)} bytes, and may have ${String(bytes)}`, isTooLarge: true } : taken
}

type Outcome = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'cancelled' } | { readonly kind: 'timeout' }

/** A function that throws at once rejects, like one that throws later. */
const valueOf = async (work: () => unknown): Promise<Outcome> => ({ kind: 'value', value: await work() })

const until = (signal: AbortSignal | undefined, milliseconds: number | undefined) => {
  let timer: NodeJS.Timeout | undefined
  let onAbort: (() => void) | undefined
  const over = new Promise<Outcome>((resolve) => {
    onAbort = () => {
      resolve({ kind: 'cancelled' })
    }
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    if (milliseconds !== undefined) timer = setTimeout(() => {
      resolve({ kind: 'timeout' })
    }, milliseconds)
  })
  const done = () => {
    clearTimeout(timer)
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
  }
  return { over, done }
}
