// Counts the steps of a backtracking matcher, so that the time of a pattern can be compared at two sizes without a
// clock. It tries alternatives in JavaScript's order, at every position of the text, like a search that fails.
import { RegExpParser } from '@eslint-community/regexpp'
import type { AST } from '@eslint-community/regexpp'

/** Beyond this a pattern is hopeless; nobody needs to know by how much. */
const MOST_STEPS = 100_000

class TooMany extends Error {}

type Next = (at: number) => boolean

interface Run {
  readonly text: string
  readonly flags: AST.Flags
  readonly count: () => void
}

export const parsePattern = (pattern: RegExp): AST.RegExpLiteral =>
  new RegExpParser().parseLiteral(`/${pattern.source}/${pattern.flags}`)

/** The steps of a search through all of a text; infinitely many where it takes too long to find out. */
export const stepsOf = ({ pattern, flags }: AST.RegExpLiteral, text: string): number => {
  let steps = 0
  const count = (): void => {
    steps += 1
    if (steps > MOST_STEPS) throw new TooMany()
  }
  const run: Run = { text, flags, count }
  try {
    for (let start = 0; start <= text.length;) {
      let end = start
      const isFound = anyOf(pattern.alternatives, run, start, (at) => {
        end = at
        return true
      })
      // As `g` goes on behind what it found.
      if (flags.sticky && !isFound) break
      start = isFound && end > start ? end : start + 1
    }
  } catch (error) {
    if (!(error instanceof TooMany)) throw error
    return Infinity
  }
  return steps
}

const anyOf = (alternatives: readonly AST.Alternative[], run: Run, at: number, next: Next): boolean =>
  alternatives.some((alternative) => inOrder(alternative.elements, 0, run, at, next))

const inOrder = (elements: readonly AST.Element[], index: number, run: Run, at: number, next: Next): boolean => {
  const element = elements[index]
  return element === undefined
    ? next(at)
    : one(element, run, at, (after) => inOrder(elements, index + 1, run, after, next))
}

const one = (element: AST.Element, run: Run, at: number, next: Next): boolean => {
  run.count()
  switch (element.type) {
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      return at < run.text.length && isIn(element, run.flags, run.text[at] ?? '') && next(at + 1)
    case 'CapturingGroup':
    case 'Group':
      return anyOf(element.alternatives, run, at, next)
    case 'Quantifier':
      return repeated(element, 0, run, at, next)
    case 'Assertion':
      return holds(element, run, at) && next(at)
    case 'Backreference':
      return next(at)
  }
}

const repeated = (quantifier: AST.Quantifier, times: number, run: Run, at: number, next: Next): boolean => {
  const again = (): boolean =>
    times < quantifier.max &&
    one(quantifier.element, run, at, (after) => after > at && repeated(quantifier, times + 1, run, after, next))
  if (times < quantifier.min)
    return one(quantifier.element, run, at, (after) => repeated(quantifier, times + 1, run, after, next))
  return quantifier.greedy ? again() || next(at) : next(at) || again()
}

const holds = (assertion: AST.Assertion, run: Run, at: number): boolean => {
  switch (assertion.kind) {
    case 'start':
      return at === 0 || (run.flags.multiline && run.text[at - 1] === '\n')
    case 'end':
      return at === run.text.length || (run.flags.multiline && run.text[at] === '\n')
    case 'word':
      return (isWord(run.text[at - 1]) !== isWord(run.text[at])) !== assertion.negate
    case 'lookahead':
      return anyOf(assertion.alternatives, run, at, () => true) !== assertion.negate
    case 'lookbehind':
      // Those of this repository are of one character.
      return (
        assertion.alternatives.some(
          (alternative) => at > 0 && inOrder(alternative.elements, 0, run, at - 1, (end) => end === at),
        ) !== assertion.negate
      )
  }
}

const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character)

export type OneCharacter = AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass

const known = new WeakMap<OneCharacter, Map<string, boolean>>()

/** One character is matched as JavaScript itself does it. */
export const isIn = (element: OneCharacter, flags: AST.Flags, character: string): boolean => {
  const answers = known.get(element) ?? new Map<string, boolean>()
  known.set(element, answers)
  // A bare character is no pattern by itself: `*` within a class.
  const raw = element.type === 'Character' ? `\\u{${element.value.toString(16)}}` : element.raw
  const answer = answers.get(character) ?? new RegExp(raw, flags.raw.replace(/[gyduv]/g, '') + 'u').test(character)
  answers.set(character, answer)
  return answer
}
