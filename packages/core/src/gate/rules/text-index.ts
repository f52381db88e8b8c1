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
  const byKey = new Map<string, Item[]>()
  const others: Item[] = []
  let hasGrams = false
  const rarestKey = (patterns: readonly TextPattern[]): string | undefined => {
    const sizeOf = (key: string): number => byKey.get(key)?.length ?? 0
    return patterns.flatMap(keysOf).toSorted((one, other) => sizeOf(one) - sizeOf(other))[0]
  }
  return {
    add: (patterns, item) => {
      const key = rarestKey(patterns)
      if (key?.length === GRAM) hasGrams = true
      const place = key === undefined ? others : getOrAdd(byKey, key, () => [])
      place.push(item)
    },
    visit: (texts, found) => {
      others.forEach(found)
      const keys = new Set<string>()
      for (const text of texts) {
        keys.add(wholeKey(text))
        if (hasGrams) for (const gram of gramsOf(text)) keys.add(gram)
      }
      for (const key of keys) byKey.get(key)?.forEach(found)
    },
    visitAll: (found) => {
      for (const items of [others, ...byKey.values()]) items.forEach(found)
    },
  }
}

const keysOf = ({ isLiteral, runs }: TextPattern): readonly string[] =>
  isLiteral ? runs.map(wholeKey) : runs.flatMap(gramsOf)

/** Longer than a gram. */
const wholeKey = (text: string): string => `all ${text}`

const gramsOf = (text: string): readonly string[] =>
  Array.from({ length: Math.max(0, text.length - GRAM + 1) }, (_, at) => text.slice(at, at + GRAM))
