import { invalid, itemsOf, mappingOf, oneOf, readDocument, rootNode } from '../policy/index.js'
import type { Places, PolicyNode } from '../policy/index.js'

import { MODES } from './modes.js'
import type { Mode } from './modes.js'
import { parseRule } from './parse-rule.js'
import type { Rule, RuleSource } from './rule.js'
import { checkExamples } from './rule-examples.js'

/** What only managed rules may say; the strictest of several counts. */
export const LOCKS = ['allow_rules', 'hook_allows'] as const
export type Lock = (typeof LOCKS)[number]

/** One file, or one list, of rules. */
export interface RuleSet {
  readonly source: RuleSource
  /** The file, or how a list that is not from a file is known. */
  readonly name: string
  readonly rules: readonly Rule[]
  /** `allow_rules`: allows of other sources do not count. `hook_allows`: those of hooks do not. */
  readonly managedOnly: readonly Lock[]
  /** Undefined: all of them. */
  readonly permittedModes: readonly Mode[] | undefined
}

export interface RuleFileContext {
  readonly source: RuleSource
  readonly places: Places
}

/** Reads a rule file in YAML or JSON; errors name the file, the line and the key. */
export const loadRules = (text: string, fileName: string, context: RuleFileContext): RuleSet => parseRuleSet(readDocument(text, fileName), fileName, context)

/** Reads rules given as a value: `{ rules: [...] }`, or the list alone. */
export const parseRules = (value: unknown, name: string, context: RuleFileContext): RuleSet =>
  parseRuleSet(rootNode(Array.isArray(value) ? { rules: value } : value, () => name), name, context)

const parseRuleSet = (node: PolicyNode, name: string, { source, places }: RuleFileContext): RuleSet => {
  const { rules, managed_only: locks, modes } = mappingOf(node, ['rules', 'managed_only', 'modes'])
  for (const reserved of [locks, modes]) {
    if (reserved !== undefined && source !== 'managed') throw invalid(reserved, 'left out: only managed rules may lock anything')
  }
  return {
    source,
    name,
    rules: rules === undefined ? [] : parseList(rules, { source, places }),
    managedOnly: locks === undefined ? [] : itemsOf(locks, `a list of: ${LOCKS.join(', ')}`).map((item) => oneOf(item, LOCKS)),
    permittedModes: modes === undefined ? undefined : itemsOf(modes, `a list of: ${MODES.join(', ')}`).map((item) => oneOf(item, MODES)),
  }
}

const parseList = (node: PolicyNode, { source, places }: RuleFileContext): readonly Rule[] => {
  const ids = new Set<string>()
  return itemsOf(node, 'a list of rules').map((item, at) => {
    const { rule, examples } = parseRule(item, { source, places, number: at + 1 })
    if (ids.has(rule.id)) throw invalid(item, `a rule with an id of its own, and "${rule.id}" is already taken`)
    ids.add(rule.id)
    if (examples !== undefined) checkExamples(rule, examples, places)
    return rule
  })
}
