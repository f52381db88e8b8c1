// All conditions of rules, in one table. Rules are read and matched by this table, so a new condition cannot be parsed
// and then ignored.
import { renderDestination } from '../../policy/index.js'
import type { Places, PolicyNode } from '../../policy/index.js'

import type { RuleFacts } from '../call-facts.js'
import {
  allowsArguments,
  allowsCommands,
  allowsPaths,
  allowsUrls,
  forbidsArguments,
  forbidsCommands,
  forbidsPaths,
  forbidsUrls,
  namesTool,
} from './match-conditions.js'
import { parseArguments, parseCommands, parseHosts, parsePaths, parseTools } from './parse-conditions.js'
import type {
  ArgumentCondition,
  ConditionItems,
  ConditionKey,
  Effect,
  HostCondition,
  PathCondition,
  Rule,
  RuleConditions,
} from './rule.js'
import type { JsonValue } from '../input/json-value.js'

interface Condition<Item> {
  /** Its key in a rule file. */
  readonly written: string
  readonly parse: (node: PolicyNode, places: Places) => readonly Item[]
  /** Whether the items, at least one, cover all of a call, as an allow must. */
  readonly allows: (items: readonly Item[], facts: RuleFacts) => boolean
  /** Whether they match any part of it, which is enough for a deny or an ask. */
  readonly forbids: (items: readonly Item[], facts: RuleFacts) => boolean
  /** Whether an item matches every call. An allow with such items alone would be the mode bypass. Default: no. */
  readonly isEverything?: (item: Item) => boolean
}

/** In the order of comparison: the cheapest first. */
export const CONDITIONS: { readonly [Key in ConditionKey]: Condition<ConditionItems[Key]> } = {
  tools: {
    written: 'tool',
    parse: parseTools,
    allows: namesTool,
    forbids: namesTool,
    isEverything: (pattern) => pattern.matches('') && !pattern.isLiteral,
  },
  arguments: { written: 'arguments', parse: parseArguments, allows: allowsArguments, forbids: forbidsArguments },
  paths: { written: 'paths', parse: parsePaths, allows: allowsPaths, forbids: forbidsPaths },
  hosts: { written: 'hosts', parse: parseHosts, allows: allowsUrls, forbids: forbidsUrls },
  commands: { written: 'command', parse: parseCommands, allows: allowsCommands, forbids: forbidsCommands },
}

export const CONDITION_KEYS = Object.keys(CONDITIONS) as readonly ConditionKey[]

export const isAboutEverything = (conditions: RuleConditions): boolean =>
  CONDITION_KEYS.every((key) => isUnconditional(key, conditions[key]))

const isUnconditional = <Key extends ConditionKey>(key: Key, given: RuleConditions[Key]): boolean =>
  given.every((item) => CONDITIONS[key].isEverything?.(item) === true)

type RuleMatcher = (facts: RuleFacts) => boolean

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

/** The conditions of a rule as its file would have them, in a fixed order. `glob`: how a path pattern is written. */
export const conditionsOf = (rule: Rule, glob: (text: string) => string): Readonly<Record<string, JsonValue>> => {
  const written = {
    tool: sorted(rule.tools.map(({ written: text }) => text)),
    arguments: Object.fromEntries(rule.arguments.map(writtenArgument)),
    paths: writtenPaths(rule.paths, glob),
    hosts: sorted(rule.hosts.map(writtenHost)),
    command: sorted(
      rule.commands.map(({ words }) =>
        words.map((word) => (word.kind === 'any-words' ? '**' : word.pattern.written)).join(' '),
      ),
    ),
  }
  return Object.fromEntries(Object.entries(written).filter(([, value]) => Object.keys(value).length > 0))
}

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()

const writtenArgument = ({ keys, accepts }: ArgumentCondition): readonly [string, JsonValue] => [
  keys.join('.'),
  accepts
    .map((accept) => ('exactly' in accept ? accept.exactly : accept.written))
    .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
]

const writtenPaths = (conditions: readonly PathCondition[], glob: (text: string) => string) => {
  const texts = ({ patterns }: PathCondition) => sorted(patterns.map(({ text }) => glob(text)))
  const [only] = conditions
  if (only?.access === 'any') return texts(only)
  return Object.fromEntries(conditions.map((condition) => [condition.access, texts(condition)]))
}

const writtenHost = ({ destination, port }: HostCondition): string =>
  destination === undefined ? '*' : renderDestination({ destination, port })
