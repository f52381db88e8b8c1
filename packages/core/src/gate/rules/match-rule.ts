import type { CallFacts } from '../call-facts.js'
import { CONDITIONS, CONDITION_KEYS } from './conditions.js'
import type { ConditionKey, Effect, Rule, RuleConditions } from './rule.js'

type RuleMatcher = (facts: CallFacts) => boolean

/** Matches a call if every condition of the rule does. Its conditions are found once, for many calls. */
export const matcherOf = (rule: Rule): RuleMatcher => {
  const matchers = CONDITION_KEYS.filter((key) => rule[key].length > 0).map((key) =>
    conditionMatcher(key, rule[key], rule.effect),
  )
  return (facts) => matchers.every((matches) => matches(facts))
}

const conditionMatcher = <Key extends ConditionKey>(
  key: Key,
  given: RuleConditions[Key],
  effect: Effect,
): RuleMatcher => {
  const { allows, forbids } = CONDITIONS[key]
  return effect === 'allow' ? (facts) => allows(given, facts) : (facts) => forbids(given, facts)
}
