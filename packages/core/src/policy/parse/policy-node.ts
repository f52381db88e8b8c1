// A value inside a policy document and its place, so that each error says where.
import type { CordonError } from '../../errors/index.js'
import { fail } from '../../errors/index.js'
import { isMapping } from '../../shapes/index.js'

import { didYouMean } from '../nearest-key.js'

export type KeyPath = readonly (string | number)[]

export interface PolicyNode {
  readonly value: unknown
  readonly path: KeyPath
  /** The source of a key path, as precise as it is known: "policy.yaml:7" or "tool grep". */
  readonly locate: (path: KeyPath) => string
  /** The name of the whole document. */
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
export const keyOf = ({ path, whole }: Pick<PolicyNode, 'path' | 'whole'>): string =>
  path.length === 0
    ? whole
    : path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('')

export const placeOf = (node: PolicyNode): string => `${sourceOf(node)}: ${keyOf(node)}`

export const describeValue = (value: unknown): string => {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value === 'string') return JSON.stringify(value)
  return typeof value === 'number' || typeof value === 'boolean' ? `the ${typeof value} ${value}` : `a ${typeof value}`
}

/** `hint`: a likely way out. */
export const invalid = (
  node: PolicyNode,
  expected: string,
  hint = '',
  found = describeValue(node.value),
): CordonError => fail('policy-invalid-value', { source: sourceOf(node), where: keyOf(node), expected, found, hint })

/** Two entries contradict each other. */
export const conflict = (node: PolicyNode, problem: string, fix: string): CordonError =>
  fail('policy-conflict', { source: sourceOf(node), where: keyOf(node), conflict: problem, fix })

/** The entries of a mapping that has no other keys than the known ones. */
export const mappingOf = <Key extends string>(
  node: PolicyNode,
  known: readonly Key[],
): Readonly<Partial<Record<Key, PolicyNode>>> => {
  const { value, path, locate, whole } = node
  if (!isMapping(value))
    throw fail('policy-not-an-object', {
      source: sourceOf(node),
      where: keyOf(node),
      found: describeValue(value),
      hint: '',
    })
  const entries: Partial<Record<Key, PolicyNode>> = {}
  for (const [key, child] of Object.entries(value)) {
    const childPath = [...path, key]
    const name = known.find((candidate) => candidate === key)
    if (name === undefined) {
      const hint = didYouMean(key, known) ?? `known keys: ${known.join(', ')}`
      throw fail('policy-unknown-key', { source: locate(childPath), key, where: keyOf(node), hint })
    }
    // A TypeScript value may omit a section as `{ network: undefined }`.
    if (child !== undefined) entries[name] = { value: child, path: childPath, locate, whole }
  }
  return entries
}

/** The entries of a mapping with any keys. */
export const namedNodesOf = (node: PolicyNode): readonly (readonly [string, PolicyNode])[] => {
  const entries = mappingOf(node, isMapping(node.value) ? Object.keys(node.value) : [])
  return Object.entries(entries).flatMap(([name, entry]) => (entry === undefined ? [] : [[name, entry] as const]))
}

/** The value at a key that must be there. */
export const required = <Key extends string>(
  node: PolicyNode,
  entries: Readonly<Partial<Record<Key, PolicyNode>>>,
  key: Key,
  hint?: string,
): PolicyNode => {
  const entry = entries[key]
  if (entry === undefined) throw invalid(node, `a mapping with the key "${key}"`, hint, 'one without it')
  return entry
}

/** A list whose items are words. One plain word gets a hint. */
export const wordsOf = (node: PolicyNode, expected: string): readonly PolicyNode[] => {
  const { value } = node
  if (typeof value === 'string' && /^[^\s,[\]{}]+$/.test(value)) throw invalid(node, expected, `write [${value}]`)
  return itemsOf(node, expected)
}

export const itemsOf = (node: PolicyNode, expected: string): readonly PolicyNode[] => {
  const { value, path, locate, whole } = node
  if (!Array.isArray(value)) throw invalid(node, expected)
  return value.map((item: unknown, at) => ({ value: item, path: [...path, at], locate, whole }))
}

/** A list with at least one item. Some readers take an empty list for "none", others for "all". */
export const someItemsOf = (node: PolicyNode, expected: string): readonly PolicyNode[] => {
  const items = itemsOf(node, expected)
  if (items.length === 0) throw invalid(node, `${expected} with at least one item`)
  return items
}

export const nodeText = (node: PolicyNode, expected: string): string => {
  if (typeof node.value !== 'string') throw invalid(node, expected)
  return node.value
}

export const flagOf = (node: PolicyNode): boolean => {
  if (typeof node.value !== 'boolean') throw invalid(node, 'true or false')
  return node.value
}

export const countOf = (node: PolicyNode): number => {
  if (!Number.isSafeInteger(node.value) || Number(node.value) < 0) throw invalid(node, 'a whole number of at least 0')
  return Number(node.value)
}

export const oneOf = <Name extends string>(node: PolicyNode, known: readonly Name[]): Name => {
  const name = known.find((candidate) => candidate === node.value)
  if (name === undefined)
    throw invalid(
      node,
      `one of: ${known.join(', ')}`,
      typeof node.value === 'string'
        ? (didYouMean(node.value, known) ?? 'use one of these, spelt as they are here')
        : undefined,
    )
  return name
}
