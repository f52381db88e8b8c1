// The result of a call: how it ended, what it printed, and what its boundary refused.
import type { CordonError } from '../errors/index.js'
import type { Boundary } from '../policy/index.js'

import type { CellEnd } from './launch/cell.js'
import type { ExitEvent } from './result/events.js'
import { findRealPath } from './grants/object-at.js'
import { refusedOpens } from './result/observed-files.js'
import type { PlannedCell } from './plan/planned-cell.js'
import type { SandboxProfile, UnconfinedProfile } from './plan/sandbox-profile.js'
import type { LimitKind, Violation } from './result/violations.js'

export interface Usage {
  readonly wallMs: number
  readonly cpuMs: number
  /** Of the largest process. */
  readonly maxResidentBytes: number
  /** Of all processes together, with files in memory. Only a cgroup counts that. */
  readonly peakMemoryBytes: number | undefined
}

/** How a program ended inside its cell. A limit or a signal is a status of its own, never an exit code. */
export type Ending =
  | { readonly status: 'exited'; readonly exitCode: number }
  | { readonly status: 'signaled'; readonly signal: number }
  /** Killed by Cordon, or by the kernel for it, with this signal. */
  | { readonly status: 'limit'; readonly limit: LimitKind; readonly signal: number }

export const describeEnding = (ending: Ending): string => {
  switch (ending.status) {
    case 'exited':
      return `exit ${ending.exitCode}`
    case 'signaled':
      return `killed by signal ${ending.signal}`
    case 'limit':
      return `ended by the ${ending.limit} limit`
  }
}

export interface CallRecord {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly profile: SandboxProfile
  readonly violations: readonly Violation[]
  readonly usage: Usage
}

export type CallResult = Ending & CallRecord

/** Of a cell, or of a plain process without one. */
export type ProcessResult = Ending &
  Omit<CallRecord, 'profile'> & { readonly profile: SandboxProfile | UnconfinedProfile }

/** A call, with the violations that were found in its write roots at its end. */
export interface EndedCell {
  readonly planned: PlannedCell
  readonly boundary: Boundary
  readonly found: readonly Violation[]
}

export const describeEnd = async (
  { exit, ...end }: CellEnd,
  { planned, boundary, found }: EndedCell,
  stdout: Uint8Array,
  stderr: Uint8Array,
): Promise<CallResult> => {
  const observed = await refusedOpens(end.opens, {
    boundary,
    temporary: planned.plan.temporary,
    realPathOf: findRealPath,
  })
  const violations = withoutRepeats([...end.violations, ...observed, ...found])
  return {
    ...endingOf(exit),
    stdout,
    stderr,
    profile: { ...planned.profile, violation_refs: violations.map((_, index) => `violations/${index}`) },
    violations,
    usage: {
      wallMs: exit.wall_ms,
      cpuMs: exit.cpu_ms,
      maxResidentBytes: exit.max_rss_kb * 1024,
      peakMemoryBytes: exit.memory_peak === 0 ? undefined : exit.memory_peak,
    },
  }
}

/** Both the keeper and the watcher report a lost seal, perhaps more than once. */
const withoutRepeats = (violations: readonly Violation[]): readonly Violation[] => {
  const isFirst = (violation: Violation, at: number) =>
    violation.kind !== 'unsealed' ||
    violations.findIndex((other) => other.kind === 'unsealed' && other.path === violation.path) === at
  return violations.filter(isFirst)
}

const SIGKILL = 9

const endingOf = ({ code, signal, limit }: ExitEvent): Ending => {
  // A tool may exit by itself at the moment in which it is killed for a limit.
  if (limit !== '') return { status: 'limit', limit, signal: signal === 0 ? SIGKILL : signal }
  return code < 0 ? { status: 'signaled', signal } : { status: 'exited', exitCode: code }
}

/**
 * Keeps the bytes of a stream, unless a sink takes them. They are joined while the tool runs: at the end the caller
 * would wait a millisecond for a few megabytes.
 */
export const collect = (
  sink: ((bytes: Uint8Array) => void) | undefined,
): { readonly take: (bytes: Buffer) => void; readonly bytes: () => Uint8Array } => {
  let kept: Buffer = Buffer.alloc(0)
  let length = 0
  const keep = (bytes: Buffer): void => {
    const needed = length + bytes.length
    if (length > 0 && needed > kept.length) {
      const larger = Buffer.allocUnsafe(needed * 2)
      kept.copy(larger, 0, 0, length)
      kept = larger
    }
    // The first piece is often the only one, and is not copied.
    if (length === 0) kept = bytes
    else bytes.copy(kept, length)
    length = needed
  }
  return { take: sink ?? keep, bytes: () => kept.subarray(0, length) }
}

// Kept beside the error: the violations of a call are not the reason why it was cancelled.
const results = new WeakMap<CordonError, ProcessResult>()

/** The error of a cancelled call, with what the call did until then. */
export const interrupted = (error: CordonError, result: ProcessResult): CordonError => {
  results.set(error, result)
  return error
}

/** What a cancelled call did. Undefined if it never ran. */
export const resultOfInterrupted = (error: CordonError): ProcessResult | undefined => results.get(error)
