import type { CordonOptions } from 'cordon/runtime'

import type { RunnerTool } from '../tools/tool-files.js'

export interface RunnerOptions {
  readonly url: string
  /** Each process adds an ending of its own. */
  readonly name: string
  readonly labels: readonly string[]
  /** The number of calls at the same time. */
  readonly concurrency: number
  readonly tools: readonly RunnerTool[]
  readonly runtime: Pick<
    CordonOptions,
    | 'workspace'
    | 'home'
    | 'environment'
    | 'audit'
    | 'egress'
    | 'ruleFiles'
    | 'manifest'
    | 'configFolder'
    | 'sandbox'
    | 'record'
    | 'ownFiles'
  >
  /** Opens credentials of the store (`store:TEAM/NAME`). */
  readonly sealingKey?: Buffer
  readonly heartbeatMs?: number
  /** After this long without a heartbeat a runner loses its calls. The same for all runners of a database. */
  readonly silentMs?: number
  /** How often it looks for registered tools and for calls of lost runners. */
  readonly upkeepMs?: number
  readonly tell?: (news: RunnerNews) => void
  /** Called at every heartbeat, with whether it claims calls: its lease is held, and it does not drain. */
  readonly tellHealth?: (isReady: boolean) => void
}

/** What a runner reports to people. */
export type RunnerNews =
  | { readonly kind: 'ready'; readonly runner: string; readonly holds: readonly string[] }
  | { readonly kind: 'serving'; readonly tasks: number }
  | { readonly kind: 'left-to-others'; readonly tool: string; readonly because: string }
  | { readonly kind: 'began'; readonly invocation: string; readonly tool: string }
  /** A request went without the credential of its host. */
  | { readonly kind: 'without-credential'; readonly invocation: string; readonly because: string }
  | { readonly kind: 'ended'; readonly invocation: string; readonly status: string }
  /** The result was refused: another runner has the call by now. */
  | { readonly kind: 'refused'; readonly invocation: string; readonly because: string }
  /** The heartbeats do not arrive. The calls were ended. */
  | { readonly kind: 'lost'; readonly calls: number }
  | { readonly kind: 'trouble'; readonly because: string }
  | { readonly kind: 'draining'; readonly calls: number }

export const RUNNER_DEFAULTS = { heartbeatMs: 10_000, silentMs: 60_000, upkeepMs: 5_000 } as const
