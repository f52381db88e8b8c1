// All names that a walk can take next, in finitely many classes: names of one class lead to the same nodes. The result
// has exactly the classes that contain a name, each with one such name.
import type { Effort } from './effort.js'
import { spend } from './effort.js'
import { getOrAdd } from '../get-or-add.js'
import type { ActiveNodes, TrieNode, Wildcard } from './path-trie.js'
import { enter, stepInto } from './path-trie.js'
import type { WildcardPart } from '../glob/glob-segments.js'

interface Interest<Mark> {
  /** Whether a node could change anything. Other nodes are ignored. */
  readonly matters: (target: TrieNode<Mark>) => boolean
  /** If given, only names that lead to such a node count. */
  readonly mustReach: ((target: TrieNode<Mark>) => boolean) | undefined
}

export const nameClasses = <Mark>(
  active: ActiveNodes<Mark>,
  { matters, mustReach }: Interest<Mark>,
  effort: Effort,
): readonly { readonly name: string; readonly next: ActiveNodes<Mark> }[] | 'undecided' => {
  const literals = new Set<string>()
  for (const { names } of active) for (const [name, child] of names) if (matters(child)) literals.add(name)
  if (!spend(effort, literals.size)) return 'undecided'
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
  if (others === 'undecided') return 'undecided'
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

/** A name, and the numbers of the wildcards that it fits. */
interface FittingName {
  readonly name: string
  readonly fits: readonly number[]
}

interface NameSearch {
  readonly wildcards: readonly Wildcard[]
  /** Names that the caller handles itself. */
  readonly avoid: ReadonlySet<string>
  /** Only names that fit one of these are wanted. Undefined: all names. */
  readonly mustFit: ReadonlySet<number> | undefined
}

/** For each set of wildcards that a name can fit exactly, a shortest such name. */
const findNames = (search: NameSearch, effort: Effort): readonly FittingName[] | 'undecided' => {
  const found = explore(search, new Set(), effort)
  // A found name is rarely one to avoid. Only then the search is repeated with track of those.
  if (found === 'undecided' || !found.some(({ name }) => isAvoided(search, name))) return found
  return explore(search, search.avoid, effort)
}

const isAvoided = ({ avoid }: NameSearch, name: string): boolean => name === '.' || name === '..' || avoid.has(name)

interface Branch {
  readonly next: Map<string, Branch>
  isEnd: boolean
}

interface Word {
  readonly text: string
  readonly state: AutomatonState
  /** The place in the tree of names to avoid, if the text begins like one. */
  readonly branch: Branch | undefined
}

const explore = (
  { wildcards, mustFit }: NameSearch,
  avoid: ReadonlySet<string>,
  effort: Effort,
): readonly FittingName[] | 'undecided' => {
  const automaton = automatonOf(wildcards)
  const isWanted = (numbers: readonly number[]) =>
    mustFit === undefined || numbers.some((number) => mustFit.has(number))
  const found = new Map<string, FittingName>()
  const start: Word = { text: '', state: automaton.start, branch: namesToAvoid(avoid) }
  const seen = new Set([keyOf(start)])
  const queue = [start]
  // Grows while it is walked.
  for (const { text, state, branch } of queue) {
    const characters = withOneMore(automaton.awaited(state), branch)
    if (!spend(effort, characters.length * (1 + state.length))) return 'undecided'
    if (branch?.isEnd !== true) {
      const fits = automaton.fitting(state)
      const key = fits.join()
      if (isWanted(fits) && !found.has(key)) found.set(key, { name: text, fits })
    }
    for (const character of characters) {
      const next = {
        text: text + character,
        state: automaton.step(state, character),
        branch: branch?.next.get(character),
      }
      const key = keyOf(next)
      if (seen.has(key) || (mustFit !== undefined && !isWanted(automaton.alive(next.state)))) continue
      seen.add(key)
      queue.push(next)
    }
  }
  return [...found.values()]
}

/** A text that begins like a name to avoid is a state of its own. */
const keyOf = ({ text, state, branch }: Word): string => (branch === undefined ? state.join() : `=${text}`)

/** The empty name, `.` and `..` are not names. */
const namesToAvoid = (avoid: ReadonlySet<string>): Branch => {
  const root: Branch = { next: new Map(), isEnd: true }
  for (const name of ['.', '..', ...avoid]) {
    let branch = root
    for (const character of name)
      branch = getOrAdd(branch.next, character, () => ({ next: new Map<string, Branch>(), isEnd: false }))
    branch.isEnd = true
  }
  return root
}

const PLEASANT = Array.from('xyzabcdefghijklmnopqrstuvw0123456789')

/** The characters that make a difference, and one that represents all others. */
const withOneMore = (awaited: ReadonlySet<string>, branch: Branch | undefined): readonly string[] => {
  const all = new Set([...awaited, ...(branch?.next.keys() ?? [])])
  return [PLEASANT.find((character) => !all.has(character)) ?? unusedCharacter(all), ...all]
}

const unusedCharacter = (used: ReadonlySet<string>): string => {
  let code = 0xc0
  while (used.has(String.fromCodePoint(code))) code += 1
  return String.fromCodePoint(code)
}

/** The sorted list of places where the wildcards can be. */
type AutomatonState = readonly number[]

interface Place {
  readonly wildcard: number
  /** Undefined at the end of the wildcard. */
  readonly part: WildcardPart | undefined
}

/** Several wildcards as one automaton over the characters of a name, determinised step by step. */
const automatonOf = (wildcards: readonly Wildcard[]) => {
  // The parts of all wildcards in a row, with one place behind each last part.
  const places: Place[] = wildcards.flatMap(({ parts }, wildcard) =>
    [...parts, undefined].map((part) => ({ wildcard, part })),
  )
  const starts = places.flatMap((place, at) => (at === 0 || places[at - 1]?.wildcard !== place.wildcard ? [at] : []))

  /** A `*` may stand for nothing. */
  const closed = (reached: readonly number[]): AutomatonState => {
    const all = new Set<number>()
    for (let at of reached) {
      while (!all.has(at)) {
        all.add(at)
        if (places[at]?.part?.kind !== 'run') break
        at += 1
      }
    }
    return [...all].sort((one, other) => one - other)
  }
  const numbersOf = (state: AutomatonState, isCounted: (place: Place) => boolean): readonly number[] => {
    const numbers = new Set<number>()
    for (const at of state) {
      const place = places[at]
      if (place !== undefined && isCounted(place)) numbers.add(place.wildcard)
    }
    return [...numbers]
  }
  return {
    start: closed(starts),
    step: (state: AutomatonState, character: string): AutomatonState => {
      const reached: number[] = []
      for (const at of state) {
        const part = places[at]?.part
        if (
          part === undefined ||
          (part.kind === 'character' && part.character !== character) ||
          (part.kind === 'letter' && !part.cases.includes(character))
        )
          continue
        reached.push(part.kind === 'run' ? at : at + 1)
      }
      return closed(reached)
    },
    /** The characters that some wildcard waits for. All other characters lead to one state. */
    awaited: (state: AutomatonState): ReadonlySet<string> => {
      const characters = new Set<string>()
      for (const at of state) {
        const part = places[at]?.part
        if (part?.kind === 'character') characters.add(part.character)
        if (part?.kind === 'letter') for (const character of part.cases) characters.add(character)
      }
      return characters
    },
    /** The numbers of the wildcards that match a name that ends here. */
    fitting: (state: AutomatonState) => numbersOf(state, ({ part }) => part === undefined),
    /** The numbers of the wildcards that could still match. */
    alive: (state: AutomatonState) => numbersOf(state, () => true),
  }
}
