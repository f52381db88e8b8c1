// A value inside a policy document together with its place, so that every complaint can say where.
import type { CordonError } from '../../errors/index.js'
import { fail } from '../../errors/index.js'

import { nearestKey } from '../nearest-key.js'

export type KeyPath = readonly (string | number)[]

export interface PolicyNode {
  readonly value: unknown
  readonly path: KeyPath
  /** The source of a key path, as precise as it is known: "policy.yaml:7" or "tool grep". */
  readonly locate: (path: KeyPath) => string
  /** What the whole document is called. */
  readonly whole: string
}

export const rootNode = (value: unknown, locate: (path: KeyPath) => string, whole = 'the policy'): PolicyNode => ({
  value,
  path: [],
  locate,
  whole,
})

export const sourceOf = (node: PolicyNode): string => node.locate(node.path)

/** `filesystem.read[2]` */
export const keyOf = ({ path, whole }: PolicyNode): string => {
  if (path.length === 0) return whole
  return path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('')
}

export const placeOf = (node: PolicyNode): string => `${sourceOf(node)}: ${keyOf(node)}`

export const describeValue = (value: unknown): string => {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value === 'string') return JSON.stringify(value)
  return typeof value === 'number' || typeof value === 'boolean' ? `the ${typeof value} ${value}` : `a ${typeof value}`
}

/** `hint` is the way out where a likely one is known. */
export const invalid = (node: PolicyNode, expected: string, hint = ''): CordonError =>
  fail('policy-invalid-value', {
    source: sourceOf(node),
    where: keyOf(node),
    expected,
    found: describeValue(node.value),
    hint,
  })

const didYouMean = (near: string | undefined): string | undefined =>
  near === undefined ? undefined : `did you mean "${near}"?`

/** The entries of a mapping that has no other keys than the known ones. */
export const mappingOf = <Key extends string>(
  node: PolicyNode,
  known: readonly Key[],
): Readonly<Partial<Record<Key, PolicyNode>>> => {
  const { value, path, locate, whole } = node
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw fail('policy-not-an-object', {
      source: sourceOf(node),
      where: keyOf(node),
      found: describeValue(value),
      hint: '',
    })
  }
  const entries: Partial<Record<Key, PolicyNode>> = {}
  for (const [key, child] of Object.entries(value)) {
    const childPath = [...path, key]
    const name = known.find((candidate) => candidate === key)
    if (name === undefined) {
      const hint = didYouMean(nearestKey(key, known)) ?? `known keys: ${known.join(', ')}`
      throw fail('policy-unknown-key', { source: locate(childPath), key, where: keyOf(node), hint })
    }
    // In a TypeScript value `{ network: undefined }` is how a section is left out.
    if (child !== undefined) entries[name] = { value: child, path: childPath, locate, whole }
  }
  return entries
}

/** One plain word where a list of words is meant. */
const listHint = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[^\s,[\]{}]+$/.test(value) ? `write [${value}]` : undefined

/** A list whose items are words. */
export const wordsOf = (node: PolicyNode, expected: string): readonly PolicyNode[] => {
  if (!Array.isArray(node.value)) throw invalid(node, expected, listHint(node.value))
  return itemsOf(node, expected)
}

export const itemsOf = (node: PolicyNode, expected: string): readonly PolicyNode[] => {
  const { value, path, locate, whole } = node
  if (!Array.isArray(value)) throw invalid(node, expected)
  return value.map((item: unknown, at) => ({ value: item, path: [...path, at], locate, whole }))
}

export const textOf = (node: PolicyNode, expected: string): string => {
  if (typeof node.value !== 'string') throw invalid(node, expected)
  return node.value
}

/** A list of names out of a fixed set. */
export const namesOutOf = <Name extends string>(node: PolicyNode, known: readonly Name[]): readonly Name[] =>
  wordsOf(node, `a list of: ${known.join(', ')}`).map((item) => oneOf(item, known))

export const oneOf = <Name extends string>(node: PolicyNode, known: readonly Name[]): Name => {
  const name = known.find((candidate) => candidate === node.value)
  if (name === undefined)
    throw invalid(
      node,
      `one of: ${known.join(', ')}`,
      typeof node.value === 'string'
        ? (didYouMean(nearestKey(node.value, known)) ?? 'use one of these, spelt as they are here')
        : undefined,
    )
  return name
}
