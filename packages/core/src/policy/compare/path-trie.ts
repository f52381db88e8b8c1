// All patterns of a boundary in one tree, so that one walk of a path suffices for all of them. A pattern leaves bits on
// the node where it ends. The bits of a path are those of the nodes on it.
import type { Segment, WildcardPart } from '../glob/glob-segments.js'
import { renderSegment, segmentMatches } from '../glob/glob-segments.js'
import { getOrAdd } from '../get-or-add.js'

/** A set of facts about a path, one per bit. */
export type Bits = number

export interface TrieNode<Mark> {
  readonly id: number
  readonly names: ReadonlyMap<string, TrieNode<Mark>>
  readonly wildcards: readonly NamedWildcard<TrieNode<Mark>>[]
  readonly matchWildcards: NameMatcher<TrieNode<Mark>>
  /** The node behind a `**` that begins here. A walk at this node is at that node too. */
  readonly deep: TrieNode<Mark> | undefined
  /** It is behind a `**`, so any name leads back to it. */
  readonly loops: boolean
  /** Bits of the path that ends here. */
  readonly at: Bits
  /** Bits of every path beneath. */
  readonly under: Bits
  /** Every bit that could occur here or beneath. */
  readonly reach: Bits
  readonly marks: readonly Mark[]
}

interface Leaving<Mark> {
  readonly at: Bits
  readonly under: Bits
  /** Bits for `reach` only. */
  readonly hint?: Bits
  readonly mark?: Mark
}

export interface TrieBuilder<Mark> {
  /** A trailing `**` means everything beneath, so only `under` counts. */
  readonly add: (segments: readonly Segment[], leaving: Leaving<Mark>) => void
  readonly build: () => TrieNode<Mark>
}

/** A node while it is built. Most have no wildcard and half have no child, so they share empty collections. */
interface Draft<Mark> extends TrieNode<Mark> {
  names: Map<string, Draft<Mark>>
  wildcards: NamedWildcard<Draft<Mark>>[]
  wildcardTexts: Map<string, Draft<Mark>> | undefined
  matchWildcards: NameMatcher<TrieNode<Mark>>
  deep: Draft<Mark> | undefined
  at: Bits
  under: Bits
  reach: Bits
  marks: Mark[]
}

const matchNothing = (): void => undefined

export const createTrie = <Mark>(): TrieBuilder<Mark> => {
  let lastId = 0
  const [noNames, noWildcards, noMarks] = [
    new Map<string, Draft<Mark>>(),
    [] as NamedWildcard<Draft<Mark>>[],
    [] as Mark[],
  ]
  const draft = (loops: boolean): Draft<Mark> => {
    lastId += 1
    const nothing = {
      names: noNames,
      wildcards: noWildcards,
      wildcardTexts: undefined,
      matchWildcards: matchNothing,
      deep: undefined,
      marks: noMarks,
    }
    return { id: lastId, loops, ...nothing, at: 0, under: 0, reach: 0 }
  }
  const nameChild = (node: Draft<Mark>, name: string): Draft<Mark> => {
    if (node.names === noNames) node.names = new Map()
    return getOrAdd(node.names, name, () => draft(false))
  }
  const wildcardChild = (node: Draft<Mark>, segment: Wildcard): Draft<Mark> => {
    node.wildcardTexts ??= new Map()
    return getOrAdd(node.wildcardTexts, renderSegment(segment), () => {
      if (node.wildcards === noWildcards) node.wildcards = []
      const target = draft(false)
      node.wildcards.push({ segment, target })
      return target
    })
  }
  const childOf = (node: Draft<Mark>, segment: Segment): Draft<Mark> => {
    switch (segment.kind) {
      case 'any-depth':
        return (node.deep ??= draft(true))
      case 'name':
        return nameChild(node, segment.name)
      case 'wildcard':
        return wildcardChild(node, segment)
    }
  }
  const root = draft(false)
  return {
    add: (segments, { at, under, hint = 0, mark }) => {
      const endsDeep = segments.at(-1)?.kind === 'any-depth'
      const node = (endsDeep ? segments.slice(0, -1) : segments).reduce(childOf, root)
      if (!endsDeep) node.at |= at
      node.under |= under
      node.reach |= hint
      if (mark === undefined) return
      if (node.marks === noMarks) node.marks = []
      node.marks.push(mark)
    },
    build: () => finish(root),
  }
}

