import type { CallResult, CellSettings, Pool, RunRequest } from '../../src/sandbox/index.js'

import type { Gaps } from './gap.js'

/** What the suite asks of a backend. A `Sandbox` is one as it stands. */
export interface Backend {
  readonly run: (request: RunRequest) => Promise<CallResult>
  readonly close: () => Promise<void>
  /** Absent where a backend holds no cells ready. */
  readonly warm?: (settings: CellSettings & { readonly program: string }) => Pool
  /** The processes that hold cells, waiting or busy, for tests that look for them or end them. */
  readonly cellProcesses?: () => readonly number[]
}

export interface Candidate {
  readonly name: string
  readonly open: () => Promise<Backend>
  /** Why this backend cannot be had on this host; undefined where it can. */
  readonly missing: string | undefined
  readonly gaps: Gaps
}
