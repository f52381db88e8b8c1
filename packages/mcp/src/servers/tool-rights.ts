// The rights of each tool of a server: its policy, and the cell that it shares with the other tools.
import { bug } from 'cordon/errors'
import type { SharedCell } from 'cordon/gate'
import { escapeGlob, isWithinPath, policyHash } from 'cordon/policy'
import type { AbsolutePath, PlacedPolicy, ToolPolicy } from 'cordon/policy'
import { reportFailure } from 'cordon/commands'
import type { Environment } from 'cordon/commands'
import { namedPaths } from 'cordon/runtime'

import type { GatewayParts } from '../gateway/index.js'
import { createProposalJudge } from './accept-proposal.js'
import type { PreparedServer } from './server-cell.js'
import { withTimeout } from './tool-policies.js'
import type { ToolEntry } from './tool-policies.js'

interface SaidOfTool {
  /** As its server calls it. */
  readonly ownName: string
  /** By the user. */
  readonly said: ToolEntry['policy'] | undefined
  /** The policies of all tools of its server. */
  readonly all: readonly PlacedPolicy[]
}

/** `find`: by the name that clients use. A proposal that nobody accepted is reported once. */
export const policiesOf = (
  servers: readonly PreparedServer[],
  environment: Environment,
  find: (name: string, server: string) => SaidOfTool,
): GatewayParts['policyOf'] => {
  const owners = new Map(
    servers.map((prepared) => {
      const { server, policy, timeout } = prepared
      const judge = createProposalJudge({ name: server.name, policy, timeout, places: prepared.prepared.order })
      return [server.name, { prepared, judge }]
    }),
  )
  const told = new Set<string>()
  return (name, link, proposal) => {
    const { prepared, judge } = owners.get(link.name) ?? bug(`a link to the unknown server ${link.name}`)
    const { ownName, said, all } = find(name, link.name)
    const granted = judge({ name: ownName, proposal }, said)
    if (granted.policy !== undefined) {
      const policy = withTimeout(granted.policy, prepared.timeout)
      const reviewed = granted.policy === prepared.policy ? prepared.reviewed : undefined
      return { policy, reviewed, policyFix: undefined, cell: sharedCellOf(granted.policy, prepared, all) }
    }
    const { trouble } = granted
    if (trouble !== undefined && !told.has(trouble.message)) {
      told.add(trouble.message)
      reportFailure(trouble, environment)
    }
    const policyFix = trouble?.fix ?? givingPolicy(prepared, ownName)
    return { policy: undefined, reviewed: undefined, policyFix, cell: undefined }
  }
}

/** What the words of the server name is what its tools are likely to need. */
const givingPolicy = ({ server: { name }, chosen, prepared }: PreparedServer, tool: string): string => {
  const policy = chosen.transport.kind === 'remote' ? '{}' : policyForWords(chosen.argv, prepared.order.cwd)
  return `give it a policy in mcp.yaml, such as: servers: { ${JSON.stringify(name)}: { tools: { ${JSON.stringify(tool)}: ${policy} } } }`
}

/** Undefined if the tool has all rights of the cell, or no policy of a tool widens it: a remote server has no files. */
const sharedCellOf = (
  policy: ToolPolicy,
  { server, policy: ofCell, prepared }: PreparedServer,
  all: readonly PlacedPolicy[],
): SharedCell | undefined => {
  if (policy === ofCell || server.transport.kind === 'remote') return undefined
  const own = policyHash({ ...policy, limits: {} })
  return {
    boundary: prepared.tool.boundary,
    hasOtherPolicies: all.some((other) => policyHash({ ...other.policy, limits: {} }) !== own),
  }
}

/** Existing paths that these words name, as globs without links. Those in the working folder are relative to it. */
const pathsNamedBy = (argv: readonly string[], cwd: string): readonly string[] => [
  ...new Set(namedPaths(argv.slice(1), cwd).map(({ real }) => globFor(real, cwd))),
]

const globFor = (path: AbsolutePath, cwd: string): string =>
  path === cwd
    ? '.'
    : escapeGlob(isWithinPath(path, cwd as AbsolutePath) ? path.slice(cwd.replace(/\/$/, '').length + 1) : path)

/**
 * The words of a server usually name the paths that it is for. Without one it is likely to be for the working folder.
 * JSON is YAML.
 */
export const policyForWords = (argv: readonly string[], cwd: string): string => {
  const paths = pathsNamedBy(argv, cwd)
  return `{ filesystem: { read: [${(paths.length === 0 ? ['.'] : paths).map((path) => JSON.stringify(path)).join(', ')}] } }`
}
