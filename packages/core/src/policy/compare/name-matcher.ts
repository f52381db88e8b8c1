// Matches many wildcards against one name. A folder may have a thousand patterns, so they are found by their fixed
// beginning, end or longest inner text.
import { getOrAdd } from '../get-or-add.js'
import { segmentMatches } from '../glob/glob-segments.js'
import type { Segment, WildcardPart } from '../glob/glob-segments.js'

export type Wildcard = Extract<Segment, { readonly kind: 'wildcard' }>

export interface NamedWildcard<Target> {
  readonly segment: Wildcard
  readonly target: Target
}

/** Calls `found` for each wildcard that a name fits. */
export type NameMatcher<Target> = (name: string, found: (target: Target) => void) => void

export const matchNames = <Target>(wildcards: readonly NamedWildcard<Target>[]): NameMatcher<Target> => {
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
