import { getOrAdd } from '../../policy/index.js'

import type { TextPattern } from '../commands/text-pattern.js'

type Found<Item> = (item: Item) => void

/** Finds the items whose patterns may match a text, without comparing every pattern. */
export interface TextIndex<Item> {
  /** Every one of the patterns has to match. The item is filed by the part of them that is rarest so far. */
  readonly add: (patterns: readonly TextPattern[], item: Item) => void
  /** Finds a superset of the items that match. It may find an item more than once. */
  readonly visit: (texts: Iterable<string>, found: Found<Item>) => void
  readonly visitAll: (found: Found<Item>) => void
}

/** Patterns with a wildcard are filed by three letters in a row. */
const GRAM = 3

export const createTextIndex = <Item>(): TextIndex<Item> => {
  const byText = new Map<string, Item[]>()
  const byGram = new Map<string, Item[]>()
  const others: Item[] = []
  const all: Item[] = []

  const shelfOf = (patterns: readonly TextPattern[]): Item[] => {
    const places = patterns.flatMap(({ isLiteral, runs }) =>
      isLiteral
        ? runs.map((text) => ({ map: byText, key: text }))
        : runs.flatMap(gramsOf).map((key) => ({ map: byGram, key })),
    )
    const size = ({ map, key }: (typeof places)[number]): number => map.get(key)?.length ?? 0
    const [first, ...rest] = places
    if (first === undefined) return others
    const { map, key } = rest.reduce((rarest, place) => (size(place) < size(rarest) ? place : rarest), first)
    return getOrAdd(map, key, () => [])
  }
  return {
    add: (patterns, item) => {
      shelfOf(patterns).push(item)
      all.push(item)
    },
    visit: (texts, found) => {
      others.forEach(found)
      if (byText.size + byGram.size === 0) return
      const grams = new Set<string>()
      for (const text of texts) {
        byText.get(text)?.forEach(found)
        if (byGram.size > 0) for (const gram of gramsOf(text)) grams.add(gram)
      }
      for (const gram of grams) byGram.get(gram)?.forEach(found)
    },
    visitAll: (found) => {
      all.forEach(found)
    },
  }
}

const gramsOf = (text: string): readonly string[] =>
  Array.from({ length: Math.max(0, text.length - GRAM + 1) }, (_, at) => text.slice(at, at + GRAM))
