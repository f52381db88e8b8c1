import { join } from 'node:path'

import type { Environment } from '../command-line.js'

// The XDG specification ignores relative paths.
const folderOf = (named: string | undefined, home: string, ...otherwise: readonly string[]): string =>
  join(named?.startsWith('/') === true ? named : join(home, ...otherwise), 'cordon')

/** For the audit log and approvals of sessions. */
export const stateFolderOf = ({ XDG_STATE_HOME: state }: Environment, home: string): string =>
  folderOf(state, home, '.local', 'state')

/** For the consent to MCP servers. */
export const consentFolderOf = (environment: Environment, home: string): string =>
  join(stateFolderOf(environment, home), 'mcp')

/** For rules and policies of the user. */
export const configFolderOf = ({ XDG_CONFIG_HOME: config }: Environment, home: string): string =>
  folderOf(config, home, '.config')

/** The audit log, unless an option names another. */
export const auditPathOf = (environment: Environment, home: string): string => {
  const { CORDON_AUDIT: named } = environment
  return named !== undefined && named !== '' ? named : join(stateFolderOf(environment, home), 'audit.jsonl')
}