/** Computes the bits in reach and the index of wildcards, which depend on the children. */
const finish = <Mark>(node: Draft<Mark>): Draft<Mark> => {
  node.reach |= node.at | node.under
  for (const child of node.names.values()) node.reach |= finish(child).reach
  for (const { target } of node.wildcards) node.reach |= finish(target).reach
  if (node.deep !== undefined) node.reach |= finish(node.deep).reach
  if (node.wildcards.length > 0) node.matchWildcards = matchNames(node.wildcards)
  return node
}

/** The nodes of a walk after some names, each once. */
export type ActiveNodes<Mark> = readonly TrieNode<Mark>[]

export const startAt = <Mark>(root: TrieNode<Mark>): ActiveNodes<Mark> => enter([], root)

export const stepInto = <Mark>(active: ActiveNodes<Mark>, name: string): ActiveNodes<Mark> => {
  const next: TrieNode<Mark>[] = []
  const found = (node: TrieNode<Mark>) => enter(next, node)
  for (const node of active) {
    if (node.loops) found(node)
    const child = node.names.get(name)
    if (child !== undefined) found(child)
    node.matchWildcards(name, found)
  }
  return next
}

export const enter = <Mark>(active: TrieNode<Mark>[], node: TrieNode<Mark>): TrieNode<Mark>[] => {
  if (!active.includes(node)) active.push(node)
  return node.deep === undefined ? active : enter(active, node.deep)
}

/** The bits of the path that ends at these nodes. `under`: those that its parents give to everything beneath. */
export const bitsAt = <Mark>(active: ActiveNodes<Mark>, under: Bits): Bits =>
  active.reduce((bits, node) => bits | node.at, under)

export const bitsUnder = <Mark>(active: ActiveNodes<Mark>, under: Bits): Bits =>
  active.reduce((bits, node) => bits | node.under, under)

export type Wildcard = Extract<Segment, { readonly kind: 'wildcard' }>

interface NamedWildcard<Target> {
  readonly segment: Wildcard
  readonly target: Target
}

/** Calls `found` for each wildcard that a name fits. */
type NameMatcher<Target> = (name: string, found: (target: Target) => void) => void

/** A folder may have a thousand patterns, so they are found by their fixed beginning, end or longest inner text. */
const matchNames = <Target>(wildcards: readonly NamedWildcard<Target>[]): NameMatcher<Target> => {
  const atStart: Index<NamedWildcard<Target>> = new Map()
  const atEnd: Index<NamedWildcard<Target>> = new Map()
  const inside: Index<NamedWildcard<Target>> = new Map()
  const others: NamedWildcard<Target>[] = []
  for (const wildcard of wildcards) {
    const texts = fixedTexts(wildcard.segment.parts)
    const longest = texts.reduce((one, other) => (other.length > one.length ? other : one), '')
    const [start = '', end = ''] = [texts[0], texts.at(-1)]
    if (start !== '') addTo(atStart, start, wildcard)
    else if (end !== '') addTo(atEnd, end, wildcard)
    else if (longest !== '') addTo(inside, longest, wildcard)
    else others.push(wildcard)
  }
  return (name, found) => {
    const tryEach = (candidates: readonly NamedWildcard<Target>[] = []) => {
      for (const { segment, target } of candidates) if (segmentMatches(segment, name)) found(target)
    }
    for (const [length, byText] of atStart) tryEach(byText.get(name.slice(0, length)))
    for (const [length, byText] of atEnd)
      if (length <= name.length) tryEach(byText.get(name.slice(name.length - length)))
    for (const [length, byText] of inside) {
      for (let at = 0; at + length <= name.length; at += 1) tryEach(byText.get(name.slice(at, at + length)))
    }
    tryEach(others)
  }
}

/** The characters before, between and after the `*` and `?`. */
const fixedTexts = (parts: readonly WildcardPart[]): readonly string[] => {
  const texts = ['']
  for (const part of parts) {
    if (part.kind === 'character') texts.push(`${texts.pop() ?? ''}${part.character}`)
    else texts.push('')
  }
  return texts
}

/** By the length of the text, then by the text. */
type Index<Item> = Map<number, Map<string, Item[]>>

const addTo = <Item>(index: Index<Item>, text: string, item: Item): void => {
  getOrAdd(
    getOrAdd(index, text.length, () => new Map<string, Item[]>()),
    text,
    () => [],
  ).push(item)
}
