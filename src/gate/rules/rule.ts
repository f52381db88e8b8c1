import type { Destination, PathPattern } from '../../policy/index.js'

import type { CommandPattern } from '../commands/command-pattern.js'
import type { FoldedPattern } from '../arguments/folded-path.js'
import type { JsonValue } from '../input/json-value.js'
import type { TextPattern } from '../commands/text-pattern.js'
import type { DestructiveFacts } from '../tool.js'

/** From the strictest to the mildest. */
export const EFFECTS = ['deny', 'ask', 'allow'] as const
export type Effect = (typeof EFFECTS)[number]

/** From the first that is named as the reason to the last; what they say counts alike. */
export const RULE_SOURCES = ['managed', 'bundled', 'project', 'user', 'session', 'command_line'] as const
export type RuleSource = (typeof RULE_SOURCES)[number]

export interface PathCondition {
  readonly access: 'read' | 'write' | 'any'
  readonly patterns: readonly PathPattern[]
  /** For denials: letters of either case, and everything beneath what matches. */
  readonly folded: readonly FoldedPattern[]
}

export interface HostCondition {
  readonly text: string
  /** Undefined: every host, written `*`. */
  readonly destination: Destination | undefined
  readonly port: { readonly kind: 'unspecified' } | { readonly kind: 'port'; readonly port: number }
}

export interface ArgumentCondition {
  /** `options.force`, where `*` stands for every key or item. */
  readonly keys: readonly string[]
  readonly accepts: readonly (TextPattern | Exactly)[]
}

/** A number, a boolean or null. */
export interface Exactly {
  readonly exactly: JsonValue
}

/**
 * What a rule can ask of a call. Whatever is added here is asked for by the compiler in `conditions.ts`,
 * where it says how it is written, when it holds and what it says about everything, and in `rule-shelves.ts`.
 */
export interface ConditionItems {
  readonly tools: TextPattern
  readonly arguments: ArgumentCondition
  readonly paths: PathCondition
  readonly hosts: HostCondition
  readonly commands: CommandPattern
}

export type ConditionKey = keyof ConditionItems

/** Empty: not asked for. Every condition that is given must hold. */
export type RuleConditions = { readonly [Key in ConditionKey]: readonly ConditionItems[Key][] }

/** A condition belongs into `ConditionItems`: what stands here is never compared with a call. */
export interface Rule extends RuleConditions {
  readonly id: string
  readonly effect: Effect
  readonly source: RuleSource
  /** `rules.yaml:12`, or how a rule that is not from a file is known. */
  readonly place: string
  readonly because: string
  readonly destructive: DestructiveFacts | undefined
}
