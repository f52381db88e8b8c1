// The rights of each tool of a server: its policy, and the cell in which its calls run.
import { bug } from 'cordon/errors'
import { escapeGlob, isWithinPath, policyHash } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'
import { reportFailure } from 'cordon/commands'
import type { Environment } from 'cordon/commands'
import { namedPaths } from 'cordon/runtime'

import type { GatewayParts, ServerSource, ToolCell } from '../gateway/index.js'
import { createProposalJudge } from './accept-proposal.js'
import type { PreparedCell, PreparedServer } from './server-cell.js'
import { asDeclared, withTimeout } from './tool-policies.js'
import type { ToolEntry } from './tool-policies.js'

interface SaidOfTool {
  /** As its server calls it. */
  readonly ownName: string
  /** By the user. */
  readonly said: ToolEntry | undefined
  /** Each call has an instance of its own. */
  readonly isFresh: boolean
  /** Whether a tool of its server has another policy than the server itself. */
  readonly hasOtherPolicies: boolean
}

interface ToolPlaces {
  readonly environment: Environment
  /** `name`: as clients call the tool. */
  readonly find: (name: string, server: string) => SaidOfTool
  readonly processIn: (prepared: PreparedServer, cell: PreparedCell) => Pick<ServerSource, 'boundary' | 'run'>
}

/** A proposal that nobody accepted is reported once. */
export const policiesOf = (
  servers: readonly PreparedServer[],
  { environment, find, processIn }: ToolPlaces,
): GatewayParts['policyOf'] => {
  const owners = new Map(
    servers.map((prepared) => {
      const { server, base, timeout } = prepared
      const places = base.prepared.order
      const judge = createProposalJudge({ name: server.name, policy: base.policy, timeout, places })
      return [server.name, { prepared, judge }]
    }),
  )
  const told = new Set<string>()
  return (name, link, proposal) => {
    const { prepared, judge } = owners.get(link.name) ?? bug(`a link to the unknown server ${link.name}`)
    const { ownName, said, isFresh, hasOtherPolicies } = find(name, link.name)
    const { base, cellFor, timeout } = prepared
    const granted = judge({ name: ownName, proposal }, said?.policy)
    const atBase: ToolCell = { kind: 'base', scope: hasOtherPolicies ? 'policy' : 'server' }
    if (granted.policy === undefined) {
      const { trouble } = granted
      if (trouble !== undefined && !told.has(trouble.message)) {
        told.add(trouble.message)
        reportFailure(trouble, environment)
      }
      const policyFix = trouble?.fix ?? givingPolicy(prepared, ownName)
      return { policy: undefined, reviewed: undefined, policyFix, cell: atBase }
    }
    const given = granted.policy
    // A remote server runs elsewhere. Here is only the way to it, which is the same for all of its tools.
    if (prepared.server.transport.kind === 'remote')
      return { policy: withTimeout(given, timeout), reviewed: undefined, policyFix: undefined, cell: atBase }
    const cell =
      given === base.policy ? base : cellFor({ source: said?.source ?? name, policy: given, whereIs: () => name })
    const key = policyHash(cell.policy)
    return {
      policy: withTimeout(asDeclared(cell.policy, given), timeout),
      reviewed: withTimeout(asDeclared(cell.reviewed, given), timeout),
      policyFix: undefined,
      cell:
        key === policyHash(base.policy) && !isFresh
          ? atBase
          : { kind: 'own', key, isFresh, source: { ...link.source, ...processIn(prepared, cell) } },
    }
  }
}

/** What the words of the server name is what its tools are likely to need. */
const givingPolicy = ({ server: { name }, chosen, base }: PreparedServer, tool: string): string => {
  const policy = chosen.transport.kind === 'remote' ? '{}' : policyForWords(chosen.argv, base.prepared.order.cwd)
  return `give it a policy in mcp.yaml, such as: servers: { ${JSON.stringify(name)}: { tools: { ${JSON.stringify(tool)}: ${policy} } } }`
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
