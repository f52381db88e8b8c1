import { homedir } from 'node:os'
import { join } from 'node:path'

import { fail } from '../errors/index.js'
import { parseAbsolutePath } from '../policy/index.js'
import type { AbsolutePath } from '../policy/index.js'

import type { Environment } from '../line/arguments.js'

// The XDG specification ignores relative paths.
const folderOf = (named: string | undefined, home: string, ...otherwise: readonly string[]): string =>
  join(named?.startsWith('/') === true ? named : join(home, ...otherwise), 'cordon')

/** For the audit log and approvals of sessions. */
export const stateFolderOf = ({ XDG_STATE_HOME: state }: Environment, home: string): string =>
  folderOf(state, home, '.local', 'state')

/** For the consent to MCP servers. */
export const consentFolderOf = (environment: Environment, home: string): string =>
  join(stateFolderOf(environment, home), 'mcp')

/** For addresses and headers of remote MCP servers. `cordon mcp install` moves them out of the files of clients. */
export const remotesFolderOf = (environment: Environment, home: string): string =>
  join(consentFolderOf(environment, home), 'remotes')

/** For rules and policies of the user. */
export const configFolderOf = ({ XDG_CONFIG_HOME: config }: Environment, home: string): string =>
  folderOf(config, home, '.config')

/** For copies of Cordon, from which hooks and gateways start. */
export const dataFolderOf = ({ XDG_DATA_HOME: data }: Environment, home: string): string =>
  folderOf(data, home, '.local', 'share')

/** For packages of MCP servers. */
export const serverPackagesFolderOf = ({ XDG_CACHE_HOME: cache }: Environment, home: string): string =>
  join(folderOf(cache, home, '.cache'), 'mcp')

/** The audit log, unless an option names another. */
export const auditPathOf = (environment: Environment, home: string): string => {
  const { CORDON_AUDIT: named } = environment
  return named !== undefined && named !== '' ? named : join(stateFolderOf(environment, home), 'audit.jsonl')
}

export const homeOf = ({ HOME: home }: Environment): AbsolutePath =>
  parseAbsolutePath(home?.startsWith('/') === true ? home : homeOfAccount(), 'HOME')

/** The user of a container may be missing in /etc/passwd. */
const homeOfAccount = (): string => {
  try {
    return homedir()
  } catch (cause) {
    throw fail(
      'usage-error',
      { problem: 'HOME is not set, and this user has no entry in /etc/passwd', fix: 'set HOME to a folder' },
      cause,
    )
  }
}
