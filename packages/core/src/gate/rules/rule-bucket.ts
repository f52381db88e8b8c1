import type { CallFacts } from '../call-facts.js'
import type { Rule } from './rule.js'
import { SHELVES } from './rule-shelves.js'

/** Rules about the same tools. Each is filed under one of its conditions, the one that excludes most calls. */
export interface RuleBucket {
  readonly add: (rule: Rule) => void
  /** Finds a superset of the rules that match. It may find a rule more than once. */
  readonly visit: (facts: CallFacts, found: (rule: Rule) => void) => void
}

export const createRuleBucket = (): RuleBucket => {
  const shelves = Object.values(SHELVES).map((createShelf) => createShelf())
  const always: Rule[] = []
  return {
    add: (rule) => {
      if (!shelves.some((shelf) => shelf.add(rule))) always.push(rule)
    },
    visit: (facts, found) => {
      always.forEach(found)
      for (const shelf of shelves) shelf.visit(facts, found)
    },
  }
}
