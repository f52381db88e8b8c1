import type { CordonOptions } from '../cordon-options.js'

import type { RunnerTool } from './tool-files.js'

export interface RunnerOptions {
  readonly url: string
  /**
   * For people; each process gets an ending of its own, because another one by the same name did not begin its calls.
   */
  readonly name: string
  readonly labels: readonly string[]
  /** How many calls at the same time. */
  readonly concurrency: number
  readonly tools: readonly RunnerTool[]
  /** Where tools run, and with what. */
  readonly runtime: Pick<
    CordonOptions,
    | 'workspace'
    | 'home'
    | 'environment'
    | 'audit'
    | 'egress'
    | 'ruleFiles'
    | 'configFolder'
    | 'sandbox'
    | 'record'
    | 'ownFiles'
  >
  /** Opens the credentials that teams keep in the store (`store:TEAM/NAME`). */
  readonly sealingKey?: Buffer
  /** How often the database hears of this runner. */
  readonly heartbeatMs?: number
  /** After how long a silence calls are taken from a runner; the same for all runners of a database. */
  readonly silentMs?: number
  /** How often it looks for changes of the registry and for what others left behind. */
  readonly upkeepMs?: number
  readonly tell?: (news: RunnerNews) => void
}

/** What people may want to see of a runner. */
export type RunnerNews =
  | { readonly kind: 'ready'; readonly runner: string; readonly holds: readonly string[] }
  | { readonly kind: 'serving'; readonly tasks: number }
  | { readonly kind: 'left-to-others'; readonly tool: string; readonly because: string }
  | { readonly kind: 'began'; readonly invocation: string; readonly tool: string }
  /** A request of it went without the credential of its host. */
  | { readonly kind: 'without-credential'; readonly invocation: string; readonly because: string }
  | { readonly kind: 'ended'; readonly invocation: string; readonly status: string }
  /** What came of a call was not taken: it was given to somebody else in the meantime. */
  | { readonly kind: 'refused'; readonly invocation: string; readonly because: string }
  /** The database does not hear this runner; its calls were ended. */
  | { readonly kind: 'lost'; readonly calls: number }
  | { readonly kind: 'trouble'; readonly because: string }
  | { readonly kind: 'draining'; readonly calls: number }

export const RUNNER_DEFAULTS = { heartbeatMs: 10_000, silentMs: 60_000, upkeepMs: 5_000 } as const
