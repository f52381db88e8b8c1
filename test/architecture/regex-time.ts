// Searches for a text on which a pattern takes more than linear time: a repeated piece, with something before and
// after it.
import type { AST } from '@eslint-community/regexpp'
import { visitRegExpAST } from '@eslint-community/regexpp'

import { isIn, parsePattern, stepsOf } from './regex-steps.js'
import type { OneCharacter } from './regex-steps.js'

/** Every byte, and what else counts as blank or ends a line. */
const CHARACTERS = [...Array.from({ length: 256 }, (_, at) => String.fromCharCode(at)), '\u2028', '\u3000', '\u{1f600}']

/** In no set that a pattern of ours repeats; where it is in one, another text shows the same. */
const ENDING = '\u0001\n'

/** One character for each way in which characters differ to this pattern. */
const alphabetOf = (literal: AST.RegExpLiteral): readonly string[] => {
  const sets: OneCharacter[] = []
  const keep = (element: OneCharacter): void => void sets.push(element)
  visitRegExpAST(literal, { onCharacterEnter: keep, onCharacterSetEnter: keep, onCharacterClassEnter: keep })
  const alike = new Map(
    CHARACTERS.map((character) => [
      sets.map((set) => (isIn(set, literal.flags, character) ? '1' : '0')).join(''),
      character,
    ]),
  )
  return [...alike.values()]
}

/** What stands in a part that may be repeated without end. Nothing else can make a text as long as one likes. */
const repeatedIn = (literal: AST.RegExpLiteral): readonly OneCharacter[] => {
  const sets: OneCharacter[] = []
  let depth = 0
  const keep = (element: OneCharacter): void => {
    if (depth > 0) sets.push(element)
  }
  visitRegExpAST(literal, {
    onQuantifierEnter: ({ max }) => {
      depth += max === Infinity ? 1 : 0
    },
    onQuantifierLeave: ({ max }) => {
      depth -= max === Infinity ? 1 : 0
    },
    onCharacterEnter: keep,
    onCharacterSetEnter: keep,
    onCharacterClassEnter: keep,
  })
  return sets
}

/** Letters that stand one after the other: a search may begin anew at each such word. */
const wordsIn = (literal: AST.RegExpLiteral): readonly string[] => {
  const words: string[] = []
  visitRegExpAST(literal, {
    onAlternativeEnter: ({ elements }) => {
      const text = elements
        .map((element) => (element.type === 'Character' ? String.fromCodePoint(element.value) : '\0'))
        .join('')
      words.push(...text.split('\0').filter((word) => word.length > 1))
    },
  })
  return words
}

/** So small that all patterns take seconds. */
const SIZE = 12
/** Fewer steps per piece than this are no sign of anything. */
const FEW = 6
/** At three times the size: 3 is linear, 9 quadratic. */
const MOST_GROWTH = 4.5

/** The text that shows it; nothing where none of those tried does. */
export const slowOn = (pattern: RegExp): string | undefined => {
  const literal = parsePattern(pattern)
  const repeated = repeatedIn(literal)
  if (repeated.length === 0) return undefined
  const alphabet = alphabetOf(literal)
  const own = alphabet.filter((character) => repeated.some((set) => isIn(set, literal.flags, character)))
  const pairs = own.flatMap((first) =>
    own.filter((second) => second !== first).map((second) => ['', first + second] as const),
  )
  const words = wordsIn(literal).flatMap((word) => ['', ...own].map((character) => ['', character + word] as const))
  const tried = [
    ...['', ...alphabet].flatMap((before) => own.map((piece) => [before, piece] as const)),
    ...pairs,
    ...words,
  ]
  const shown = tried.find(([before, piece]) => {
    const stepsAt = (size: number): number => stepsOf(literal, before + piece.repeat(size) + ENDING)
    const few = stepsAt(SIZE)
    return few === Infinity || (few > FEW * SIZE && stepsAt(3 * SIZE) > MOST_GROWTH * few)
  })
  return shown === undefined ? undefined : shown.map((part) => JSON.stringify(part)).join(' + n × ')
}
