import { getOrAdd } from '../../policy/index.js'

import type { FoldedPattern } from '../arguments/folded-path.js'

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

export const createFoldedPathIndex = <Item>(): FoldedPathIndex<Item> => {
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
