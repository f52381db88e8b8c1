import { fail, messageOf } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { sizeOf, takeSnapshot } from '../../gate/index.js'
import type { JsonLimits, JsonValue, Snapshot } from '../../gate/index.js'
import type { UnconfinedProfile } from '../../sandbox/index.js'
import { monotonicMs } from '../../shapes/index.js'

import type { PermittedCall } from '../call/call-services.js'
import { toolFailed } from '../result/agent-words.js'
import { nextTurn } from '../result/in-turns.js'
import { PROGRESS_LIMITS, resultLimitsOf } from '../result/result-limits.js'
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
  { name, run, policy, result }: ToolOfKind<'in-process'>,
  { input, signal, onProgress, onLog, callId, session }: PermittedCall,
): Promise<Execution> => {
  // The time limit ends the call. The function gets the signal, but nothing stops it.
  const profile = profileWithoutCell(tool, 'none', { wall: 'abort-signal' })
  const began = monotonicMs()
  const ended = (status: Execution['status'], error?: CordonError, output?: JsonValue): Execution => ({
    ...withoutProcess(began),
    status,
    output,
    error,
    profile,
    printed,
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
  const limited = limitedSignal(signal, policy.limits.wall)
  // Listens first: a function that answers to the signal comes too late.
  const over = new Promise<Finished>((resolve) => {
    const stop = () => {
      resolve({ kind: limited.isOver() ? 'timeout' : 'cancelled' })
    }
    if (limited.signal.aborted) stop()
    limited.signal.addEventListener('abort', stop)
  })
  const running = valueOf(() => run(input, { progress, callId, session, logger, signal: limited.signal }))
  try {
    const first = await Promise.race<Finished>([running, over])
    if (first.kind !== 'value') return ended(first.kind, endingError(name, first.kind, await hasStopped(running)))
    const taken = takeResult(first.value ?? null, resultLimitsOf(result))
    if (taken.kind === 'json') return ended('ok', undefined, taken.value)
    if (taken.isTooLarge)
      return ended('failed', fail('result-too-large', { tool: name, problem: `it ${taken.problem}` }))
    return ended('failed', toolFailed(name, `its result is not JSON: ${taken.where} ${taken.problem}`, input))
  } catch (error) {
    return ended('failed', toolFailed(name, messageOf(error), input, { cause: error }))
  } finally {
    limited.done()
  }
}

const takeResult = (value: unknown, { bytes, elements }: JsonLimits): Snapshot => {
  const taken = takeSnapshot(value, { elements, letters: bytes })
  const size = taken.kind === 'json' ? sizeOf(taken.value).bytes : 0
  if (size <= bytes) return taken
  return { kind: 'problem', where: 'it', problem: `has ${size} bytes, and may have ${bytes}`, isTooLarge: true }
}

/** The function was told to stop, and gets one turn of the event loop to do so. */
const hasStopped = async (running: Promise<unknown>): Promise<boolean> => {
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

/** A signal that aborts with that of the caller, and at a time limit. */
export interface LimitedSignal {
  readonly signal: AbortSignal
  /** Whether the time limit was reached. */
  readonly isOver: () => boolean
  readonly done: () => void
}

export const limitedSignal = (signal: AbortSignal | undefined, milliseconds: number | undefined): LimitedSignal => {
  const both = new AbortController()
  let isOver = false
  const end = () => {
    isOver = true
    both.abort()
  }
  const timer = milliseconds === undefined ? undefined : setTimeout(end, milliseconds)
  const pass = () => {
    both.abort()
  }
  if (signal?.aborted === true) pass()
  signal?.addEventListener('abort', pass, { once: true })
  const done = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', pass)
  }
  return { signal: both.signal, isOver: () => isOver, done }
}

type NoProcess = Pick<Execution, 'violations' | 'usage' | 'writtenBytes' | 'printed' | 'ending'>

/** Of a call without a process of its own. */
export const withoutProcess = (began: number): NoProcess => ({
  violations: [],
  usage: { wallMs: monotonicMs() - began, cpuMs: 0, maxResidentBytes: 0, peakMemoryBytes: undefined },
  writtenBytes: null,
  printed: '',
  ending: null,
})

const UNHELD = ['filesystem_read', 'filesystem_write', 'network', 'environment', 'exec'] as const

/**
 * Of a call that no cell confines: the tool can do whatever the user of the agent's process may do. `ended`: what ends
 * a call at each of its limits.
 */
export const profileWithoutCell = (
  { gate: { argumentGate, boundary }, cwd }: Pick<BoundTool, 'gate' | 'cwd'>,
  backend: UnconfinedProfile['backend'],
  ended: Readonly<Partial<Record<'wall' | 'output', string>>>,
): UnconfinedProfile => {
  const limits = (['wall', 'output'] as const).flatMap((name) => {
    const [limit, mechanism] = [boundary.limits[name], ended[name]]
    return limit === undefined || mechanism === undefined ? [] : [{ name, limit, mechanism }]
  })
  return {
    mode: 'none',
    backend,
    cwd,
    read_roots: ['/'],
    write_roots: ['/'],
    network: 'all',
    environment_ref: ['*'],
    process_limits: Object.fromEntries(limits.map(({ name, limit }) => [name, limit])),
    violation_refs: [],
    enforced: {
      arguments: argumentGate === 'enforced' ? ['argument-gate'] : [],
      ...Object.fromEntries(UNHELD.map((boundaryName) => [boundaryName, []])),
      ...Object.fromEntries(limits.map(({ name, mechanism }) => [`limits.${name}`, [mechanism]])),
    },
  }
}
