// A policy file: a policy, what it is for, examples that prove it, and where each of its lines stands.
import { fail } from '../../errors/index.js'

import { hostText } from '../resolve/canonical-policy.js'
import type { ToolPolicy } from '../model.js'
import { readingGrant } from '../parse/parse-egress-class.js'
import { parseHostGrants } from '../parse/parse-network.js'
import { POLICY_KEYS, parsePolicyNode } from '../parse/parse-policy.js'
import type { PolicyExample } from './policy-examples.js'
import { parseExamples, problemOfExample } from './policy-examples.js'
import type { PolicyNode } from '../parse/policy-node.js'
import { invalid, mappingOf, oneOf, textOf } from '../parse/policy-node.js'
import { readDocument } from '../parse/read-document.js'

/** Programs whose own configuration says which hosts they need. */
export const CLIENTS = ['npm', 'pip', 'apt'] as const
export type Client = (typeof CLIENTS)[number]

/** What a file says besides the sections of a policy. */
export const FILE_KEYS = ['description', 'hosts_from', 'examples'] as const

export interface PolicyFile {
  /** As it is shown: a path, or `bundled:github`. */
  readonly source: string
  readonly description: string | undefined
  /** Its hosts are those that this program is configured for, on the machine where it runs. */
  readonly hostsFrom: Client | undefined
  readonly policy: ToolPolicy
  readonly examples: readonly PolicyExample[]
  /** Where an item of a section stands, by `itemKey`; the place of the section or the file otherwise. */
  readonly whereIs: (section: PolicySection, key?: string) => string
}

export type PolicySection = (typeof POLICY_KEYS)[number] | 'read' | 'write'

/**
 * Examples are tried when a file is loaded, so that a policy that means something else than its author thinks is found
 * then.
 */
export const loadPolicyFile = (text: string, source: string): PolicyFile => {
  const file = readPolicyFile(text, source)
  for (const example of file.examples) {
    const problem = problemOfExample(example, file.policy)
    if (problem !== undefined)
      throw fail('policy-example-fails', { source: example.at, example: example.text, problem })
  }
  return file
}

/** The same, without running the examples. */
export const readPolicyFile = (text: string, source: string): PolicyFile =>
  parsePolicyFile(readDocument(text, source), source)

/** The sections of its policy as written, as a value. */
export const policyOfFile = (text: string, source: string): Readonly<Record<string, unknown>> => {
  const { value } = readDocument(text, source)
  const sections: readonly string[] = POLICY_KEYS
  return Object.fromEntries(
    Object.entries((value ?? {}) as Readonly<Record<string, unknown>>).filter(([key]) => sections.includes(key)),
  )
}

const parsePolicyFile = (given: PolicyNode, source: string): PolicyFile => {
  // A file in which everything is commented out.
  const node = given.value === null ? { ...given, value: {} } : given
  const entries = mappingOf(node, [...POLICY_KEYS, ...FILE_KEYS])
  const { description, hosts_from: from, examples, ...sections } = entries
  const policy = parsePolicyNode({
    ...node,
    value: Object.fromEntries(Object.entries(sections).map(([key, child]) => [key, child.value])),
  })
  if (description !== undefined && textOf(description, 'a sentence').trim() === '')
    throw invalid(description, 'a sentence')
  return {
    source,
    description: description === undefined ? undefined : textOf(description, 'a sentence').trim(),
    hostsFrom: from === undefined ? undefined : oneOf(from, CLIENTS),
    policy,
    examples: examples === undefined ? [] : parseExamples(examples, policy),
    whereIs: placesIn(node, policy),
  }
}

const placesIn = (node: PolicyNode, policy: ToolPolicy): PolicyFile['whereIs'] => {
  let known: ReadonlyMap<string, string> | undefined
  return (section, key = '') => {
    known ??= placesOf(node, policy)
    return known.get(`${section} ${key}`) ?? known.get(`${section} `) ?? node.locate([])
  }
}

/** Found by what an item means, because equal ones are one. */
const placesOf = ({ value, locate, whole }: PolicyNode, policy: ToolPolicy): ReadonlyMap<string, string> => {
  const places = new Map<string, string>()
  const note = (key: string, path: readonly (string | number)[]): void => {
    if (!places.has(key)) places.set(key, locate(path))
  }
  const root = value as Readonly<Record<string, unknown>>
  const listAt = (...path: readonly string[]): readonly unknown[] => {
    const found = path.reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? (at as Readonly<Record<string, unknown>>)[key] : undefined),
      root,
    )
    return Array.isArray(found) ? found : []
  }
  const readsOnly = policy.egressClass.kind === 'declared' && policy.egressClass.level === 'read_only'
  listAt('network').forEach((item, at) => {
    const [grant] = parseHostGrants([{ value: item, path: ['network', at], locate, whole }])
    if (grant !== undefined) note(`network ${hostText(readsOnly ? readingGrant(grant) : grant)}`, ['network', at])
  })
  listAt('environment').forEach((item, at) => {
    note(`environment ${String(item).replace(/=.*/s, '')}`, ['environment', at])
  })
  listAt('credentials').forEach((item, at) => {
    note(`credentials ${String((item as { readonly id?: unknown }).id)}`, ['credentials', at])
  })
  for (const access of ['read', 'write'] as const) {
    listAt('filesystem', access).forEach((item, at) => {
      note(`${access} ${String(item)}`, ['filesystem', access, at])
    })
    note(`${access} `, ['filesystem', access])
  }
  for (const section of ['exec', 'presets', 'require'] as const)
    listAt(section).forEach((item, at) => {
      note(`${section} ${String(item)}`, [section, at])
    })
  for (const limit of Object.keys(policy.limits)) note(`limits ${limit}`, ['limits', limit])
  for (const section of POLICY_KEYS) note(`${section} `, [section])
  return places
}
