// Everything that a rule can ask of a call, in one table: reading a rule, matching it, and what counts as a
// rule about everything follow from it, so that a new condition cannot be parsed and then ignored.
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
  /** Whether the items, at least one, cover all of a call: what an allow needs. */
  readonly allows: (items: readonly Item[], facts: CallFacts) => boolean
  /** Whether they speak of any of it: enough for a deny or an ask. */
  readonly forbids: (items: readonly Item[], facts: CallFacts) => boolean
  /** Whether an item rules out no call at all, so that an allow of it alone would be the mode bypass. */
  readonly isEverything: (item: Item) => boolean
}

const narrows = (): boolean => false

/** In the order in which they are compared: the cheapest first. */
export const CONDITIONS: { readonly [Key in ConditionKey]: Condition<ConditionItems[Key]> } = {
  tools: {
    written: 'tool',
    parse: parseTools,
    allows: namesTool,
    forbids: namesTool,
    isEverything: (pattern) => pattern.matches('') && !pattern.isLiteral,
  },
  arguments: {
    written: 'arguments',
    parse: parseArguments,
    allows: allowsArguments,
    forbids: forbidsArguments,
    isEverything: narrows,
  },
  paths: { written: 'paths', parse: parsePaths, allows: allowsPaths, forbids: forbidsPaths, isEverything: narrows },
  hosts: { written: 'hosts', parse: parseHosts, allows: allowsUrls, forbids: forbidsUrls, isEverything: narrows },
  commands: {
    written: 'command',
    parse: parseCommands,
    allows: allowsCommands,
    forbids: forbidsCommands,
    isEverything: narrows,
  },
}

export const CONDITION_KEYS = Object.keys(CONDITIONS) as readonly ConditionKey[]

export const isAboutEverything = (conditions: RuleConditions): boolean =>
  CONDITION_KEYS.every((key) => isUnconditional(key, conditions[key]))

const isUnconditional = <Key extends ConditionKey>(key: Key, given: RuleConditions[Key]): boolean =>
  given.every(CONDITIONS[key].isEverything)
