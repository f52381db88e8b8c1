// Agents for tests of manifests, with the usual values in all other fields.
import type { Manifest, ManifestAgent, ManifestServer, ManifestTool } from 'cordon/manifest'
import { manifestOf } from 'cordon/manifest'
import type { PolicyInput } from 'cordon/policy'

export const toolOf = (name: string, policy: PolicyInput, more: Partial<ManifestTool> = {}): ManifestTool => ({
  name,
  kind: 'function',
  policy,
  risk: 'low',
  egress_class: 'none',
  input: null,
  code: null,
  constraints: { only_after: [], forbidden: false },
  approval: 'allow',
  argument_gate: 'enforced',
  ...more,
})

export const serverOf = (name: string, policy: PolicyInput, more: Partial<ManifestServer> = {}): ManifestServer => ({
  name,
  command: [name],
  pin: null,
  policy,
  tools: [toolOf('query', {}, { kind: 'mcp' })],
  ...more,
})

export const agentOf = (
  name: string,
  tools: readonly ManifestTool[],
  more: Partial<ManifestAgent> = {},
): ManifestAgent => ({
  name,
  mode: 'default',
  budget: {},
  rules: [],
  credentials: {},
  tools,
  mcp_servers: [],
  dynamic: [],
  ...more,
})

export const manifestWith = (agents: readonly ManifestAgent[], tags: Partial<Manifest['tags']> = {}): Manifest =>
  manifestOf({ agents, tags: { public: [], trusted: [], own: [], ...tags } })

/** A sentence with its names and values as they are. */
export const plain = (sentence: readonly (string | { readonly name: string } | { readonly value: string })[]): string =>
  sentence.map((part) => (typeof part === 'string' ? part : 'name' in part ? `\`${part.name}\`` : part.value)).join('')
