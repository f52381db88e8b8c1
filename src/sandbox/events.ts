import { bug } from '../errors/index.js'

import { textOfName } from './file-names.js'

/** What a launcher reports, parsed. */
export type CellEvent =
  | { readonly event: 'applied'; readonly landlock: number; readonly supervisor: number; readonly measurable: boolean }
  | { readonly event: 'violation'; readonly kind: ViolationKind; readonly attempted: string; readonly detail: string }
  | { readonly event: 'open'; readonly path: string; readonly access: 'read' | 'write' }
  | { readonly event: 'stopped'; readonly signal: number }
  | { readonly event: 'error'; readonly stage: string; readonly errno: number; readonly error: string; readonly detail: string }
  | ExitEvent

export interface ExitEvent {
  readonly event: 'exit'
  readonly code: number
  readonly signal: number
  readonly limit: '' | LimitKind
  readonly wall_ms: number
  readonly cpu_ms: number
  readonly max_rss_kb: number
}

export type LimitKind = 'memory' | 'processes' | 'cpu' | 'wall' | 'output' | 'scratch'
export type ViolationKind = 'connect' | 'listen' | 'exec' | 'file' | 'protected' | LimitKind

/** A boundary that was touched: what was tried, and against what. */
export interface Violation {
  readonly kind: ViolationKind
  readonly attempted: string
  readonly detail: string
}

const KINDS: ReadonlySet<string> = new Set(['applied', 'violation', 'open', 'stopped', 'error', 'exit'])

export const parseCellEvent = (payload: Buffer): CellEvent => {
  const parsed = JSON.parse(payload.toString('latin1'), bytesToText) as { event?: unknown }
  if (typeof parsed.event !== 'string' || !KINDS.has(parsed.event)) return bug(`the launcher sent ${payload.toString('latin1').slice(0, 200)}`)
  return parsed as CellEvent
}

/** The launcher writes bytes beyond ASCII as \u00XX, because a file name need not be UTF-8. */
const bytesToText = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? textOfName(Buffer.from(value, 'latin1')) : value
