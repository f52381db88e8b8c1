import type { Boundary } from '../policy/index.js'

import type { CellEnd } from './cell.js'
import type { LimitKind, Violation } from './events.js'
import { realPathOnHost, refusedOpens } from './observed-files.js'
import type { PlannedCell } from './plan-cell.js'
import type { SandboxProfile } from './profile.js'

export interface Usage {
  readonly wallMs: number
  readonly cpuMs: number
  readonly maxResidentBytes: number
}

/** How a program ended inside its cell. A limit or a signal is a status of its own, never an exit code. */
export interface CallResult {
  readonly status: 'exited' | 'signaled' | 'limit'
  readonly exitCode: number | undefined
  readonly signal: number | undefined
  readonly limit: LimitKind | undefined
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly profile: SandboxProfile
  readonly violations: readonly Violation[]
  readonly usage: Usage
}

/** What a call was given, and what was found in its write roots when it had ended. */
export interface EndedCall {
  readonly planned: PlannedCell
  readonly boundary: Boundary
  readonly found: readonly Violation[]
}

export const describeEnd = ({ exit, ...end }: CellEnd, { planned, boundary, found }: EndedCall, stdout: Uint8Array, stderr: Uint8Array): CallResult => {
  const observed = refusedOpens(end.opens, { boundary, temporary: planned.plan.temporary, realPathOf: realPathOnHost })
  const violations = [...end.violations, ...observed, ...found]
  return {
    status: exit.limit !== '' ? 'limit' : exit.code < 0 ? 'signaled' : 'exited',
    exitCode: exit.code < 0 ? undefined : exit.code,
    signal: exit.signal === 0 ? undefined : exit.signal,
    limit: exit.limit === '' ? undefined : exit.limit,
    stdout,
    stderr,
    profile: { ...planned.profile, violation_refs: violations.map((_, index) => `violations/${String(index)}`) },
    violations,
    usage: { wallMs: exit.wall_ms, cpuMs: exit.cpu_ms, maxResidentBytes: exit.max_rss_kb * 1024 },
  }
}

interface Collected {
  readonly take: (bytes: Buffer) => void
  readonly bytes: () => Uint8Array
}

/** Keeps the bytes of a stream, unless somebody else takes them as they come. */
export const collect = (sink: ((bytes: Uint8Array) => void) | undefined): Collected => {
  const chunks: Buffer[] = []
  return {
    take: (bytes: Buffer): void => {
      if (sink === undefined) chunks.push(bytes)
      else sink(bytes)
    },
    bytes: (): Uint8Array => (chunks.length === 1 ? (chunks[0] ?? new Uint8Array()) : Buffer.concat(chunks)),
  }
}
