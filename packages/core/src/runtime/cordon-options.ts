import type { ApprovalGrant, Classifier, Hook, Mode, SessionBudget } from '../gate/index.js'
import type { ContainerOptions, SandboxOptions } from '../sandbox/index.js'

import type { Approve } from './approvals.js'
import type { AuditLog, AuditSettings } from './audit/audit-log.js'
import type { EventContext } from './events/event.js'
import type { RecordSettings } from './events/recorded-arguments.js'
import type { AskedWith } from './call-outcome.js'
import type { RegistrySource } from './registry/call-registry.js'
import type { ManifestOption } from './held/hold-tools.js'
import type { RuleOptions } from './settings/rule-sets.js'
import type { ToolLog, ToolOutput } from './result/tool-result.js'
import type { StateSettings } from './settings/session-state.js'
import type { Listener } from './events/event-stream.js'
import type { TicketSettings } from './suspend/ticket.js'
import type { ToolDefinition } from './tools/tools.js'
import type { EgressOptions } from './network/egress-options.js'

export interface CordonOptions<
  Tools extends readonly ToolDefinition[] = readonly ToolDefinition[],
> extends RuleOptions {
  readonly tools: Tools
  /** The folder for relative patterns, and the default working directory of tools. */
  readonly workspace: string
  /** The meaning of `~` (default: the home of the user). */
  readonly home?: string
  readonly mode?: Mode
  readonly hooks?: readonly HostHook[]
  /** Asks a person. Without it a call that would ask is `unavailable` at once. */
  readonly approve?: Approve
  readonly approval?: { readonly timeout?: number; readonly otherwise?: 'deny' | 'approve' }
  readonly classify?: Classifier
  /** The audit log (default: none). An open one stays open, so that several sessions of a process can share it. */
  readonly audit?: AuditSettings | AuditLog
  /** Gets every event from the first one on. `on` adds further listeners. */
  readonly onEvent?: Listener<'*'>
  /** How much of a call is recorded. */
  readonly record?: RecordSettings
  /** Variables that policies can pass on, and the values of `env:` sources, which are never passed on. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Calls in cells that run at the same time (default: 8 for each processor, at least 16). Others wait in order. */
  readonly concurrency?: number
  /** Limits of one session. */
  readonly budget?: SessionBudget
  /** The caller, who cannot approve these calls. */
  readonly requestedBy?: string
  readonly context?: Omit<EventContext, 'manifest_hash'>
  /** The file of a manifest (`cordon manifest generate`). A tool that is not within it is refused. */
  readonly manifest?: string | ManifestOption
  /** The key and the text of a state that outlives this process (`exportState`). */
  readonly state?: StateSettings
  /** Lets calls be suspended while somebody decides (`onAsk: 'suspend'`), and resumed in another process. */
  readonly tickets?: TicketSettings
  /** `auto` (default): spans and metrics, if the package `@opentelemetry/api` is installed. */
  readonly telemetry?: 'auto' | 'off'
  readonly sandbox?: SandboxOptions
  /** The engine of container tools (default: found by `environment`, or at the usual sockets). */
  readonly containers?: ContainerOptions
  /** The registry of a team, which decides about calls and keeps their results: `teamRegistry` of `@cordon/team`. */
  readonly registry?: RegistrySource
  /** Settings of the proxy to granted hosts. */
  readonly egress?: EgressOptions
  /** Further files and folders that no policy can grant. Cordon's own need not be named. */
  readonly ownFiles?: OwnFilesOption
}

/** Absolute paths. */
export interface OwnFilesOption {
  /** Such as the file of a key (`state.key`). */
  readonly withheld?: readonly string[]
  /** Such as rule files that were read with `loadRules`. */
  readonly readOnly?: readonly string[]
}

/** A hook of the host. Its default source is `session`. */
export type HostHook = Omit<Hook, 'source' | 'throwsDenials'> & Partial<Pick<Hook, 'source'>>

/** What a caller hears of a call while it runs. */
export interface ResumeOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (value: unknown) => void
  /** Gets the output of a process tool while it runs. */
  readonly onOutput?: (chunk: ToolOutput) => void
  /** Gets the log lines of a function tool. */
  readonly onLog?: (line: ToolLog) => void
  /** For a tool of an MCP server: passed to its server beside the input. The gate does not judge it. */
  readonly attachment?: unknown
}

export interface ResumedCallOptions extends ResumeOptions {
  /** The call that was shown to whoever answered. A ticket of another call is refused. */
  readonly expected?: { readonly tool: string; readonly input: unknown }
}

/** `callStream` has the listeners. */
export type StreamOptions = Omit<CallOptions, 'onProgress' | 'onOutput' | 'onLog'>

/** Its question cannot be suspended, and no registry knows it. */
export type UnconfinedOptions = Pick<CallOptions, 'signal' | 'onOutput' | 'session'>

export interface CallOptions extends ResumeOptions {
  /** If somebody has to approve the call: `wait` for the answer (default), or `suspend` and return a ticket. */
  readonly onAsk?: 'wait' | 'suspend'
  /** Constraints and budgets count per session. */
  readonly session?: string
  /** Approvals that were given elsewhere. One for a call lets one call run, also if it fails. */
  readonly approvals?: readonly ApprovalGrant[]
  /** The id of an earlier call of the registry to continue, with the same input. */
  readonly invocation?: string
  /** Further details of a new call for the registry. */
  readonly registry?: AskedWith
  /** Gets the id of the call in the registry. Another process can resume the call with it. */
  readonly onInvocation?: (id: string) => void
}
