import { fail, messageOf } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { sizeOf, takeSnapshot } from '../../gate/index.js'
import type { JsonLimits, JsonValue, Snapshot } from '../../gate/index.js'

import { toolFailed } from '../result/agent-words.js'
import { nextTurn } from '../result/in-turns.js'
import { PROGRESS_LIMITS, resultLimitsOf } from '../result/result-limits.js'
import { monotonicMs } from '../../shapes/index.js'
import { renderLog } from '../result/tool-result.js'
import type { Execution, LogLevel } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolOfKind } from '../tools/tools.js'

const MESSAGE_LIMITS = { elements: PROGRESS_LIMITS.elements, letters: PROGRESS_LIMITS.bytes }
const MOST_PRINTED = 1024 * 1024

/**
 * Runs a function in the agent's own process, where nothing confines it. At its time limit, or when its caller cancels,
 * its signal is aborted and the call ends.
 */
export const runInProcess = async (
  tool: BoundTool,
  { name, run, policy, result }: Extract<ToolDefinition, { kind: 'in-process' }>,
  { input, signal, onProgress, onLog, callId, session }: FunctionCall,
): Promise<Execution> => {
  // The time limit ends the call. The function gets the signal, but nothing stops it.
  const profile = profileWithoutCell(tool, 'none', { wall: 'abort-signal' })
  const began = monotonicMs()
  const ended = (status: Execution['status'], error?: CordonError, output?: JsonValue): Execution => ({
    status,
    output,
    error,
    profile,
    violations: [],
    usage: { wallMs: monotonicMs() - began, cpuMs: 0, maxResidentBytes: 0, peakMemoryBytes: undefined },
    writtenBytes: null,
    printed,
    ending: null,
  })
  const progress = (value: unknown) => {
    const taken = takeSnapshot(value, MESSAGE_LIMITS)
    if (taken.kind === 'json') onProgress(taken.value)
  }
  let printed = ''
  const logAs = (level: LogLevel) => (message: unknown, data?: unknown) => {
    const taken = data === undefined ? undefined : takeSnapshot(data, MESSAGE_LIMITS)
    const line = { level, message: String(message), ...(taken?.kind === 'json' ? { data: taken.value } : {}) }
    if (printed.length < MOST_PRINTED) printed += renderLog(line).slice(0, MOST_PRINTED - printed.length)
    onLog(line)
  }
  const logger = { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') }
  const told = new AbortController()
  const given = until(signal, policy.limits.wall)
  const running = valueOf(() => run(input, { progress, callId, session, logger, signal: told.signal }))
  try {
    const first = await Promise.race<Finished>([running, given.over])
    if (first.kind !== 'value') return ended(first.kind, endingError(name, first.kind, await stopped(told, running)))
    const taken = takeResult(first.value ?? null, resultLimitsOf(result))
    if (taken.kind === 'json') return ended('ok', undefined, taken.value)
    if (taken.isTooLarge)
      return ended('failed', fail('result-too-large', { tool: name, problem: `it ${taken.problem}` }))
    return ended('failed', toolFailed(name, `its result is not JSON: ${taken.where} ${taken.problem}`, input))
  } catch (error) {
    return ended('failed', toolFailed(name, messageOf(error), input, { cause: error }))
  } finally {
    given.done()
  }
}

const takeResult = (value: unknown, { bytes, elements }: JsonLimits): Snapshot => {
  const taken = takeSnapshot(value, { elements, letters: bytes })
  const size = taken.kind === 'json' ? sizeOf(taken.value).bytes : 0
  if (size <= bytes) return taken
  return { kind: 'problem', where: 'it', problem: `has ${size} bytes, and may have ${bytes}`, isTooLarge: true }
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

/** Only the function itself can end in this process. */
const endingError = (tool: string, kind: 'timeout' | 'cancelled', hasEnded: boolean): CordonError => {
  if (kind === 'timeout')
    return hasEnded
      ? fail('tool-timed-out', { tool })
      : fail('tool-left-running', { tool, why: 'reached its wall-clock limit', told: 'The tool took too long.' })
  return hasEnded
    ? fail('cancelled', {})
    : fail('tool-left-running', { tool, why: 'was cancelled by its caller', told: 'The call was cancelled.' })
}

type Finished = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'cancelled' | 'timeout' }

/** A function that throws at once rejects, like one that throws later. */
const valueOf = async (work: () => unknown): Promise<Finished> => ({ kind: 'value', value: await work() })

const until = (signal: AbortSignal | undefined, milliseconds: number | undefined) => {
  let timer: NodeJS.Timeout | undefined
  const listening = new AbortController()
  const over = new Promise<Finished>((resolve) => {
    const onAbort = () => {
      resolve({ kind: 'cancelled' })
    }
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true, signal: listening.signal })
    if (milliseconds !== undefined) timer = setTimeout(resolve, milliseconds, { kind: 'timeout' })
  })
  const done = () => {
    clearTimeout(timer)
    listening.abort()
  }
  return { over, done }
}
