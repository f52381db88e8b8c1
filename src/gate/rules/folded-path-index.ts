import type { FoldedPattern } from '../arguments/folded-path.js'

interface Node<Item> {
  readonly children: Map<string, Node<Item>>
  readonly items: Item[]
}

/** Finds items by path patterns: walking down a path meets every pattern whose literal beginning it has. */
export interface FoldedPathIndex<Item> {
  readonly add: (pattern: FoldedPattern, item: Item) => void
  /** A superset of what matches. */
  readonly visit: (names: readonly string[], found: (item: Item) => void) => void
}

export const createFoldedPathIndex = <Item>(): FoldedPathIndex<Item> => {
  const root: Node<Item> = { children: new Map(), items: [] }
  // `**/name` begins with nothing literal; it is found by its last name instead.
  const byLastName = new Map<string, Item[]>()
  return {
    add: ({ base, lastName }, item) => {
      if (lastName !== undefined) {
        addTo(byLastName, lastName, item)
        return
      }
      let node = root
      for (const name of base) {
        let child = node.children.get(name)
        if (child === undefined) {
          child = { children: new Map(), items: [] }
          node.children.set(name, child)
        }
        node = child
      }
      node.items.push(item)
    },
    visit: (names, found) => {
      let node: Node<Item> | undefined = root
      root.items.forEach(found)
      for (const name of names) {
        node = node?.children.get(name)
        node?.items.forEach(found)
        // Everything beneath a folder with that name counts too.
        if (byLastName.size > 0) byLastName.get(name)?.forEach(found)
        if (node === undefined && byLastName.size === 0) return
      }
    },
  }
}

export const addTo = <Key, Item>(map: Map<Key, Item[]>, key: Key, item: Item): void => {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}
