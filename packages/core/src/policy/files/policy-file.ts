// A policy file: a policy, its description, examples that prove it, and the line of each entry.
import { fail } from '../../errors/index.js'
import { isMapping } from '../../shapes/index.js'

import { hostText } from '../resolve/canonical-policy.js'
import type { ToolPolicy } from '../model.js'
import { parseHostGrants, readingGrant } from '../parse/parse-network.js'
import { POLICY_KEYS, parsePolicyNode } from '../parse/parse-policy.js'
import type { PolicyExample } from './policy-examples.js'
import { parseExamples, problemOfExample } from './policy-examples.js'
import type { KeyPath, PolicyNode } from '../parse/policy-node.js'
import { invalid, mappingOf, nodeText } from '../parse/policy-node.js'
import type { PolicyInput } from '../parse/policy-input.js'
import { readDocument } from '../parse/read-document.js'

/** The keys of a file besides the sections of a policy. */
const FILE_KEYS = ['description', 'examples'] as const

export interface PolicyFile {
  /** A path, or `bundled:github`. */
  readonly source: string
  readonly description: string | undefined
  readonly policy: ToolPolicy
  readonly examples: readonly PolicyExample[]
  /** The place of an item, or else of its section or of the file. */
  readonly whereIs: (section: PolicySection, key?: string) => string
}

export type PolicySection = (typeof POLICY_KEYS)[number] | 'read' | 'write'

/** Loading a file tries its examples, to find a policy that means something else than its author thinks. */
export const loadPolicyFile = (text: string, source: string): PolicyFile => {
  const file = readPolicyFile(text, source)
  for (const example of file.examples) {
    const problem = problemOfExample(example, file.policy)
    if (problem !== undefined)
      throw fail('policy-example-fails', { source: example.at, example: example.text, problem })
  }
  return file
}

/** Does not try the examples. */
export const readPolicyFile = (text: string, source: string): PolicyFile => {
  const given = readDocument(text, source)
  // The value of a file in which everything is a comment is null.
  const node = given.value === null ? { ...given, value: {} } : given
  const entries = mappingOf(node, [...POLICY_KEYS, ...FILE_KEYS])
  const { description, examples, ...sections } = entries
  const policy = parsePolicyNode({
    ...node,
    value: Object.fromEntries(Object.entries(sections).map(([key, child]) => [key, child.value])),
  })
  const sentence = description === undefined ? undefined : nodeText(description, 'a sentence').trim()
  if (description !== undefined && sentence === '') throw invalid(description, 'a sentence')
  return {
    source,
    description: sentence,
    policy,
    examples: examples === undefined ? [] : parseExamples(examples, policy),
    whereIs: placesIn(node, policy),
  }
}

/** The sections of its policy, as a value. */
export const policyOfFile = (text: string, source: string): PolicyInput => {
  const { value } = readDocument(text, source)
  const sections: readonly string[] = POLICY_KEYS
  return Object.fromEntries(
    Object.entries((value ?? {}) as Readonly<Record<string, unknown>>).filter(([key]) => sections.includes(key)),
  )
}

const placesIn = (node: PolicyNode, policy: ToolPolicy): PolicyFile['whereIs'] => {
  let known: ReadonlyMap<string, string> | undefined
  return (section, key = '') => {
    known ??= placesOf(node, policy)
    return known.get(`${section} ${key}`) ?? known.get(`${section} `) ?? node.locate([])
  }
}

/** By the meaning of an item, because equal items become one. */
const placesOf = ({ value, locate, whole }: PolicyNode, policy: ToolPolicy): ReadonlyMap<string, string> => {
  const places = new Map<string, string>()
  const note = (key: string, path: KeyPath): void => {
    if (!places.has(key)) places.set(key, locate(path))
  }
  const noteItems = (path: readonly string[], meaningOf: (item: unknown, path: KeyPath) => string = String): void => {
    const section = path.at(-1) ?? ''
    const items = path.reduce<unknown>((at, key) => (isMapping(at) ? at[key] : undefined), value)
    if (!Array.isArray(items)) return
    for (const [at, item] of items.entries()) note(`${section} ${meaningOf(item, [...path, at])}`, [...path, at])
  }
  const readsOnly = policy.egressClass.kind === 'declared' && policy.egressClass.level === 'read_only'
  noteItems(['network'], (item, path) => {
    const grants = parseHostGrants([{ value: item, path, locate, whole }])
    return grants.map((grant) => hostText(readsOnly ? readingGrant(grant) : grant)).join()
  })
  noteItems(['environment'], (item) => String(item).replace(/=.*/s, ''))
  noteItems(['credentials'], (item) => String((item as { readonly id?: unknown }).id))
  for (const path of [['filesystem', 'read'], ['filesystem', 'write'], ['exec'], ['presets'], ['require']])
    noteItems(path)
  for (const access of ['read', 'write']) note(`${access} `, ['filesystem', access])
  for (const limit of Object.keys(policy.limits)) note(`limits ${limit}`, ['limits', limit])
  for (const section of POLICY_KEYS) note(`${section} `, [section])
  return places
}
