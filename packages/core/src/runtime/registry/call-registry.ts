// The contract between the life of a call and the registry of a team, which `@cordon/team` fulfils: the registry
// decides whether a call may run, if needed by asking people, and keeps its result.
import type { JsonValue } from '../../gate/index.js'

import type { AskedWith, CallHandlers, CallOutcome } from '../call-outcome.js'
import type { OwnFile } from '../own-files/index.js'
import type { ToolDefinition } from '../tools/tools.js'

/** The option `registry` of createCordon. */
export interface RegistrySource {
  /** Who runs the calls: this process, or runners on other hosts. */
  readonly execution: 'here' | 'runners'
  /** Files by which a tool could act as anybody. They are withheld from tools. */
  readonly ownFiles: readonly OwnFile[]
  readonly open: (host: RegistryHost) => Promise<CallRegistry>
}

/** What a registry may ask about the process that opens it. */
interface RegistryHost {
  /** The tools of the runtime as they are now. */
  readonly definitionOf: (name: string) => ToolDefinition | undefined
  readonly workspace?: string
  readonly home?: string
  /** The mechanisms of this host. Empty where no cell can be made. */
  readonly mechanisms: () => Promise<readonly string[]>
}

export interface RegistryRequest {
  readonly tool: string
  readonly input: JsonValue
  readonly askedWith?: AskedWith
  /** The id of an earlier call to continue, of this process or of one that is gone. */
  readonly resume?: string
  /** Nobody else has to be asked after the registry, so a call that it approves is claimed at once. */
  readonly isAskedLast: boolean
}

export type RegistryDecision =
  /** `by` is null if nobody had to be asked. `hasEnded`: it has a result already. */
  | { readonly kind: 'approved'; readonly by: string | null; readonly hasEnded: boolean }
  | { readonly kind: 'denied'; readonly by: string; readonly reason: string }

export interface RegistryWait {
  readonly kind: 'waiting'
  readonly because: string
}

/** One call in the registry. */
export interface RegistryEntry {
  readonly id: string
  readonly now: () => Promise<RegistryDecision | RegistryWait>
  readonly decision: (signal: AbortSignal | undefined) => Promise<RegistryDecision>
  /** No effect once another runner has claimed the call. */
  readonly withdraw: () => Promise<void>
  /** Claims the call. Fails if another runner has it, or it may not run any more. */
  readonly start: () => Promise<void>
  readonly complete: (run: EndedRun) => Promise<void>
  /** Aborted when the run has to end: it was cancelled, or may be given to another runner. */
  readonly cancelled: AbortSignal
  /** Waits for the end of a call that another runner runs, and passes on its output. */
  readonly ended: (listening: RemoteListening) => Promise<Elsewhere>
}

export interface CallRegistry {
  readonly execution: 'here' | 'runners'
  readonly ask: (request: RegistryRequest) => Promise<RegistryEntry>
  /** Stops waiting. Calls stay in the registry, and can be resumed by their ids. */
  readonly leave: () => void
  readonly close: () => Promise<void>
}

export type EndedRun = Pick<
  CallOutcome,
  | 'status'
  | 'output'
  | 'error'
  | 'usage'
  | 'writtenBytes'
  | 'egress'
  | 'bareRequests'
  | 'profile'
  | 'violations'
  | 'durationMs'
>

export type RemoteListening = Pick<CallHandlers, 'signal' | 'onProgress' | 'onOutput'>

export type Elsewhere = Pick<CallOutcome, 'status' | 'output' | 'error' | 'durationMs' | 'bareRequests'> &
  Required<Pick<CallOutcome, 'registered'>>
