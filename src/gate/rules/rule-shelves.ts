import type { Destination } from '../../policy/index.js'

import type { CallFacts } from '../call-facts.js'
import { isList } from '../input/canonical-json.js'
import { programName } from '../commands/command-line.js'
import { addTo, createFoldedPathIndex } from './folded-path-index.js'
import { valuesAt } from './match-conditions.js'
import type { ConditionKey, HostCondition, Rule } from './rule.js'

type Found = (rule: Rule) => void

/** Finds rules by one of their conditions. */
export interface Shelf {
  /** Whether the rule could be filed here; if not, another shelf has to take it. */
  readonly add: (rule: Rule) => boolean
  /** A superset of the rules here whose condition holds; a rule may be found more than once. */
  readonly visit: (facts: CallFacts, found: Found) => void
}

const createCommandShelf = (): Shelf => {
  const programs = new Map<string, Rule[]>()
  const all: Rule[] = []
  return {
    add: (rule) => {
      if (rule.commands.length === 0) return false
      all.push(rule)
      for (const { program } of rule.commands) addTo(programs, program ?? ANY_PROGRAM, rule)
      return true
    },
    visit: ({ commands }, found) => {
      if (all.length === 0 || commands.length === 0) return
      for (const { parts } of commands) {
        for (const { words, startsAnywhere } of parts) {
          const starts = startsAnywhere ? words : words.slice(0, 1)
          // Only the shell knows which program it is, so it may be any.
          if (starts.some(({ isKnown }) => !isKnown)) all.forEach(found)
          for (const { text } of starts) programs.get(programName(text))?.forEach(found)
        }
      }
      programs.get(ANY_PROGRAM)?.forEach(found)
    },
  }
}

// No program can have this name.
const ANY_PROGRAM = '/'

const createPathShelf = (): Shelf => {
  const index = createFoldedPathIndex<Rule>()
  let isEmpty = true
  return {
    add: (rule) => {
      if (rule.paths.length === 0) return false
      isEmpty = false
      for (const { folded } of rule.paths)
        for (const pattern of folded) if (!pattern.isNegated) index.add(pattern, rule)
      return true
    },
    visit: ({ folded }, found) => {
      if (isEmpty) return
      for (const { names } of folded) index.visit(names, found)
    },
  }
}

const createHostShelf = (): Shelf => {
  const named = new Map<string, Rule[]>()
  const others: Rule[] = []
  return {
    add: (rule) => {
      for (const condition of rule.hosts) {
        const key = hostKey(condition)
        if (key === undefined) others.push(rule)
        else addTo(named, key, rule)
      }
      return rule.hosts.length > 0
    },
    visit: ({ urls, suspectedUrls }, found) => {
      if (named.size + others.length === 0 || urls.length + suspectedUrls.length === 0) return
      others.forEach(found)
      for (const { host } of [...urls, ...suspectedUrls]) {
        if (host.kind !== 'name') continue
        named.get(host.name)?.forEach(found)
        for (let dot = host.name.indexOf('.'); dot !== -1; dot = host.name.indexOf('.', dot + 1))
          named.get(`*${host.name.slice(dot)}`)?.forEach(found)
      }
    },
  }
}

const hostKey = ({ destination }: HostCondition): string | undefined =>
  destination === undefined ? undefined : namedHost(destination)

const namedHost = (destination: Destination): string | undefined => {
  switch (destination.kind) {
    case 'host':
      return destination.host
    case 'subdomains':
      return `*.${destination.host}`
    case 'address':
    case 'cidr':
      return undefined
  }
}

/** By an argument that has to be one of a few texts. */
const createArgumentShelf = (): Shelf => {
  const literals = new Map<string, { readonly keys: readonly string[]; readonly values: Map<string, Rule[]> }>()
  return {
    add: (rule) => {
      const condition = rule.arguments.find(
        ({ keys, accepts }) =>
          !keys.includes('*') && accepts.every((accept) => !('exactly' in accept) && accept.isLiteral),
      )
      if (condition === undefined) return false
      const key = condition.keys.join('.')
      let filed = literals.get(key)
      if (filed === undefined) {
        filed = { keys: condition.keys, values: new Map() }
        literals.set(key, filed)
      }
      for (const accept of condition.accepts) if (!('exactly' in accept)) addTo(filed.values, accept.prefix, rule)
      return true
    },
    visit: ({ input }, found) => {
      for (const { keys, values } of literals.values()) {
        for (const value of valuesAt(input, keys)) {
          for (const item of isList(value) ? value : [value])
            if (typeof item === 'string') values.get(item)?.forEach(found)
        }
      }
    },
  }
}

/** A condition that nothing is found by: its rules are found by another, or looked at for every call. */
const createNoShelf = (): Shelf => ({ add: () => false, visit: () => undefined })

/** The condition that rules out most calls first. */
export const SHELVES: { readonly [Key in ConditionKey]: () => Shelf } = {
  commands: createCommandShelf,
  paths: createPathShelf,
  hosts: createHostShelf,
  arguments: createArgumentShelf,
  // The index over all buckets has looked at these already.
  tools: createNoShelf,
}
