// The record `permission_state`: what decides about calls at the moment.
import type { RuleSet } from '../rules/load-rules.js'
import type { Mode } from '../rules/modes.js'
import { RULE_SOURCES } from '../rules/rule.js'
import type { PermissionState } from './permission-state.js'

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
