// Small manifests for tests of `verify`.
import { manifestOf, policyValue } from 'cordon/manifest'
import { verify } from '@cordon/manifest'
import type { Finding, Manifest, ManifestAgent, ManifestServer, ManifestTool } from 'cordon/manifest'
import { parsePolicy } from 'cordon/policy'
import type { PolicyInput } from 'cordon/policy'

export const hashNumber = (number: number): string => `sha256:${String(number).padStart(64, '0')}`

/** Of the hashes of values. */
export const KEY = '0123456789abcdef'.repeat(4)

/** A policy as a manifest has it. */
export const written = (policy: PolicyInput): Readonly<Record<string, unknown>> =>
  policyValue(parsePolicy(policy, 'test'), KEY)

export const aTool = (policy: PolicyInput = {}, more: Partial<ManifestTool> = {}): ManifestTool => ({
  name: 'report',
  kind: 'function',
  source: 'agents/main.ts:12',
  policy: written(policy),
  risk: 'medium',
  egress_class: 'none',
  input: hashNumber(1),
  code: hashNumber(2),
  constraints: { only_after: [], forbidden: false },
  approval: 'ask',
  argument_gate: 'enforced',
  ...more,
})

export const anAgent = (more: Partial<ManifestAgent> = {}): ManifestAgent => ({
  name: 'main',
  source: 'agents/main.ts:3',
  mode: 'default',
  budget: {},
  rules: [],
  credentials: {},
  tools: [],
  mcp_servers: [],
  dynamic: [],
  ...more,
})

export const aServer = (more: Partial<ManifestServer> = {}): ManifestServer => ({
  name: 'files',
  command: ['npx', 'files@1.0.0'],
  pin: 'sha512-one',
  policy: written({}),
  tools: [],
  ...more,
})

export const manifestWith = (...agents: readonly ManifestAgent[]): Manifest =>
  manifestOf({ agents, tags: { public: [], trusted: [], own: [] } })

export const findingsOf = (before: Manifest, after: Manifest): readonly Finding[] =>
  verify({ manifest: before, problem: undefined }, after).open

export const idsOf = (before: Manifest, after: Manifest): readonly string[] =>
  findingsOf(before, after).map(({ id }) => id)

/** The words of a finding, without the quotes of any output. */
export const wordsOf = ({ sentence }: Finding): string =>
  sentence.map((part) => (typeof part === 'string' ? part : 'name' in part ? part.name : part.value)).join('')

/** What two versions of one tool give. */
export const betweenTools = (before: ManifestTool, after: ManifestTool): readonly Finding[] =>
  findingsOf(manifestWith(anAgent({ tools: [before] })), manifestWith(anAgent({ tools: [after] })))
