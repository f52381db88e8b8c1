// All conditions of rules, in one table. Rules are read and matched by this table, so a new condition cannot be parsed
// and then ignored.
import type { Places, PolicyNode } from '../../policy/index.js'

import type { CallFacts } from '../call-facts.js'
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
import type { ConditionItems, ConditionKey, RuleConditions } from './rule.js'

interface Condition<Item> {
  /** Its key in a rule file. */
  readonly written: string
  readonly parse: (node: PolicyNode, places: Places) => readonly Item[]
  /** Whether the items, at least one, cover all of a call, as an allow must. */
  readonly allows: (items: readonly Item[], facts: CallFacts) => boolean
  /** Whether they match any part of it, which is enough for a deny or an ask. */
  readonly forbids: (items: readonly Item[], facts: CallFacts) => boolean
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
