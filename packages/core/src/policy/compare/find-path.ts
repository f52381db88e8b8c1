import { joinNames } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import type { Effort } from './effort.js'
import { spend } from './effort.js'
import { nameClasses } from './name-search.js'
import type { ActiveNodes, Bits, TrieNode } from './path-trie.js'
import { bitsAt, bitsUnder, startAt } from './path-trie.js'

/** A search in a trie for a path whose bits make `wanted` true. */
interface PathSearch<Mark> {
  readonly root: TrieNode<Mark>
  readonly wanted: Formula
  /** A wanted path has at least one of these bits, on it or above it. Other parts of the trie are skipped. */
  readonly needed: Bits
  /** Bits of a path besides those of its nodes: of the path alone, and of everything beneath too. Default: none. */
  readonly settle?: (active: ActiveNodes<Mark>, under: Bits) => { readonly here: Bits; readonly beneath: Bits }
  /** The bits that could occur beneath, given the bits that nodes can reach. Default: the same. */
  readonly possible?: (reach: Bits) => Bits
}

interface Step<Mark> {
  readonly names: readonly string[]
  readonly active: ActiveNodes<Mark>
  readonly under: Bits
}

export type PathFound =
  { readonly kind: 'path'; readonly path: AbsolutePath } | { readonly kind: 'none' } | { readonly kind: 'undecided' }

/** A shortest wanted path, `none` if there is none, or `undecided` if the search takes too long. */
export const findPath = <Mark>(search: PathSearch<Mark>, effort: Effort): PathFound => {
  const { root, wanted, needed, settle = () => NOTHING_MORE, possible = (reach) => reach } = search
  const seen = new Set<string>()
  const queue: Step<Mark>[] = []
  const visit = (names: readonly string[], active: ActiveNodes<Mark>, above: Bits): AbsolutePath | undefined => {
    const own = settle(active, above)
    if (evaluate(wanted, bitsAt(active, above | own.here | own.beneath), 0) === 'yes') return joinNames(names)
    const under = bitsUnder(active, above | own.beneath)
    const open = active.filter((node) => leadsOn(node) && matters(node, under))
    const ids = open.map(({ id }) => id).sort()
    const key = `${under}:${ids.join()}`
    if (seen.has(key) || evaluate(wanted, under, possible(reachOf(open))) === 'no') return undefined
    seen.add(key)
    queue.push({ names, active: open, under })
    return undefined
  }

  const atRoot = visit([], startAt(root), 0)
  if (atRoot !== undefined) return { kind: 'path', path: atRoot }
  // Grows while it is walked.
  for (const { names, active, under } of queue) {
    const isNeeded = (node: TrieNode<Mark>) => (node.reach & needed) !== 0
    const mayRest = (under & needed) !== 0 || active.some((node) => node.loops && isNeeded(node))
    const classes = nameClasses(
      active,
      { matters: (node) => matters(node, under), mustReach: mayRest ? undefined : isNeeded },
      effort,
    )
    if (classes === 'undecided' || !spend(effort, classes.length * (1 + active.length))) return { kind: 'undecided' }
    for (const { name, next: nodes } of classes) {
      const path = visit([...names, name], nodes, under)
      if (path !== undefined) return { kind: 'path', path }
    }
  }
  return { kind: 'none' }
}

const NOTHING_MORE = { here: 0, beneath: 0 }

const leadsOn = <Mark>(node: TrieNode<Mark>): boolean => node.loops || node.names.size > 0 || node.wildcards.length > 0

/** Whether a node can add a bit. */
const matters = <Mark>(node: TrieNode<Mark>, under: Bits): boolean => (node.reach & ~under) !== 0

const reachOf = <Mark>(active: ActiveNodes<Mark>): Bits => active.reduce((bits, node) => bits | node.reach, 0)

// A statement about bits, evaluated while only some of them are known. A search skips everything beneath a folder as
// soon as nothing there can make the statement true.

export type Formula =
  | { readonly kind: 'bit'; readonly bit: Bits }
  | { readonly kind: 'not'; readonly of: Formula }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Formula[] }

export const bit = (one: Bits): Formula => ({ kind: 'bit', bit: one })
export const not = (of: Formula): Formula => ({ kind: 'not', of })
export const and = (...of: readonly Formula[]): Formula => ({ kind: 'and', of })
export const or = (...of: readonly Formula[]): Formula => ({ kind: 'or', of })

type Truth = 'yes' | 'no' | 'maybe'

/** `sure` bits are set, and those of `possible` may be. */
export const evaluate = (formula: Formula, sure: Bits, possible: Bits): Truth => {
  switch (formula.kind) {
    case 'bit':
      return (formula.bit & sure) !== 0 ? 'yes' : (formula.bit & possible) !== 0 ? 'maybe' : 'no'
    case 'not': {
      const inner = evaluate(formula.of, sure, possible)
      return inner === 'maybe' ? 'maybe' : inner === 'yes' ? 'no' : 'yes'
    }
    case 'and':
      return combine(formula.of, sure, possible, 'no', 'yes')
    case 'or':
      return combine(formula.of, sure, possible, 'yes', 'no')
  }
}

/** One `decisive` truth decides. Without one, the result is `neutral` or "maybe". */
const combine = (formulas: readonly Formula[], sure: Bits, possible: Bits, decisive: Truth, neutral: Truth): Truth => {
  let result = neutral
  for (const formula of formulas) {
    const truth = evaluate(formula, sure, possible)
    if (truth === decisive) return decisive
    if (truth === 'maybe') result = 'maybe'
  }
  return result
}
