// The rules that matched a call, for the record of its decision.
import type { Rule } from '../rules/rule.js'
import type { RuleVerdict } from '../rules/rule-index.js'
import type { ExplainedRule } from './permission-decision.js'

const MAX_RULES_SHOWN = 16

export const explainRules = ({
  deciding,
  overruled,
  locked,
  untrusted,
}: Pick<RuleVerdict, 'deciding' | 'overruled' | 'locked' | 'untrusted'>): readonly ExplainedRule[] =>
  // Most calls match no rule.
  deciding.length + overruled.length + locked.length + untrusted.length === 0
    ? []
    : [
        ...standing(deciding, 'decides'),
        ...standing(overruled, 'overruled'),
        ...standing(locked, 'locked'),
        ...standing(untrusted, 'untrusted'),
      ].slice(0, MAX_RULES_SHOWN)

const standing = (rules: readonly Rule[], as: ExplainedRule['standing']): readonly ExplainedRule[] =>
  rules.map(({ id, effect, source, place, because }) => ({ ref: id, effect, source, place, because, standing: as }))

export const refsOf = (rules: readonly Rule[]): readonly string[] => rules.slice(0, MAX_RULES_SHOWN).map(({ id }) => id)
