// A statement about bits, evaluated while only some of them are known. A search skips everything beneath a folder as
// soon as nothing there can make the statement true.
import type { Bits } from './path-trie.js'

export type Formula =
  | { readonly kind: 'bit'; readonly bit: Bits }
  | { readonly kind: 'not'; readonly of: Formula }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Formula[] }

export const bit = (one: Bits): Formula => ({ kind: 'bit', bit: one })
export const not = (of: Formula): Formula => ({ kind: 'not', of })
export const and = (...of: readonly Formula[]): Formula => ({ kind: 'and', of })
export const or = (...of: readonly Formula[]): Formula => ({ kind: 'or', of })

type Truth = 'yes' | 'no' | 'maybe'

/** `sure` bits are set, and those of `possible` may be. */
export const evaluate = (formula: Formula, sure: Bits, possible: Bits): Truth => {
  switch (formula.kind) {
    case 'bit':
      return (formula.bit & sure) !== 0 ? 'yes' : (formula.bit & possible) !== 0 ? 'maybe' : 'no'
    case 'not': {
      const inner = evaluate(formula.of, sure, possible)
      return inner === 'maybe' ? 'maybe' : inner === 'yes' ? 'no' : 'yes'
    }
    case 'and':
      return combine(formula.of, sure, possible, 'no', 'yes')
    case 'or':
      return combine(formula.of, sure, possible, 'yes', 'no')
  }
}

/** One `decisive` truth decides. Without one, the result is `neutral` or "maybe". */
const combine = (formulas: readonly Formula[], sure: Bits, possible: Bits, decisive: Truth, neutral: Truth): Truth => {
  let result = neutral
  for (const formula of formulas) {
    const truth = evaluate(formula, sure, possible)
    if (truth === decisive) return decisive
    if (truth === 'maybe') result = 'maybe'
  }
  return result
}
