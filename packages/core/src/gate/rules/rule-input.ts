// Rules as people write them, for the compiler. parse-rule.ts reads them.
import type { Mode } from './modes.js'
import type { Lock } from './load-rules.js'
import type { Effect } from './rule.js'

/** One file of rules, or the same as a value. */
export interface RuleSetInput {
  readonly rules?: readonly RuleInput[]
  /** Only managed rules may have this, and `modes`. */
  readonly managed_only?: readonly Lock[]
  readonly modes?: readonly Mode[]
  readonly trusted_projects?: readonly string[]
}

type OneOrMore<Item> = Item | readonly Item[]

export interface RuleInput {
  readonly id?: string
  readonly effect: Effect
  /** Why the rule exists. Decisions and refusals repeat it. */
  readonly because: string
  readonly tool?: OneOrMore<string>
  readonly arguments?: Readonly<Record<string, OneOrMore<string | number | boolean | null>>>
  readonly paths?: OneOrMore<string> | { readonly read?: OneOrMore<string>; readonly write?: OneOrMore<string> }
  readonly hosts?: OneOrMore<string>
  readonly command?: OneOrMore<string>
  readonly destructive?: { readonly impact_scope: string; readonly rollback_advice: string }
  /** Tried when the rule is loaded. A text is a command of the rule's own tool. */
  readonly examples?: { readonly match?: readonly ExampleInput[]; readonly not_match?: readonly ExampleInput[] }
}

type ExampleInput = string | { readonly tool?: string; readonly input?: unknown }
