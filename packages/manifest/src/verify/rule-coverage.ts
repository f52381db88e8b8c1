// Whether one rule matches every call that another matches, as far as their texts tell. Otherwise the answer is no.
import { canonicalJson, parseTextPattern } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { isMapping } from 'cordon/shapes'

export type Conditions = Readonly<Record<string, unknown>>

/** Every condition of `outer` must be one of `inner`, at least as narrow there. A condition that is missing matches. */
export const coversConditions = (outer: Conditions, inner: Conditions): boolean =>
  Object.entries(outer).every(([key, value]) => {
    const given = inner[key]
    if (given === undefined) return false
    switch (key) {
      case 'tool':
        return itemsOf(given).every((name) => itemsOf(value).some((pattern) => coversName(pattern, name)))
      case 'hosts':
      case 'command':
        return isSubset(itemsOf(given), itemsOf(value))
      case 'paths':
        return coversPaths(value, given)
      case 'arguments':
        return isMapping(value) && isMapping(given) && coversArguments(value, given)
      default:
        return textOf(value) === textOf(given)
    }
  })

/** A text or a list of texts, each with one form. */
const itemsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [value]).map(textOf)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : canonicalJson(value as JsonValue))

const isSubset = (items: readonly string[], of: readonly string[]): boolean => items.every((item) => of.includes(item))

const coversName = (pattern: string, name: string): boolean => {
  if (pattern === name || pattern === '*') return true
  return parseTextPattern(name).isLiteral && parseTextPattern(pattern).matches(name)
}

/** A list is about reading and writing. Of a mapping, each part is a condition of its own, and one suffices. */
const coversPaths = (outer: unknown, inner: unknown): boolean => {
  const [ofOuter, ofInner] = [accessesOf(outer), accessesOf(inner)]
  return Object.entries(ofInner).every(([access, items]) =>
    [ofOuter[access], ofOuter['any']].some(
      (given) => given !== undefined && coversPatterns(itemsOf(given), itemsOf(items)),
    ),
  )
}

const accessesOf = (value: unknown): Conditions => (isMapping(value) ? value : { any: value })

/** A carve-out takes matches away. */
const coversPatterns = (outer: readonly string[], inner: readonly string[]): boolean => {
  const isCarveOut = (text: string) => text.startsWith('!')
  return (
    isSubset(
      inner.filter((text) => !isCarveOut(text)),
      outer,
    ) && isSubset(outer.filter(isCarveOut), inner)
  )
}

/** All named arguments must match. */
const coversArguments = (outer: Conditions, inner: Conditions): boolean =>
  Object.entries(outer).every(([name, accepts]) => {
    const given = inner[name]
    return given !== undefined && isSubset(typedItems(given), typedItems(accepts))
  })

/** The number 1 is not the text "1". */
const typedItems = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).map((item) => canonicalJson(item as JsonValue))
