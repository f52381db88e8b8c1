import { BITS, blockOf, getOrAdd } from '../../policy/index.js'
import type { Cidr, Destination } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

import type { CallFacts } from '../call-facts.js'
import { isList } from '../input/canonical-json.js'
import type { JsonValue } from '../input/json-value.js'
import { programName } from '../commands/command-line.js'
import { valuesAt } from './match-conditions.js'
import type { ArgumentCondition, ConditionKey, Rule } from './rule.js'
import { createTextIndex } from './text-index.js'
import type { TextIndex } from './text-index.js'
import type { FoldedPattern } from '../arguments/folded-path.js'

type Found = (rule: Rule) => void

/** Finds rules by one of their conditions. */
interface Shelf {
  /** Whether the rule could be filed here. If not, another shelf has to take it. */
  readonly add: (rule: Rule) => boolean
  /** Finds a superset of the rules here that match. It may find a rule more than once. */
  readonly visit: (facts: CallFacts, found: Found) => void
}

/** By the program, and by another word of the command. */
const createCommandShelf = (): Shelf => {
  const programs = new Map<string, TextIndex<Rule>>()
  return {
    add: (rule) => {
      for (const { program, words } of rule.commands) {
        const others = words.slice(1).flatMap((word) => (word.kind === 'word' ? [word.pattern] : []))
        getOrAdd(programs, program ?? ANY_PROGRAM, createTextIndex<Rule>).add(others, rule)
      }
      return rule.commands.length > 0
    },
    visit: ({ commands }, found) => {
      if (programs.size === 0) return
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
  // Blocks of one family and length, by their first bits.
  const blocks = new Map<
    string,
    { readonly family: 4 | 6; readonly hostBits: bigint; readonly byStart: Map<bigint, Rule[]> }
  >()
  const others: Rule[] = []
  const addBlock = ({ family, first, prefixLength }: Cidr, rule: Rule): void => {
    const hostBits = BigInt(BITS[family] - prefixLength)
    const { byStart } = getOrAdd(blocks, `${family}/${prefixLength}`, () => ({
      family,
      hostBits,
      byStart: new Map<bigint, Rule[]>(),
    }))
    getOrAdd(byStart, first >> hostBits, () => []).push(rule)
  }
  return {
    add: (rule) => {
      for (const { destination } of rule.hosts) {
        if (destination === undefined) others.push(rule)
        else if ('host' in destination) getOrAdd(named, nameKey(destination), () => []).push(rule)
        else addBlock(blockOf(destination), rule)
      }
      return rule.hosts.length > 0
    },
    visit: ({ urls, suspectedUrls }, found) => {
      if (named.size + blocks.size + others.length === 0 || urls.length + suspectedUrls.length === 0) return
      others.forEach(found)
      for (const { host } of [...urls, ...suspectedUrls]) {
        if (host.kind === 'address') {
          for (const { family, hostBits, byStart } of blocks.values())
            if (family === host.address.family) byStart.get(host.address.value >> hostBits)?.forEach(found)
          continue
        }
        named.get(host.name)?.forEach(found)
        for (let dot = host.name.indexOf('.'); dot !== -1; dot = host.name.indexOf('.', dot + 1))
          named.get(`*${host.name.slice(dot)}`)?.forEach(found)
      }
    },
  }
}

const nameKey = ({ kind, host }: Extract<Destination, { kind: 'host' | 'subdomains' }>): string =>
  kind === 'host' ? host : `*.${host}`

/** By the values of one argument. */
const createArgumentShelf = (): Shelf => {
  // By the first key, so that only arguments of the call are looked up.
  const groups = new Map<string, Map<string, ArgumentIndex>>()
  return {
    add: (rule) => {
      // A text excludes more calls than a number or a boolean.
      const condition = rule.arguments.find(({ accepts }) => accepts.every(isTextual)) ?? rule.arguments[0]
      if (condition === undefined) return false
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
      return true
    },
    visit: ({ input }, found) => {
      const named = isMapping(input) && groups.size > 0 ? [...Object.keys(input), '*'] : groups.keys()
      for (const key of named)
        for (const { keys, texts, values } of groups.get(key)?.values() ?? []) {
          const given = valuesAt(input, keys).flatMap((value) => (isList(value) ? value : [value]))
          for (const value of given) values.get(value)?.forEach(found)
          texts.visit(
            given.filter((value) => typeof value === 'string'),
            found,
          )
        }
    },
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

/** For a condition without an index. Its rules are filed by another condition, or compared with every call. */
const createNoShelf = (): Shelf => ({ add: () => false, visit: () => undefined })

/** The condition that excludes most calls comes first. */
const SHELVES: { readonly [Key in ConditionKey]: () => Shelf } = {
  commands: createCommandShelf,
  paths: createPathShelf,
  hosts: createHostShelf,
  arguments: createArgumentShelf,
  // The index of buckets compares these.
  tools: createNoShelf,
}

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

interface Node<Item> {
  readonly children: Map<string, Node<Item>>
  readonly items: Item[]
}

/** Finds items by path patterns. A walk down a path meets every pattern with the same literal beginning. */
interface FoldedPathIndex<Item> {
  readonly add: (pattern: FoldedPattern, item: Item) => void
  /** A superset of what matches. */
  readonly visit: (names: readonly string[], found: (item: Item) => void) => void
}

const createFoldedPathIndex = <Item>(): FoldedPathIndex<Item> => {
  const root: Node<Item> = { children: new Map(), items: [] }
  // `**/name` has no literal beginning, so it is found by its last name.
  const byLastName = new Map<string, Item[]>()
  return {
    add: ({ base, lastName }, item) => {
      if (lastName !== undefined) {
        getOrAdd(byLastName, lastName, () => []).push(item)
        return
      }
      let node = root
      for (const name of base) node = getOrAdd(node.children, name, () => ({ children: new Map(), items: [] }))
      node.items.push(item)
    },
    visit: (names, found) => {
      let node: Node<Item> | undefined = root
      root.items.forEach(found)
      for (const name of names) {
        node = node?.children.get(name)
        node?.items.forEach(found)
        // Everything beneath a folder of that name counts too.
        if (byLastName.size > 0) byLastName.get(name)?.forEach(found)
        if (node === undefined && byLastName.size === 0) return
      }
    },
  }
}
