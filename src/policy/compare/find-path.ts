import { joinNames } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'
import type { Effort } from './effort.js'
import { OUT_OF_EFFORT, spend } from './effort.js'
import type { Formula } from './formula.js'
import { evaluate } from './formula.js'
import { nameClasses } from './name-classes.js'
import type { Active, Bits, TrieNode } from './path-trie.js'
import { bitsAt, bitsUnder, startAt } from './path-trie.js'

/** What is looked for in a trie: a path whose bits make `wanted` true. */
export interface PathSearch<Mark> {
  readonly root: TrieNode<Mark>
  readonly wanted: Formula
  /** Without any of these, on the path or above it, nothing is wanted. Saves looking where they cannot be. */
  readonly needed: Bits
  /** Bits of a path besides those of its nodes: for itself alone, and with everything beneath. */
  readonly settle: (active: Active<Mark>, under: Bits) => { readonly here: Bits; readonly beneath: Bits }
  /** The bits that could turn up beneath, from the bits that nodes could leave. */
  readonly possible: (reach: Bits) => Bits
}

interface Step<Mark> {
  readonly names: readonly string[]
  readonly active: Active<Mark>
  readonly under: Bits
}

export type PathFound =
  { readonly kind: 'path'; readonly path: AbsolutePath } | { readonly kind: 'none' } | { readonly kind: 'undecided' }

/** A shortest path that is wanted, or the certainty that there is none, or neither when it takes too long. */
export const findPath = <Mark>(search: PathSearch<Mark>, effort: Effort): PathFound => {
  const { root, wanted, needed, settle } = search
  const seen = new Set<string>()
  const queue: Step<Mark>[] = []
  const visit = (names: readonly string[], active: Active<Mark>, above: Bits): AbsolutePath | undefined => {
    const own = settle(active, above)
    if (evaluate(wanted, bitsAt(active, above | own.here | own.beneath), 0) === 'yes') return joinNames(names)
    const under = bitsUnder(active, above | own.beneath)
    const open = active.filter((node) => leadsOn(node) && matters(node, under))
    const key = `${under}:${open
      .map(({ id }) => id)
      .sort()
      .join()}`
    if (seen.has(key) || evaluate(wanted, under, search.possible(reachOf(open))) === 'no') return undefined
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
    if (classes === OUT_OF_EFFORT || !spend(effort, classes.length * (1 + active.length))) return { kind: 'undecided' }
    for (const { name, next: nodes } of classes) {
      const path = visit([...names, name], nodes, under)
      if (path !== undefined) return { kind: 'path', path }
    }
  }
  return { kind: 'none' }
}

const leadsOn = <Mark>(node: TrieNode<Mark>): boolean => node.loops || node.names.size > 0 || node.wildcards.length > 0

/** A node that can only repeat what holds anyway. */
const matters = <Mark>(node: TrieNode<Mark>, under: Bits): boolean => (node.reach & ~under) !== 0

const reachOf = <Mark>(active: Active<Mark>): Bits => active.reduce((bits, node) => bits | node.reach, 0)
