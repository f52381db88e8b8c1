import type { Destination } from '../policy/index.js'

import type { CallFacts } from './call-facts.js'
import { isList } from './canonical-json.js'
import { programName } from './command-line.js'
import { valuesAt } from './match-rule.js'
import { addTo, createPathTrie } from './path-trie.js'
import type { HostCondition, Rule } from './rule.js'
import type { UrlTarget } from './url-spelling.js'

/** Rules about the same tools, each filed under one of its conditions: the one that rules out most calls. */
export interface RuleBucket {
  readonly add: (rule: Rule) => void
  /** A superset of the rules that match; a rule may be found more than once. */
  readonly visit: (facts: CallFacts, found: (rule: Rule) => void) => void
}

export const createRuleBucket = (): RuleBucket => {
  const always: Rule[] = []
  const paths = createPathTrie<Rule>()
  const programs = new Map<string, Rule[]>()
  const withCommand: Rule[] = []
  const hosts = new Map<string, Rule[]>()
  const otherHosts: Rule[] = []
  const literals = new Map<string, { readonly keys: readonly string[]; readonly values: Map<string, Rule[]> }>()
  let hasPaths = false

  const add = (rule: Rule): void => {
    if (rule.commands.length > 0) {
      withCommand.push(rule)
      for (const { program } of rule.commands) addTo(programs, program ?? ANY_PROGRAM, rule)
    } else if (rule.paths.length > 0) {
      hasPaths = true
      for (const { folded } of rule.paths) for (const pattern of folded) if (!pattern.isNegated) paths.add(pattern, rule)
    } else if (rule.hosts.length > 0) {
      for (const condition of rule.hosts) {
        const key = hostKey(condition)
        if (key === undefined) otherHosts.push(rule)
        else addTo(hosts, key, rule)
      }
    } else if (!addByArgument(rule)) {
      always.push(rule)
    }
  }

  const addByArgument = (rule: Rule): boolean => {
    const condition = rule.arguments.find(({ keys, accepts }) => !keys.includes('*') && accepts.every((accept) => !('exactly' in accept) && accept.isLiteral))
    if (condition === undefined) return false
    const key = condition.keys.join('.')
    let filed = literals.get(key)
    if (filed === undefined) {
      filed = { keys: condition.keys, values: new Map() }
      literals.set(key, filed)
    }
    for (const accept of condition.accepts) if (!('exactly' in accept)) addTo(filed.values, accept.prefix, rule)
    return true
  }

  const visitCommands = (facts: CallFacts, found: (rule: Rule) => void): void => {
    for (const { parts } of facts.commands) {
      for (const { words, startsAnywhere } of parts) {
        const starts = startsAnywhere ? words : words.slice(0, 1)
        // Only the shell knows which program it is, so it may be any.
        if (starts.some(({ isKnown }) => !isKnown)) withCommand.forEach(found)
        for (const { text } of starts) programs.get(programName(text))?.forEach(found)
      }
    }
    programs.get(ANY_PROGRAM)?.forEach(found)
  }

  const visitHosts = (urls: readonly UrlTarget[], found: (rule: Rule) => void): void => {
    if (urls.length > 0) otherHosts.forEach(found)
    for (const { host } of urls) {
      if (host.kind !== 'name') continue
      hosts.get(host.name)?.forEach(found)
      for (let dot = host.name.indexOf('.'); dot !== -1; dot = host.name.indexOf('.', dot + 1)) hosts.get(`*${host.name.slice(dot)}`)?.forEach(found)
    }
  }

  return {
    add,
    visit: (facts, found) => {
      always.forEach(found)
      if (hasPaths) for (const { names } of facts.folded) paths.visit(names, found)
      if (withCommand.length > 0 && facts.commands.length > 0) visitCommands(facts, found)
      if (hosts.size + otherHosts.length > 0 && facts.urls.length + facts.suspectedUrls.length > 0) visitHosts([...facts.urls, ...facts.suspectedUrls], found)
      for (const { keys, values } of literals.values()) {
        for (const value of valuesAt(facts.input, keys)) {
          for (const item of isList(value) ? value : [value]) if (typeof item === 'string') values.get(item)?.forEach(found)
        }
      }
    },
  }
}

// No program can have this name.
const ANY_PROGRAM = '/'

const hostKey = ({ destination }: HostCondition): string | undefined => (destination === undefined ? undefined : namedHost(destination))

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
