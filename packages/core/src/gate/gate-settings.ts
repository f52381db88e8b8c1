import type { UsedApprovals } from './approval/approval.js'
import type { ListFolder, ResolvePath } from './arguments/resolve-path.js'
import type { JsonValue } from './input/json-value.js'
import type { Hook } from './hooks/hook.js'
import type { RuleSet } from './rules/load-rules.js'
import type { Mode } from './rules/modes.js'
import type { HookReport, Wait } from './hooks/run-hooks.js'
import type { GateTool } from './tool.js'

/** Answers instead of a person, in the mode auto. The gate checks its answer. */
export type Classifier = (request: ClassifierRequest) => unknown

export interface ClassifierRequest {
  readonly tool: string
  readonly input: JsonValue
  readonly risk: GateTool['boundary']['risk']
  readonly isDestructive: boolean
  readonly reason: string
}

/** Everything that the gate needs from outside. It uses no file, clock or random number of its own. */
export interface GateSettings {
  readonly tools: readonly GateTool[]
  readonly ruleSets: readonly RuleSet[]
  readonly mode: Mode
  readonly hooks: readonly Hook[]
  /**
   * Asked at `pre_tool_use` after everything else lets a call run. These hooks may begin something elsewhere that a
   * later refusal would have to undo.
   */
  readonly lastHooks?: readonly Hook[]
  readonly sessionId: string
  /** Whether a person can be asked. */
  readonly isInteractive: boolean
  readonly policySources: readonly string[]
  readonly resolvePath: ResolvePath
  /** Saves a `resolvePath` for every word of a long input. */
  readonly listFolder?: ListFolder
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** An id that nobody can guess. */
  readonly newId: () => string
  readonly wait: Wait
  readonly classify?: Classifier
  /** For gates that share approvals. */
  readonly usedApprovals?: UsedApprovals
  /** Called before and after every hook. Its rejection ends the decision. */
  readonly onHook?: (report: HookReport) => Promise<void>
  /** In milliseconds. */
  readonly lifetimes?: { readonly [What in keyof typeof LIFETIMES]?: number }
}

const LIFETIMES = { hook: 10_000, classifier: 30_000, permit: 60_000, approval: 15 * 60_000 } as const

export const lifetimeOf = ({ lifetimes }: GateSettings, what: keyof typeof LIFETIMES): number =>
  lifetimes?.[what] ?? LIFETIMES[what]
