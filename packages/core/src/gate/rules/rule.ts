import type { Destination, PathPattern, PortGrant } from '../../policy/index.js'

import type { CommandPattern } from '../commands/command-pattern.js'
import type { FoldedPattern } from '../arguments/folded-path.js'
import type { JsonValue } from '../input/json-value.js'
import type { TextPattern } from '../commands/text-pattern.js'
import type { DestructiveFacts } from '../tool.js'

/** From the strictest to the mildest. */
export const EFFECTS = ['deny', 'ask', 'allow'] as const
export type Effect = (typeof EFFECTS)[number]

export const strictest = (given: readonly { readonly effect: string }[]): Effect | 'unmatched' =>
  EFFECTS.find((effect) => given.some((each) => each.effect === effect)) ?? 'unmatched'

/** In the order in which reasons name them. All sources count alike. */
export const RULE_SOURCES = ['managed', 'bundled', 'project', 'user', 'session', 'command_line'] as const
export type RuleSource = (typeof RULE_SOURCES)[number]

export interface PathCondition {
  readonly access: 'read' | 'write' | 'any'
  readonly patterns: readonly PathPattern[]
  /** For denials, which ignore case and cover everything beneath a match. */
  readonly folded: readonly FoldedPattern[]
}

export interface HostCondition {
  /** Undefined: every host, written `*`. */
  readonly destination: Destination | undefined
  readonly port: PortGrant
}

export interface ArgumentCondition {
  /** `options.force`, where `*` means every key or item. */
  readonly keys: readonly string[]
  /** `exactly`: a number, a boolean or null. */
  readonly accepts: readonly (TextPattern | { readonly exactly: JsonValue })[]
}

/** The conditions of a rule. For a new one, the compiler demands entries in `conditions.ts` and `rule-shelves.ts`. */
export interface ConditionItems {
  readonly tools: TextPattern
  readonly arguments: ArgumentCondition
  readonly paths: PathCondition
  readonly hosts: HostCondition
  readonly commands: CommandPattern
}

export type ConditionKey = keyof ConditionItems

/** An empty condition matches. All others must match too. */
export type RuleConditions = { readonly [Key in ConditionKey]: readonly ConditionItems[Key][] }

/** Conditions belong into `ConditionItems`. The other fields are not compared with calls. */
export interface Rule extends RuleConditions {
  readonly id: string
  readonly effect: Effect
  readonly source: RuleSource
  /** `rules.yaml:12`, or the name of a list that is not from a file. */
  readonly place: string
  readonly because: string
  readonly destructive: DestructiveFacts | undefined
}
