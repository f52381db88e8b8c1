// What each tool of a manifest may do, as short texts for all outputs.
import { renderDestination } from 'cordon/policy'
import type { HostGrant, Section, ToolPolicy } from 'cordon/policy'

import type { Manifest, ManifestAgent, ManifestServer, ManifestTool } from 'cordon/manifest'

import { policyOf } from '../flow/part.js'

export interface ToolRow {
  readonly agent: string
  /** The MCP server of the tool. Undefined: it is a tool of the agent itself. */
  readonly server: string | undefined
  readonly tool: string
  readonly kind: ManifestTool['kind']
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly reaches: readonly string[]
  /** Variables and credentials. */
  readonly gets: readonly string[]
  readonly starts: readonly string[]
  readonly approval: string
}

export const toolRows = ({ agents }: Pick<Manifest, 'agents'>): readonly ToolRow[] =>
  agents.flatMap((agent) => [
    ...agent.tools.map((tool) => rowOf(agent, undefined, tool, tool.policy)),
    ...agent.mcp_servers.flatMap((server) =>
      server.tools.length === 0
        ? [withoutTools(agent, server)]
        : server.tools.map((tool) => rowOf(agent, server.name, tool, policyIn(server, tool))),
    ),
  ])

/** The way to a remote server is the same for all its tools. */
const policyIn = ({ url, policy }: ManifestServer, tool: ManifestTool) => (url === undefined ? tool.policy : policy)

/** No tool has a policy, so each call is refused. The server itself runs in its cell. */
const withoutTools = (agent: ManifestAgent, { name, policy }: ManifestServer): ToolRow => ({
  agent: agent.name,
  server: name,
  tool: '*',
  kind: 'mcp',
  approval: 'deny',
  ...grantsOf(policyOf(policy, name), 'mcp'),
})

const rowOf = (
  agent: ManifestAgent,
  server: string | undefined,
  tool: ManifestTool,
  policy: ManifestTool['policy'],
): ToolRow => {
  const common = { agent: agent.name, server, tool: tool.name, kind: tool.kind, approval: approvalText(tool) }
  if (tool.kind === 'in-process') return { ...common, ...UNCONFINED }
  return { ...common, ...grantsOf(policyOf(policy, tool.name), tool.kind) }
}

/** Its policy confines nothing. */
const EVERYTHING: readonly string[] = ['everything']
const UNCONFINED = { reads: EVERYTHING, writes: EVERYTHING, reaches: EVERYTHING, gets: EVERYTHING, starts: EVERYTHING }

type Grants = Pick<ToolRow, 'reads' | 'writes' | 'reaches' | 'gets' | 'starts'>

const grantsOf = (policy: ToolPolicy, kind: ManifestTool['kind']): Grants => {
  const { filesystem, network, environment, credentials, exec, presets } = policy
  return {
    reads: [...textsOf(filesystem.read, ({ text }) => text), ...presets.filter((name) => name === 'toolchains')],
    writes: [...(presets.includes('workspace') ? ['.'] : []), ...textsOf(filesystem.write, ({ text }) => text)],
    reaches: textsOf(network, hostText),
    gets: [
      ...textsOf(environment, ({ name, value }) => (value.kind === 'pass' ? name : `${name} (set)`)),
      ...new Set(credentials.map(({ id }) => `credential ${id}`)),
    ],
    starts:
      exec.kind === 'unspecified'
        ? kind === 'function'
          ? []
          : ['all']
        : textsOf(exec, (program) => (program.kind === 'name' ? program.name : program.glob.text)),
  }
}

const textsOf = <Item>(section: Section<Item> | { readonly kind: 'all' }, textOf: (item: Item) => string) => {
  if (section.kind === 'list') return section.items.map(textOf)
  return section.kind === 'all' ? ['all'] : []
}

const hostText = (grant: HostGrant): string => {
  const { action, methods, paths } = grant
  return [
    ...(action === 'allow' ? [] : [action]),
    renderDestination(grant),
    ...(methods.kind === 'list' ? [methods.items.join(',')] : []),
    ...(paths.kind === 'list' ? [paths.items.map(({ text }) => text).join(',')] : []),
  ].join(' ')
}

const approvalText = ({ approval, constraints }: ManifestTool): string => (constraints.forbidden ? 'deny' : approval)
