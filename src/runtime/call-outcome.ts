import type { ApprovalGrant } from '../gate/index.js'

import type { EgressSummary } from './events/event.js'
import type { AskedWith } from './registry/asked-with.js'
import type { Execution, RegisteredFacts, ToolOutput } from './result/tool-result.js'

/** What one call brings along. */
export interface CallHandlers {
  readonly signal: AbortSignal | undefined
  readonly onProgress: (value: unknown) => void
  readonly onOutput: ((chunk: ToolOutput) => void) | undefined
  readonly onInvocation: (id: string) => void
  /** The invocation in the store that this call goes on with. */
  readonly resume: string | undefined
  readonly askedWith: AskedWith | undefined
  /** An approval let the call run: one for the session is kept, one for a call is used now. Says whether it was not known yet. */
  readonly onGrant: (grant: ApprovalGrant) => boolean
}

/** How a run ended, also where there was none because it could not begin. */
export type Outcome = Omit<Execution, 'profile'> & { readonly profile: Execution['profile'] | null; readonly egress: EgressSummary | null; readonly bareRequests?: readonly string[]; readonly durationMs: number; readonly registered?: RegisteredFacts }
