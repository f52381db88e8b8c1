// Finds the rules that may match a call, without comparing every rule. Each rule is filed under one of its conditions,
// the one that excludes most calls.
import { BITS, blockOf, getOrAdd } from '../../policy/index.js'
import type { Destination, IpAddress } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

import type { FoldedPattern } from '../arguments/folded-path.js'
import type { RuleFacts } from '../call-facts.js'
import { programName } from '../commands/command-line.js'
import type { JsonValue } from '../input/json-value.js'
import { itemsAt } from './match-conditions.js'
import type { ArgumentCondition, ConditionKey, Rule } from './rule.js'
import { createTextIndex } from './text-index.js'
import type { TextIndex } from './text-index.js'

type Found = (rule: Rule) => void

/** Finds a superset of the rules that match. It may find a rule more than once. */
export type FindRules = (facts: RuleFacts, found: Found) => void

export const fileRules = (rules: readonly Rule[]): FindRules => {
  const shelfOf = (rule: Rule) => SHELF_KEYS.find((key) => rule[key].length > 0)
  const always = rules.filter((rule) => shelfOf(rule) === undefined)
  const shelves = SHELF_KEYS.flatMap((key) => {
    const filed = rules.filter((rule) => shelfOf(rule) === key)
    return filed.length === 0 ? [] : [SHELVES[key](filed)]
  })
  return (facts, found) => {
    always.forEach(found)
    for (const find of shelves) find(facts, found)
  }
}

/** By the program, and by another word of the command. */
const fileByCommand = (rules: readonly Rule[]): FindRules => {
  const programs = new Map<string, TextIndex<Rule>>()
  for (const rule of rules)
    for (const { program, words } of rule.commands) {
      const others = words.slice(1).flatMap((word) => (word.kind === 'word' ? [word.pattern] : []))
      getOrAdd(programs, program ?? ANY_PROGRAM, createTextIndex<Rule>).add(others, rule)
    }
  return ({ commands }, found) => {
    for (const { words, startsAnywhere } of commands.flatMap(({ parts }) => parts)) {
      const starts = startsAnywhere ? words : words.slice(0, 1)
      const texts = words.map(({ text }) => text)
      // Only the shell knows the program, so it may be any.
      const named = starts.some(({ isKnown }) => !isKnown)
        ? programs.values()
        : [ANY_PROGRAM, ...starts.map(({ text }) => programName(text))].flatMap((name) => programs.get(name) ?? [])
      const isAllKnown = words.every(({ isKnown }) => isKnown)
      for (const index of named)
        if (isAllKnown) index.visit(texts, found)
        else index.visitAll(found)
    }
  }
}

// No program can have this name.
const ANY_PROGRAM = '/'

/** By the names before the first wildcard. */
const fileByPath = (rules: readonly Rule[]): FindRules => {
  const byPath = new Map<string, Rule[]>()
  for (const rule of rules)
    for (const pattern of rule.paths.flatMap(({ folded }) => folded))
      if (!pattern.isNegated) getOrAdd(byPath, pathKey(pattern), () => []).push(rule)
  return ({ folded }, found) => {
    for (const { names } of folded) {
      let path = ''
      byPath.get(path)?.forEach(found)
      // Everything beneath a folder counts too.
      for (const name of names) {
        path = `${path}/${name}`
        byPath.get(path)?.forEach(found)
        byPath.get(anyPath(name))?.forEach(found)
      }
    }
  }
}

// `**/name` has no literal beginning, so it is found by its last name.
const pathKey = ({ base, lastName }: FoldedPattern): string =>
  lastName === undefined ? base.map((name) => `/${name}`).join('') : anyPath(lastName)

const anyPath = (name: string): string => `**/${name}`

const fileByHost = (rules: readonly Rule[]): FindRules => {
  const byHost = new Map<string, Rule[]>()
  /** Of the blocks in use. An address is in one block of each length. */
  const lengths = { 4: new Set<number>(), 6: new Set<number>() }
  const keyOf = (destination: Destination | undefined): string => {
    if (destination === undefined) return ANY_HOST
    if ('host' in destination) return destination.kind === 'host' ? destination.host : `*.${destination.host}`
    const { family, first, prefixLength } = blockOf(destination)
    lengths[family].add(prefixLength)
    return blockKey({ family, value: first }, prefixLength)
  }
  for (const rule of rules)
    for (const { destination } of rule.hosts) getOrAdd(byHost, keyOf(destination), () => []).push(rule)
  return ({ urls, suspectedUrls }, found) => {
    const visit = (key: string) => byHost.get(key)?.forEach(found)
    for (const { host } of [...urls, ...suspectedUrls]) {
      visit(ANY_HOST)
      if (host.kind === 'address')
        for (const length of lengths[host.address.family]) visit(blockKey(host.address, length))
      else {
        visit(host.name)
        for (let dot = host.name.indexOf('.'); dot !== -1; dot = host.name.indexOf('.', dot + 1))
          visit(`*${host.name.slice(dot)}`)
      }
    }
  }
}

const ANY_HOST = '*'

/** The first bits of an address. */
const blockKey = ({ family, value }: IpAddress, length: number): string =>
  `${family}/${length} ${value >> BigInt(BITS[family] - length)}`

/** By the values of one argument. */
const fileByArgument = (rules: readonly Rule[]): FindRules => {
  // By the first key, so that only arguments of the call are looked up.
  const groups = new Map<string, Map<string, ArgumentIndex>>()
  for (const rule of rules) {
    // A text excludes more calls than a number or a boolean.
    const condition = rule.arguments.find(({ accepts }) => accepts.every(isTextual)) ?? rule.arguments[0]
    if (condition === undefined) continue
    const { keys, accepts } = condition
    const group = getOrAdd(groups, keys[0] ?? '', () => new Map<string, ArgumentIndex>())
    const { texts, values } = getOrAdd(group, JSON.stringify(keys), () => ({
      keys,
      texts: createTextIndex<Rule>(),
      values: new Map<JsonValue, Rule[]>(),
    }))
    for (const accept of accepts)
      if ('exactly' in accept) getOrAdd(values, accept.exactly, () => []).push(rule)
      else texts.add([accept], rule)
  }
  return ({ input }, found) => {
    const named = isMapping(input) ? [...Object.keys(input), '*'] : groups.keys()
    for (const key of named)
      for (const { keys, texts, values } of groups.get(key)?.values() ?? []) {
        const given = itemsAt(input, keys)
        for (const value of given) values.get(value)?.forEach(found)
        texts.visit(
          given.filter((value) => typeof value === 'string'),
          found,
        )
      }
  }
}

const isTextual = (accept: ArgumentCondition['accepts'][number]): boolean =>
  !('exactly' in accept) && accept.runs.some((run) => run !== '')

interface ArgumentIndex {
  readonly keys: readonly string[]
  readonly texts: TextIndex<Rule>
  /** Rules about a number, a boolean or null. */
  readonly values: Map<JsonValue, Rule[]>
}

/** The condition that excludes most calls comes first. The index of rules compares tools. */
const SHELVES: { readonly [Key in Exclude<ConditionKey, 'tools'>]: (rules: readonly Rule[]) => FindRules } = {
  commands: fileByCommand,
  paths: fileByPath,
  hosts: fileByHost,
  arguments: fileByArgument,
}

const SHELF_KEYS = Object.keys(SHELVES) as readonly (keyof typeof SHELVES)[]
