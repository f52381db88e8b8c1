// All names that a walk can take next, in finitely many classes: names of one class lead to the same nodes. The result
// has exactly the classes that contain a name, each with one such name.
import type { Effort } from './effort.js'
import { OUT_OF_EFFORT, spend } from './effort.js'
import { findNames } from './name-search.js'
import type { Active, TrieNode } from './path-trie.js'
import { enter, stepInto } from './path-trie.js'

interface NameClass<Mark> {
  readonly name: string
  readonly next: Active<Mark>
}

interface Interest<Mark> {
  /** Whether a node could change anything. Other nodes are ignored. */
  readonly matters: (target: TrieNode<Mark>) => boolean
  /** If given, only names that lead to such a node count. */
  readonly mustReach: ((target: TrieNode<Mark>) => boolean) | undefined
}

export const nameClasses = <Mark>(
  active: Active<Mark>,
  { matters, mustReach }: Interest<Mark>,
  effort: Effort,
): readonly NameClass<Mark>[] | typeof OUT_OF_EFFORT => {
  const literals = new Set<string>()
  for (const { names } of active) for (const [name, child] of names) if (matters(child)) literals.add(name)
  if (!spend(effort, literals.size)) return OUT_OF_EFFORT
  const named = [...literals].map((name) => ({
    name,
    next: stepInto(active, name).filter((node) => node.loops || matters(node)),
  }))

  const edges = active.flatMap(({ wildcards }) => wildcards.filter(({ target }) => matters(target)))
  const mustFit =
    mustReach === undefined
      ? undefined
      : new Set(edges.flatMap(({ target }, number) => (mustReach(target) ? [number] : [])))
  if (mustFit?.size === 0) return named
  const others = findNames({ wildcards: edges.map(({ segment }) => segment), avoid: literals, mustFit }, effort)
  if (others === OUT_OF_EFFORT) return OUT_OF_EFFORT
  const loops = active.filter((node) => node.loops)
  const targetsOf = (fits: readonly number[]) => fits.flatMap((number) => edges[number]?.target ?? [])
  return [
    ...named,
    ...others.map(({ name, fits }) => ({
      name,
      next: [...loops, ...targetsOf(fits)].reduce<TrieNode<Mark>[]>(enter, []),
    })),
  ]
}
