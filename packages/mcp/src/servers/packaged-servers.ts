// Servers that `npx`, `uvx` and the like would start. Their packages are installed once, and their programs then run
// from that folder, which their cells may read.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { CordonError } from 'cordon/errors'
import { parsePolicy } from 'cordon/policy'
import type { PlacedPolicy } from 'cordon/policy'
import type { AuditLog } from 'cordon/runtime'
import { configFolderOf, homeOf, reportFailure, STDERR, writeText } from 'cordon/commands'
import type { Arguments, Environment } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { startPackage } from '../packages/install-package.js'
import { lockPlaceOf } from '../packages/lock-file.js'
import { lockKeyOf, packageCallOf } from '../packages/package-words.js'
import type { PackageCall } from '../packages/package-words.js'
import type { ChosenServer } from './server-choice.js'

export interface LocatedServer {
  readonly server: ChosenServer
  /** For its cell: the folder of its package. */
  readonly policies: readonly PlacedPolicy[]
}

/** If one of several packages cannot be installed, the other servers go on. */
export const locateServers = async (
  chosen: readonly ChosenServer[],
  given: Arguments,
  environment: Environment,
  audit: AuditLog,
): Promise<readonly LocatedServer[]> => {
  const located = await Promise.all(
    chosen.map(async (server) => {
      try {
        return [await locate(server, given, environment, audit)]
      } catch (error) {
        if (chosen.length === 1 || !(error instanceof CordonError)) throw error
        reportFailure(error, environment)
        return []
      }
    }),
  )
  return located.flat()
}

const locate = async (
  server: ChosenServer,
  { values }: Arguments,
  environment: Environment,
  audit: AuditLog,
): Promise<LocatedServer> => {
  const call = packageCallOf(server.argv)
  if (call === undefined) return { server, policies: [] }
  const workspace = resolve(values.get('workspace')?.[0] ?? '.')
  refuseLocal(call, server.cwd ?? workspace)
  const place = lockPlaceOf(workspace, configFolderOf(environment, homeOf(environment)))
  const settings = { audit, environment, form: values.get('form')?.[0], ruleFiles: values.get('rules') ?? [] }
  const { argv, policy } = await startPackage(call, place, settings, () => {
    writeText(STDERR, `cordon: installing ${lockKeyOf(call)} for the MCP server ${server.name}, once\n`)
  })
  const placed = { source: place.path, policy: parsePolicy(policy, place.path), whereIs: () => place.path }
  return { server: { ...server, argv }, policies: [placed] }
}

/** npx would run the program of the project, and somebody else may own that name in the registry. */
const refuseLocal = ({ name, mayBeLocal }: PackageCall, folder: string): void => {
  const program = join('node_modules', '.bin', name.replace(/^@[^/]+\//, ''))
  if (!mayBeLocal || !existsSync(join(folder, program))) return
  throw fail('mcp-package-unclear', {
    runner: 'npx',
    problem: `${name} may be the package of the registry, or ${program} of this project`,
    fix: `for the package of the registry: npx -y ${name}; for that of the project: ${program}`,
  })
}
