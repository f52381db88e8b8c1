import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { sizeOf, takeSnapshot } from '../../gate/index.js'
import type { JsonLimits, JsonValue, Snapshot } from '../../gate/index.js'

import { toolFailed } from '../result/agent-words.js'
import { nextTurn } from '../result/in-turns.js'
import type { BoundTool } from '../tools/bound-tool.js'
import { PROGRESS_LIMITS, resultLimitsOf } from '../result/result-limits.js'
import type { InProcessProfile } from '../../sandbox/index.js'
import type { Execution } from '../result/tool-result.js'
import type { ToolDefinition } from '../tools/tools.js'

export interface FunctionCall {
  readonly input: JsonValue
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: JsonValue) => void
}

/**
 * A function in the agent's own process. Nothing holds it: at its limit of time, or when its caller cancels, its signal
 * is aborted and nobody waits for it any longer.
 */
export const runInProcess = async (
  { gate, cwd }: BoundTool,
  { name, run, policy, result }: Extract<ToolDefinition, { kind: 'in-process' }>,
  { input, signal, onProgress }: FunctionCall,
): Promise<Execution> => {
  const profile = profileOf(gate, cwd)
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
  const told = new AbortController()
  const given = until(signal, policy.limits.wall)
  const running = valueOf(() => run(input, { progress, signal: told.signal }))
  try {
    const outcome = await Promise.race<Outcome>([running, given.over])
    if (outcome.kind !== 'value') {
      const hasEnded = await stopped(told, running)
      return ended({ status: outcome.kind, output: undefined, error: endingError(name, outcome.kind, hasEnded) })
    }
    const taken = takeResult(outcome.value ?? null, resultLimitsOf(result))
    if (taken.kind === 'json') return ended({ status: 'ok', output: taken.value, error: undefined })
    if (taken.isTooLarge) {
      return ended({
        status: 'failed',
        output: undefined,
        error: fail('result-too-large', { tool: name, problem: `it ${taken.problem}` }),
      })
    }
    const problem = `its result is not JSON: ${taken.where} ${taken.problem}`
    return ended({ status: 'failed', output: undefined, error: toolFailed(name, problem, input) })
  } catch (error) {
    return ended({
      status: 'failed',
      output: undefined,
      error: toolFailed(name, error instanceof Error ? error.message : String(error), input, { cause: error }),
    })
  } finally {
    given.done()
  }
}

/** The reach of the agent's own process: whatever its user may do. */
const profileOf = ({ argumentGate, boundary: { limits } }: BoundTool['gate'], cwd: string): InProcessProfile => ({
  mode: 'none',
  backend: 'none',
  cwd,
  read_roots: ['/'],
  write_roots: ['/'],
  network: 'all',
  environment_ref: ['*'],
  process_limits: limits.wall === undefined ? {} : { wall: limits.wall },
  violation_refs: [],
  enforced: {
    arguments: argumentGate === 'enforced' ? ['argument-gate'] : [],
    ...Object.fromEntries(
      ['filesystem_read', 'filesystem_write', 'network', 'environment', 'exec'].map((boundary) => [boundary, []]),
    ),
    // The call ends then; the function is told to, and may go on.
    ...(limits.wall === undefined ? {} : { 'limits.wall': ['abort-signal'] }),
  },
})

const takeResult = (value: unknown, { bytes, elements }: JsonLimits): Snapshot => {
  const taken = takeSnapshot(value, { elements, letters: bytes })
  const size = taken.kind === 'json' ? sizeOf(taken.value).bytes : 0
  return size > bytes
    ? {
        kind: 'problem',
        where: 'it',
        problem: `has ${String(size)} bytes, and may have ${String(bytes)}`,
        isTooLarge: true,
      }
    : taken
}

/** Tells the function to stop, and gives it one turn of the event loop to do so. */
const stopped = async (told: AbortController, running: Promise<unknown>): Promise<boolean> => {
  told.abort()
  const ended = running.then(
    () => true,
    () => true,
  )
  return Promise.race([ended, nextTurn().then(() => false)])
}

/** Nothing can end a function in this process but the function itself. */
const endingError = (tool: string, kind: 'timeout' | 'cancelled', hasEnded: boolean): CordonError => {
  if (kind === 'timeout')
    return hasEnded
      ? fail('tool-timed-out', { tool })
      : fail('tool-left-running', { tool, why: 'reached its wall-clock limit', told: 'The tool took too long.' })
  return hasEnded
    ? fail('cancelled', {})
    : fail('tool-left-running', { tool, why: 'was cancelled by its caller', told: 'The call was cancelled.' })
}

type Outcome =
  { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'cancelled' } | { readonly kind: 'timeout' }

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
    if (milliseconds !== undefined)
      timer = setTimeout(() => {
        resolve({ kind: 'timeout' })
      }, milliseconds)
  })
  const done = () => {
    clearTimeout(timer)
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
  }
  return { over, done }
}
