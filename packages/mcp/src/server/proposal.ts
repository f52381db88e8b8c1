// The policy of a tool in its annotations: `cordon:policy`, or `sandlock:*`. A server proposes it. It grants nothing
// until somebody accepts it.
import { CordonError } from 'cordon/errors'
import { parsePolicy } from 'cordon/policy'
import type { PolicyInput, ToolPolicy } from 'cordon/policy'
import { isMapping } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { policyFromCapabilities } from './sandlock-capabilities.js'

const OWN = 'cordon:'
const SANDLOCK = 'sandlock:'
const POLICY = `${OWN}policy`

/** Variables, credentials and required mechanisms are between a server and its host, and may name secrets. */
const PUBLISHED = ['risk', 'filesystem', 'network', 'egress_class', 'exec', 'limits', 'presets'] as const

/** The annotation that publishes the policy of a tool. */
export const publishedPolicy = (policy: PolicyInput): Readonly<Record<string, PolicyInput>> => {
  const sections = PUBLISHED.flatMap((key) => (policy[key] === undefined ? [] : [[key, policy[key]] as const]))
  return { [POLICY]: Object.fromEntries(sections) }
}

export type Proposal =
  | { readonly kind: 'none' }
  /** `input`: as it is written in a policy file. */
  | { readonly kind: 'policy'; readonly policy: ToolPolicy; readonly input: PolicyInput }
  | { readonly kind: 'unreadable'; readonly error: CordonError }

/** A longer one is not read. It comes from a server, and comparing policies takes time. */
const MOST_CHARACTERS = 4_096

/** What a listed tool proposes. Other annotations, such as `readOnlyHint`, propose nothing. */
export const proposalOf = (tool: { readonly name: string; readonly annotations?: unknown }): Proposal => {
  const { name, annotations } = tool
  if (!isMapping(annotations)) return { kind: 'none' }
  const keys = Object.keys(annotations).filter((key) => key.startsWith(OWN) || key.startsWith(SANDLOCK))
  if (keys.length === 0) return { kind: 'none' }
  const source = `the tool ${JSON.stringify(name)}`
  try {
    const input = inputOf(annotations, keys, source)
    return { kind: 'policy', input, policy: parsePolicy(input, source) }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return { kind: 'unreadable', error }
  }
}

const inputOf = (
  annotations: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  source: string,
): PolicyInput => {
  const told = keys.map((key) => [key, annotations[key]] as const)
  const refuse = (problem: string) => fail('proposal-invalid', { source, problem })
  if (JSON.stringify(told).length > MOST_CHARACTERS) throw refuse(`it has more than ${MOST_CHARACTERS} characters`)
  const ofSandlock = told.filter(([key]) => key.startsWith(SANDLOCK))
  if (ofSandlock.length > 0 && ofSandlock.length < told.length)
    throw refuse(`${OWN}* and ${SANDLOCK}* stand side by side, and could mean different things`)
  if (ofSandlock.length > 0)
    return policyFromCapabilities(
      Object.fromEntries(ofSandlock.map(([key, value]) => [key.slice(SANDLOCK.length), value])),
      source,
    )
  const unknown = keys.find((key) => key !== POLICY)
  if (unknown !== undefined) throw refuse(`${JSON.stringify(unknown)} is not known; there is ${POLICY}`)
  return annotations[POLICY] as PolicyInput
}
