// What an agent can call, as far as data is concerned: its tools, and its MCP servers as a whole, with what their
// processes may do together.
import { parseTextPattern } from 'cordon/gate'
import { parsePolicy, parseRequestHost } from 'cordon/policy'
import type { RequestHost, ToolKind, ToolPolicy } from 'cordon/policy'

import { cellKindOf } from 'cordon/manifest'
import type { Manifest, ManifestAgent, ManifestServer, ManifestTool } from 'cordon/manifest'

import { fail } from '../errors/errors.js'

export interface Part {
  readonly agent: string
  readonly name: string
  readonly is: 'tool' | 'server'
  readonly kind: ToolKind
  readonly policy: ToolPolicy
  /** Where a remote server is. `text`: as a policy writes it. */
  readonly remote: { readonly host: RequestHost; readonly port: number; readonly text: string } | undefined
  /** Whether a person approves each call. */
  readonly calls: 'run' | 'ask'
}

/** Without what can never be called. */
export const partsOf = (agent: ManifestAgent): readonly Part[] => [
  ...agent.tools.filter(isCallable).map((tool): Part => ({
    agent: agent.name,
    name: tool.name,
    is: 'tool',
    kind: cellKindOf(tool.kind),
    remote: undefined,
    policy: policyOf(tool.policy, `${agent.name}: ${tool.name}`),
    calls: asksAlways(tool, agent) ? 'ask' : 'run',
  })),
  ...agent.mcp_servers
    // The tools of a server that lists none are not known.
    .filter(({ tools }) => tools.length === 0 || tools.some(isCallable))
    .map((server): Part => ({
      agent: agent.name,
      name: server.name,
      is: 'server',
      kind: 'mcp',
      remote: remoteOf(server),
      policy: policyOf(server.policy, `${agent.name}: ${server.name}`),
      calls: asksForAll(server, agent) ? 'ask' : 'run',
    })),
]

export const allParts = ({ agents }: Pick<Manifest, 'agents'>): readonly Part[] => agents.flatMap(partsOf)

const isCallable = ({ approval, constraints }: ManifestTool): boolean =>
  approval !== 'deny' && !constraints.forbidden && constraints.max_invocations !== 0

export const policyOf = (policy: ManifestTool['policy'], where: string): ToolPolicy => {
  try {
    return parsePolicy(policy, where)
  } catch (error) {
    throw fail('manifest-invalid', { problem: (error as Error).message })
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 }

const remoteOf = ({ url: text, name }: ManifestServer): Part['remote'] => {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const host = url === undefined ? undefined : parseRequestHost(url.hostname)
  if (url === undefined || host === undefined)
    throw fail('manifest-invalid', { problem: `the MCP server ${name} has no valid URL` })
  return { host, port: url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 443) : Number(url.port), text: url.host }
}

const asksForAll = ({ tools }: ManifestServer, agent: ManifestAgent): boolean => {
  const callable = tools.filter(isCallable)
  return callable.length > 0 && callable.every((tool) => asksAlways(tool, agent))
}

/** Whether no rule lets some calls run that the gate would otherwise ask about. */
const asksAlways = (tool: ManifestTool, { rules, mode }: ManifestAgent): boolean => {
  if (tool.approval !== 'ask') return false
  // No rule takes back the approval of what writes to the network. The mode `auto` asks a classifier and no person.
  if (tool.egress_class === 'write' && mode !== 'auto') return true
  const about = rules.filter(({ conditions }) => mayConcern(conditions, tool.name))
  return (
    about.some(
      ({ effect, conditions }) => effect === 'ask' && Object.keys(conditions).every((key) => key === 'tool'),
    ) || !about.some(({ effect }) => effect === 'allow')
  )
}

const mayConcern = ({ tool }: Readonly<Record<string, unknown>>, name: string): boolean => {
  const patterns = tool === undefined ? ['*'] : Array.isArray(tool) ? (tool as unknown[]) : [tool]
  return patterns.some((each) => typeof each !== 'string' || parseTextPattern(each).matches(name))
}
