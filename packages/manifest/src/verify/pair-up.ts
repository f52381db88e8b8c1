// Finds what has another name now. Nothing is guessed: if two candidates fit, both count as new.
import { getOrAdd } from 'cordon/policy'

import type { Change } from 'cordon/manifest'

interface Paired<Item> {
  readonly pairs: readonly Change<Item>[]
  readonly added: readonly Item[]
}

/** By what an item is recognised under another name. */
export interface Traits<Item> {
  /** Texts of which one suffices, the strongest first. Undefined: this item has none. */
  readonly same: readonly ((item: Item) => string | undefined)[]
  /** Parts of which two items share at least half. */
  readonly parts: (item: Item) => readonly string[]
}

/** Items with the same name, then those that are recognised as exactly one other. */
export const pairUp = <Item extends { readonly name: string }>(
  before: readonly Item[],
  after: readonly Item[],
  { same, parts }: Traits<Item>,
): Paired<Item> => {
  const pairs: Change<Item>[] = []
  let [past, present] = [before, after]
  const settle = (found: readonly Change<Item>[]): void => {
    pairs.push(...found)
    const [oldOnes, newOnes] = [new Set(found.map((pair) => pair.before)), new Set(found.map((pair) => pair.after))]
    past = past.filter((item) => !oldOnes.has(item))
    present = present.filter((item) => !newOnes.has(item))
  }
  for (const trait of [({ name }: Item) => name, ...same]) settle(sharing(past, present, trait))
  settle(alike(past, present, parts))
  return { pairs, added: present }
}

const sharing = <Item>(
  before: readonly Item[],
  after: readonly Item[],
  trait: (item: Item) => string | undefined,
): readonly Change<Item>[] => {
  const past = byTrait(before, trait)
  return [...byTrait(after, trait)].flatMap(([key, candidates]) => onlyPair(past.get(key) ?? [], candidates))
}

const onlyPair = <Item>(
  [one, ...others]: readonly Item[],
  [other, ...more]: readonly Item[],
): readonly Change<Item>[] =>
  one === undefined || other === undefined || others.length > 0 || more.length > 0
    ? []
    : [{ before: one, after: other }]

const byTrait = <Item>(
  items: readonly Item[],
  trait: (item: Item) => string | undefined,
): ReadonlyMap<string, readonly Item[]> => {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = trait(item)
    if (key !== undefined) getOrAdd(groups, key, () => []).push(item)
  }
  return groups
}

const alike = <Item>(
  before: readonly Item[],
  after: readonly Item[],
  parts: (item: Item) => readonly string[],
): readonly Change<Item>[] => {
  // Each comparison of two sets takes its time.
  if (before.length * after.length > MOST_COMPARISONS) return []
  const [past, present] = [before, after].map((items) => items.map((item) => ({ item, parts: new Set(parts(item)) })))
  const likes = (past ?? []).flatMap((one) =>
    (present ?? []).filter((other) => areAlike(one.parts, other.parts)).map((other) => ({ one, other })),
  )
  return likes
    .filter(({ one, other }) => likes.filter((like) => like.one === one || like.other === other).length === 1)
    .map(({ one, other }) => ({ before: one.item, after: other.item }))
}

const MOST_COMPARISONS = 100_000

const areAlike = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean => {
  const shared = [...one].filter((part) => other.has(part)).length
  return shared > 0 && 2 * shared >= one.size + other.size - shared
}
