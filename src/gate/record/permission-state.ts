// The record `permission_state`, with the field names of schemas/permission_state.schema.json.
import type { RuleSet } from '../rules/load-rules.js'
import type { Mode } from '../rules/modes.js'
import type { Effect, RuleSource } from '../rules/rule.js'
import { RULE_SOURCES } from '../rules/rule.js'

export interface PermissionState {
  readonly mode: Mode
  readonly rules: readonly { readonly ref: string; readonly effect: Effect; readonly source: RuleSource; readonly place: string; readonly because: string }[]
  readonly policy_sources: readonly string[]
  /** Whether somebody can be asked. */
  readonly interactive: boolean
  readonly managed_only: readonly string[]
}

export interface StateSettings {
  readonly mode: Mode
  readonly ruleSets: readonly RuleSet[]
  /** Files and names of the policies in force. */
  readonly policySources: readonly string[]
  readonly isInteractive: boolean
}

export const describeState = ({ mode, ruleSets, policySources, isInteractive }: StateSettings): PermissionState => {
  const sets = ruleSets.toSorted((a, b) => RULE_SOURCES.indexOf(a.source) - RULE_SOURCES.indexOf(b.source))
  return {
    mode,
    rules: sets.flatMap(({ rules }) => rules.map(({ id, effect, source, place, because }) => ({ ref: id, effect, source, place, because }))),
    policy_sources: [...new Set([...policySources, ...sets.map(({ name }) => name)])],
    interactive: isInteractive,
    managed_only: [...new Set(sets.flatMap(({ managedOnly }) => managedOnly))],
  }
}
