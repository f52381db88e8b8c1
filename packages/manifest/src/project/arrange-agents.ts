// Puts the agents of a manifest together: those that the entries made, and what the configuration adds to them.
import { basename } from 'node:path'

import { emptyAgent } from 'cordon/manifest'
import type { ManifestAgent, ManifestServer, ManifestTool } from 'cordon/manifest'
import { nearestKey } from 'cordon/policy'
import type { ProjectOptions } from 'cordon/runtime'

import { loadProduct, usage } from 'cordon/commands'

import type { ProjectRequest } from './project-request.js'
import { describePolicies } from './describe-policies.js'
import { fileIn } from './file-in-project.js'

const filesOfServers = ({ mcp = [], agents = {} }: ProjectOptions): ReadonlySet<string> =>
  new Set([...mcp, ...Object.values(agents).flatMap((agent) => agent?.mcp ?? [])])

const describeServers = async (
  name: string,
  { folder, home, key: { key } }: ProjectRequest,
): Promise<readonly ManifestServer[]> => {
  const { describeServers: describe } = await loadProduct('mcp', `the servers of ${name}`)
  return (await describe?.({ path: fileIn(folder, name), name }, { folder, home, key })) ?? []
}

export const arrangeAgents = async (
  described: readonly ManifestAgent[],
  config: ProjectOptions,
  request: ProjectRequest,
): Promise<readonly ManifestAgent[]> => {
  const servers = new Map<string, readonly ManifestServer[]>()
  for (const name of filesOfServers(config)) servers.set(name, await describeServers(name, request))
  const serversIn = (files: readonly string[] = []) => files.flatMap((file) => servers.get(file) ?? [])
  const named = Object.entries(config.agents ?? {})
  const grouped = withNamedAgents(described, config)
  const ofAll = serversIn(config.mcp)
  const agents = [
    ...(grouped.length === 0 && ofAll.length > 0 ? [emptyAgent(basename(config.mcp?.[0] ?? ''))] : grouped),
  ].map((agent) => {
    const own = named.find(([name]) => name === agent.name)?.[1]?.mcp
    return { ...agent, mcp_servers: distinct([...ofAll, ...serversIn(own)]) }
  })
  const ofRun = describePolicies(config.policies ?? [], request)
  return distinct([...agents, ...(ofRun === undefined ? [] : [ofRun])])
}

/** An agent of the configuration takes exported tools from the agents that are named after entries. */
const withNamedAgents = (described: readonly ManifestAgent[], { agents = {} }: ProjectOptions) => {
  const loose = described.filter(({ source }) => source === undefined)
  const offered = loose.flatMap(({ tools }) => tools)
  const taken = new Set<ManifestTool>()
  const made = Object.entries(agents).flatMap(([name, given]) => {
    const chosen = (given?.tools ?? []).map((wanted) => {
      const found = offered.find((each) => each.name === wanted)
      if (found === undefined) throw unknownTool(name, wanted, offered)
      taken.add(found)
      return found
    })
    const isThere = described.some((agent) => agent.name === name)
    return isThere && chosen.length === 0 ? [] : [{ ...emptyAgent(name), tools: chosen.toSorted(byName) }]
  })
  const left = described
    .map((agent) => ({ ...agent, tools: agent.tools.filter((each) => !taken.has(each)) }))
    .filter(({ source, tools, dynamic }) => source !== undefined || tools.length > 0 || dynamic.length > 0)
  return [...left, ...made]
}

const unknownTool = (agent: string, tool: string, offered: readonly ManifestTool[]) => {
  const names = offered.map(({ name }) => name)
  const near = nearestKey(tool, names)
  return usage(
    `the configuration gives "${agent}" a tool "${tool}", and no entry exports it`,
    'cordon manifest',
    near === undefined ? `exported: ${names.join(', ') || 'none'}` : `did you mean "${near}"?`,
  )
}

interface Named {
  readonly name: string
}

const byName = ({ name: one }: Named, { name: other }: Named): number => (one < other ? -1 : one > other ? 1 : 0)

/** In the order of their names. A second one of a name gets a number. */
const distinct = <Item extends ManifestAgent | ManifestServer>(items: readonly Item[]): readonly Item[] => {
  const seen = new Map<string, number>()
  return items
    .map((item) => {
      const count = (seen.get(item.name) ?? 0) + 1
      seen.set(item.name, count)
      return count === 1 ? item : { ...item, name: `${item.name}#${count}` }
    })
    .toSorted(byName)
}
