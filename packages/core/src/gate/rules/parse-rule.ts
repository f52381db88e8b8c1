import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { invalid, keyOf, mappingOf, oneOf, sourceOf } from '../../policy/index.js'
import type { Places, PolicyNode } from '../../policy/index.js'

import { CONDITIONS, CONDITION_KEYS, isAboutEverything } from './conditions.js'
import { nonEmpty } from './parse-conditions.js'
import { EFFECTS } from './rule.js'
import type { ConditionItems, ConditionKey, Rule, RuleSource } from './rule.js'
import type { DestructiveFacts } from '../tool.js'

const OTHER_KEYS = ['id', 'effect', 'because', 'destructive', 'examples'] as const

/** All keys of a rule in a file. */
export const RULE_KEYS: readonly string[] = [...OTHER_KEYS, ...CONDITION_KEYS.map((key) => CONDITIONS[key].written)]

interface RuleContext {
  readonly source: RuleSource
  readonly places: Places
  /** Its number in its source, for the id of a rule without one. */
  readonly number: number
}

interface ParsedRule {
  readonly rule: Rule
  readonly examples: PolicyNode | undefined
}

type GivenKeys = Readonly<Partial<Record<string, PolicyNode>>>

export const parseRule = (node: PolicyNode, { source, places, number }: RuleContext): ParsedRule => {
  const given: GivenKeys & Partial<Record<(typeof OTHER_KEYS)[number], PolicyNode>> = mappingOf(node, RULE_KEYS)
  if (given.effect === undefined) throw missing(node, 'effect', 'effect: deny (or ask, or allow)')
  if (given.because === undefined) throw missing(node, 'because', 'because: "why this rule exists"')
  const place = sourceOf(node)
  const rule: Rule = {
    id:
      given.id === undefined
        ? `${source}:${place}${/:\d+$/.test(place) ? '' : `#${number}`}`
        : nonEmpty(given.id, 'a name'),
    effect: oneOf(given.effect, EFFECTS),
    source,
    place,
    tools: conditionOf('tools', given, places),
    arguments: conditionOf('arguments', given, places),
    paths: conditionOf('paths', given, places),
    hosts: conditionOf('hosts', given, places),
    commands: conditionOf('commands', given, places),
    because: nonEmpty(given.because, 'a reason'),
    destructive: given.destructive === undefined ? undefined : parseDestructive(given.destructive),
  }
  if (rule.effect === 'allow' && isAboutEverything(rule))
    throw invalid(node, 'an allow that names a tool, or a condition; to run everything, choose the mode bypass')
  return { rule, examples: given.examples }
}

const missing = (node: PolicyNode, key: string, line: string): CordonError =>
  fail('policy-missing-key', { source: sourceOf(node), where: keyOf(node), key, line })

const conditionOf = <Key extends ConditionKey>(
  key: Key,
  given: GivenKeys,
  places: Places,
): readonly ConditionItems[Key][] => {
  const { written, parse } = CONDITIONS[key]
  const node = given[written]
  return node === undefined ? [] : parse(node, places)
}

const parseDestructive = (node: PolicyNode): DestructiveFacts => {
  const { impact_scope: impact, rollback_advice: rollback } = mappingOf(node, ['impact_scope', 'rollback_advice'])
  if (impact === undefined || rollback === undefined)
    throw invalid(node, 'a mapping with "impact_scope" and "rollback_advice"')
  return { impactScope: nonEmpty(impact, 'a text'), rollbackAdvice: nonEmpty(rollback, 'a text') }
}
