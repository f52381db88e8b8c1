import type { CallFacts } from '../call-facts.js'
import { CONDITIONS, CONDITION_KEYS } from './conditions.js'
import type { ConditionKey, Effect, Rule, RuleConditions } from './rule.js'

export type RuleMatcher = (facts: CallFacts) => boolean

/**
 * Whether a rule speaks of a call: every condition that it gives must hold. Which ones it gives is found
 * once, because a call is compared with many rules.
 */
export const matcherOf = (rule: Rule): RuleMatcher => {
  const [first, ...rest] = CONDITION_KEYS.filter((key) => rule[key].length > 0).map((key) =>
    conditionMatcher(key, rule[key], rule.effect),
  )
  if (first === undefined) return () => true
  if (rest.length === 0) return first
  return (facts) => first(facts) && rest.every((matches) => matches(facts))
}

const conditionMatcher = <Key extends ConditionKey>(
  key: Key,
  given: RuleConditions[Key],
  effect: Effect,
): RuleMatcher => {
  const { allows, forbids } = CONDITIONS[key]
  return effect === 'allow' ? (facts) => allows(given, facts) : (facts) => forbids(given, facts)
}
