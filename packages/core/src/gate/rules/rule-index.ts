import { bug } from '../../errors/index.js'
import { getOrAdd } from '../../policy/index.js'

import type { RuleFacts } from '../call-facts.js'
import type { TextPattern } from '../commands/text-pattern.js'
import type { RuleSet } from './load-rules.js'
import { matcherOf } from './conditions.js'
import { RULE_SOURCES, strictest } from './rule.js'
import type { Effect, Rule } from './rule.js'
import { fileRules } from './rule-shelves.js'
import type { FindRules } from './rule-shelves.js'
import { createTextIndex } from './text-index.js'

/** The judgement of all rules about a call. */
export interface RuleVerdict {
  readonly effect: Effect | 'unmatched'
  /** The rules of that effect. Reasons name the first. */
  readonly deciding: readonly Rule[]
  /** Milder rules that match too and do not count, such as an allow beside an ask. */
  readonly overruled: readonly Rule[]
  /** Allows that match, but only managed rules may allow. */
  readonly locked: readonly Rule[]
  /** Allows that match, but are of an untrusted project. */
  readonly untrusted: readonly Rule[]
}

export interface RuleIndex {
  readonly judge: (facts: RuleFacts) => RuleVerdict
}

/** Files every rule by its tool and by one more condition, so that a call is compared with few rules. */
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

  const ofEveryTool = fileRules(ordered.filter((rule) => rule.tools.length === 0))
  const byPattern = new Map<string, { readonly pattern: TextPattern; readonly rules: Rule[] }>()
  // A rule about several tools is found by each of them.
  for (const rule of ordered)
    for (const pattern of rule.tools)
      getOrAdd(byPattern, pattern.written, () => ({ pattern, rules: [] })).rules.push(rule)
  const tools = createTextIndex<FindRules>()
  for (const { pattern, rules } of byPattern.values()) tools.add([pattern], fileRules(rules))

  const judge = (facts: RuleFacts): RuleVerdict => {
    const checked = new Set<Rule>()
    const matching: Rule[] = []
    const consider = (rule: Rule) => {
      if (checked.has(rule)) return
      checked.add(rule)
      if (fileOf(rule).matches(facts)) matching.push(rule)
    }
    ofEveryTool(facts, consider)
    tools.visit([facts.tool], (find) => {
      find(facts, consider)
    })
    if (matching.length === 0) return UNMATCHED
    const inOrder = matching.sort((a, b) => fileOf(a).rank - fileOf(b).rank)
    const locked = isAllowLocked
      ? inOrder.filter(({ effect, source }) => effect === 'allow' && source !== 'managed')
      : []
    const untrusted =
      unvouched.size === 0 ? [] : inOrder.filter((rule) => unvouched.has(rule) && !locked.includes(rule))
    const counting = inOrder.filter((rule) => !locked.includes(rule) && !untrusted.includes(rule))
    const effect = strictest(counting)
    return {
      effect,
      deciding: counting.filter((rule) => rule.effect === effect),
      overruled: counting.filter((rule) => rule.effect !== effect),
      locked,
      untrusted,
    }
  }
  return { judge }
}

export const UNMATCHED: RuleVerdict = { effect: 'unmatched', deciding: [], overruled: [], locked: [], untrusted: [] }
