// The record `permission_state`: the mode, the rules and their sources.
import type { GateSettings } from '../gate-settings.js'
import { RULE_SOURCES } from '../rules/rule.js'
import type { PermissionState } from './permission-state.js'

export const describeState = ({
  mode,
  ruleSets,
  policySources,
  isInteractive,
}: Pick<GateSettings, 'mode' | 'ruleSets' | 'policySources' | 'isInteractive'>): PermissionState => {
  const sets = ruleSets.toSorted((a, b) => RULE_SOURCES.indexOf(a.source) - RULE_SOURCES.indexOf(b.source))
  return {
    mode,
    rules: sets.flatMap(({ rules }) =>
      rules.map(({ id, effect, source, place, because }) => ({ ref: id, effect, source, place, because })),
    ),
    policy_sources: [...new Set([...policySources, ...sets.map(({ name }) => name)])],
    interactive: isInteractive,
    managed_only: [...new Set(sets.flatMap(({ managedOnly }) => managedOnly))],
  }
}
