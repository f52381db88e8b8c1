// Puts the agents of a manifest together: those that the entries made, and what the configuration adds to them.
import { readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'

import { processTool } from 'cordon'
import { messageOf } from 'cordon/errors'
import { loadRules } from 'cordon/gate'
import type { RuleSet } from 'cordon/gate'
import { emptyAgent } from 'cordon/manifest'
import type { ManifestAgent, ManifestServer, ManifestTool } from 'cordon/manifest'
import { loadPolicyFile, nearestKey } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'
import { describeAgent, PROJECT_FOLDER, readRuleFile, ruleFilesIn, trustOf } from 'cordon/runtime'
import type { ProjectOptions } from 'cordon/runtime'

import { loadProduct, usage } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import type { ProjectRequest } from './project-request.js'
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

/** The policy files of a project, as tools of `cordon run`: each says what a command may do. */
const describePolicies = (files: readonly string[], request: ProjectRequest): ManifestAgent | undefined => {
  if (files.length === 0) return undefined
  const { folder, home, key } = request
  const named = files.map((file) => ({
    file,
    name: basename(file).replace(/\.\w+$/, ''),
    policy: policyIn(folder, file),
  }))
  const tools = named.map(({ name, policy }) => ({ ...processTool({ name, command: () => [] }), policy }))
  const agent = describeAgent(
    { tools, workspace: folder, home, rules: rulesIn(request), ruleFiles: 'none' },
    { project: folder, home, key: key.key, tools: [] },
  )
  return {
    ...agent,
    name: 'cordon run',
    tools: agent.tools.map((tool) => ({
      ...tool,
      source: named.find(({ name }) => name === tool.name)?.file ?? '',
      // The command is given when it runs.
      code: null,
    })),
  }
}

const policyIn = (folder: AbsolutePath, file: string) => {
  const path = fileIn(folder, file)
  try {
    return loadPolicyFile(readFileSync(path, 'utf8'), file).policy
  } catch (error) {
    throw fail('project-undescribed', { project: file, problem: messageOf(error), fix: '' }, error)
  }
}

/** The rules of the project alone. Those of the user and of the machine are not part of it. */
const rulesIn = ({ folder, home }: ProjectRequest): readonly RuleSet[] => {
  const trust = trustOf('project', process.geteuid?.() ?? 0, statSync(folder).uid)
  return ruleFilesIn(join(folder, PROJECT_FOLDER), trust).map((file) =>
    loadRules(readRuleFile(file, trust), file, { source: 'project', places: { workspace: folder, home } }),
  )
}
