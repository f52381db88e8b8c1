import { bug } from '../../errors/index.js'

import type { CallFacts } from '../call-facts.js'
import type { RuleSet } from './load-rules.js'
import { matcherOf } from './match-rule.js'
import { EFFECTS, RULE_SOURCES } from './rule.js'
import type { Effect, Rule } from './rule.js'
import { createRuleBucket } from './rule-bucket.js'
import type { RuleBucket } from './rule-bucket.js'

/** What all rules together say about a call. */
export interface RuleVerdict {
  readonly effect: Effect | 'unmatched'
  /** The rules of that effect, the first being the one to name. */
  readonly deciding: readonly Rule[]
  /** Milder rules that match too and do not count: an allow beside an ask, for example. */
  readonly overruled: readonly Rule[]
  /** Allows that match and would count, had the managed rules not reserved them. */
  readonly locked: readonly Rule[]
  /** Allows that match, of rule files that nobody vouches for. */
  readonly untrusted: readonly Rule[]
}

export interface RuleIndex {
  readonly judge: (facts: CallFacts) => RuleVerdict
  readonly size: number
}

/**
 * Files every rule by its tool and by one more condition, so that judging a call looks at the rules
 * that may match it, not at all of them.
 */
export const indexRules = (sets: readonly RuleSet[]): RuleIndex => {
  const isAllowLocked = sets.some(({ managedOnly }) => managedOnly.includes('allow_rules'))
  const ordered = sets
    .toSorted((a, b) => RULE_SOURCES.indexOf(a.source) - RULE_SOURCES.indexOf(b.source))
    .flatMap(({ rules }) => rules)
  const unvouched = new Set(
    sets.flatMap(({ isTrusted, rules }) => (isTrusted ? [] : rules.filter(({ effect }) => effect === 'allow'))),
  )
  const filed = new Map(ordered.map((rule, rank) => [rule, { rank, matches: matcherOf(rule) }]))
  const fileOf = (rule: Rule) => filed.get(rule) ?? bug('a rule that is in no set')

  const byName = new Map<string, RuleBucket>()
  const byPrefix = new Map<string, RuleBucket>()
  for (const rule of ordered) {
    // A rule about several tools stands in several buckets; without one it is about all of them.
    for (const pattern of rule.tools) bucketIn(pattern.isLiteral ? byName : byPrefix, pattern.prefix).add(rule)
    if (rule.tools.length === 0) bucketIn(byPrefix, '').add(rule)
  }
  const prefixLengths = [...new Set(Array.from(byPrefix.keys(), (prefix) => prefix.length))]

  const judge = (facts: CallFacts): RuleVerdict => {
    const checked = new Set<Rule>()
    const matching: Rule[] = []
    const consider = (rule: Rule) => {
      if (checked.has(rule)) return
      checked.add(rule)
      if (fileOf(rule).matches(facts)) matching.push(rule)
    }
    byName.get(facts.tool)?.visit(facts, consider)
    for (const length of prefixLengths) {
      if (length <= facts.tool.length) byPrefix.get(facts.tool.slice(0, length))?.visit(facts, consider)
    }
    if (matching.length === 0) return UNMATCHED
    const inOrder = matching.sort((a, b) => fileOf(a).rank - fileOf(b).rank)
    const locked = isAllowLocked
      ? inOrder.filter(({ effect, source }) => effect === 'allow' && source !== 'managed')
      : []
    const untrusted =
      unvouched.size === 0 ? [] : inOrder.filter((rule) => unvouched.has(rule) && !locked.includes(rule))
    const counting = inOrder.filter((rule) => !locked.includes(rule) && !untrusted.includes(rule))
    const effect = EFFECTS.find((candidate) => counting.some((rule) => rule.effect === candidate)) ?? 'unmatched'
    return {
      effect,
      deciding: counting.filter((rule) => rule.effect === effect),
      overruled: counting.filter((rule) => rule.effect !== effect),
      locked,
      untrusted,
    }
  }
  return { judge, size: ordered.length }
}

const UNMATCHED: RuleVerdict = { effect: 'unmatched', deciding: [], overruled: [], locked: [], untrusted: [] }

const bucketIn = (buckets: Map<string, RuleBucket>, key: string): RuleBucket => {
  let bucket = buckets.get(key)
  if (bucket === undefined) {
    bucket = createRuleBucket()
    buckets.set(key, bucket)
  }
  return bucket
}
