// The record `permission_state`: its type and schemas/permission_state.schema.json come from one declaration.
import { described, filled, list, oneOf, record, recordFile, text, yesOrNo } from '../../shapes/index.js'
import type { Schema, Shaped } from '../../shapes/index.js'

import type { GateSettings } from '../gate-settings.js'
import { LOCKS } from '../rules/load-rules.js'
import { MODES } from '../rules/modes.js'
import { EFFECTS, RULE_SOURCES } from '../rules/rule.js'

const RULE = record({
  ref: filled(),
  effect: oneOf(...EFFECTS),
  source: oneOf(...RULE_SOURCES),
  place: described('File and line, or how a rule that is not from a file is known.', text()),
  because: filled(),
})

const PERMISSION_STATE = record({
  mode: oneOf(...MODES),
  rules: described('In the order of precedence of their sources.', list(RULE)),
  policy_sources: described('Files and names of the policies and rules in force.', list(text()), { uniqueItems: true }),
  interactive: described('Whether somebody can be asked.', yesOrNo()),
  managed_only: described('What only managed rules may do.', list(oneOf(...LOCKS)), { uniqueItems: true }),
})
export type PermissionState = Shaped<typeof PERMISSION_STATE>

export const permissionStateSchema = (): Schema =>
  recordFile(
    'permission_state',
    'What decides about calls at the moment: the mode, the rules and where they come from, and whether ' +
      'somebody can be asked.',
    PERMISSION_STATE,
    { required: ['mode', 'rules', 'policy_sources', 'interactive'] },
  )

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
