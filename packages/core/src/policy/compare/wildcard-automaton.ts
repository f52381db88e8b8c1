// Several wildcards as one automaton over the characters of a name, determinised step by step. A state is the sorted
// list of places where the wildcards can be.
import type { WildcardPart } from '../glob/glob-segments.js'
import type { Wildcard } from './name-matcher.js'

export type AutomatonState = readonly number[]

interface WildcardAutomaton {
  readonly start: AutomatonState
  readonly step: (state: AutomatonState, character: string) => AutomatonState
  /** The characters that some wildcard waits for. All other characters lead to one state. */
  readonly awaited: (state: AutomatonState) => ReadonlySet<string>
  /** The numbers of the wildcards that match a name that ends here. */
  readonly fitting: (state: AutomatonState) => readonly number[]
  /** The numbers of the wildcards that could still match. */
  readonly alive: (state: AutomatonState) => readonly number[]
}

interface Place {
  readonly wildcard: number
  /** Undefined at the end of the wildcard. */
  readonly part: WildcardPart | undefined
}

export const automatonOf = (wildcards: readonly Wildcard[]): WildcardAutomaton => {
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
    step: (state, character) => {
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
    awaited: (state) => {
      const characters = new Set<string>()
      for (const at of state) {
        const part = places[at]?.part
        if (part?.kind === 'character') characters.add(part.character)
        if (part?.kind === 'letter') for (const character of part.cases) characters.add(character)
      }
      return characters
    },
    fitting: (state) => numbersOf(state, ({ part }) => part === undefined),
    alive: (state) => numbersOf(state, () => true),
  }
}
