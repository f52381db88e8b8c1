import type { ApprovalGrant, Classifier, Hook, Mode, SessionBudget } from '../gate/index.js'
import type { SandboxOptions } from '../sandbox/index.js'

import type { Approve } from './approvals.js'
import type { AuditSettings } from './audit/audit-log.js'
import type { EventContext } from './events/event.js'
import type { RecordSettings } from './events/recorded-arguments.js'
import type { AskedWith } from './registry/asked-with.js'
import type { RegistrySettings } from './registry/registry-access.js'
import type { RuleOptions } from './settings/rule-sets.js'
import type { ToolOutput } from './result/tool-result.js'
import type { StateSettings } from './settings/session-state.js'
import type { ToolDefinition } from './tools/tools.js'
import type { EgressOptions } from './network/egress-options.js'

export interface CordonOptions extends RuleOptions {
  readonly tools: readonly ToolDefinition[]
  /** What relative patterns are relative to; the working directory of every tool that names no other. */
  readonly workspace: string
  /** What `~` means; the home of the user when not given. */
  readonly home?: string
  readonly mode?: Mode
  readonly hooks?: readonly HostHook[]
  /** Asks somebody. Without it a call that would ask is `unavailable`, at once. */
  readonly approve?: Approve
  readonly approval?: { readonly timeout?: number; readonly otherwise?: 'deny' | 'approve' }
  readonly classify?: Classifier
  /** Where the record is kept; none when left out. */
  readonly audit?: AuditSettings
  /** How much of the arguments events tell. */
  readonly record?: RecordSettings
  /**
   * Where variables that a policy passes on are taken from, and the values of `env:`, which are never passed on.
   * Nothing of it is passed otherwise.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** What one session of calls may do in all. */
  readonly budget?: SessionBudget
  /** Who makes the calls; nobody by this name can approve one. */
  readonly requestedBy?: string
  readonly context?: EventContext
  /** Seals what has to outlive this process (`exportState`), and resumes from it. */
  readonly state?: StateSettings
  /** Spans and metrics, where the package `@opentelemetry/api` is installed. `off`: not even looked for. */
  readonly telemetry?: 'auto' | 'off'
  readonly sandbox?: SandboxOptions
  /** The registry of a team: what may be called, who approves it, and what came of it. */
  readonly registry?: RegistrySettings
  /** The way to granted hosts. */
  readonly egress?: EgressOptions
  /**
   * Files and folders of the host that no tool gets, whatever it is granted. Those that Cordon knows of need not be
   * named.
   */
  readonly ownFiles?: OwnFilesOption
}

/** Absolute paths. */
export interface OwnFilesOption {
  /** Such as the file of a key (`state.key`). */
  readonly withheld?: readonly string[]
  /** Such as rule files that were read with `loadRules`. */
  readonly readOnly?: readonly string[]
}

/** A hook of the host; of the session, unless it says otherwise. */
export type HostHook = Omit<Hook, 'source' | 'throwsDenials'> & Partial<Pick<Hook, 'source'>>

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Calls of one session count together: constraints and budgets are per session. */
  readonly session?: string
  readonly onProgress?: (value: unknown) => void
  /** What a process tool writes, while it runs. */
  readonly onOutput?: (chunk: ToolOutput) => void
  /**
   * Approvals that were given elsewhere, such as in a store. One for a call lets one call run, whatever becomes of it.
   */
  readonly approvals?: readonly ApprovalGrant[]
  /** Goes on with a call that was asked for in the registry before, with the same input. */
  readonly invocation?: string
  /** Further details of a new call for the registry. */
  readonly registry?: AskedWith
  /** Gets the id of the call in the registry. Another process can resume the call with it. */
  readonly onInvocation?: (id: string) => void
}
