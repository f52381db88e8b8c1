import { join } from 'node:path'

type Variables = Readonly<Record<string, string | undefined>>

// The XDG specification says that a relative path is to be ignored.
const folderOf = (named: string | undefined, home: string, ...otherwise: readonly string[]): string =>
  join(named?.startsWith('/') === true ? named : join(home, ...otherwise), 'cordon')

/** Where Cordon keeps what it has to remember: the log, approvals of sessions. */
export const stateFolderOf = ({ XDG_STATE_HOME: state }: Variables, home: string): string =>
  folderOf(state, home, '.local', 'state')

/** Where people keep their settings: rules, policies. */
export const configFolderOf = ({ XDG_CONFIG_HOME: config }: Variables, home: string): string =>
  folderOf(config, home, '.config')

/** Where the audit log is unless an option says otherwise. */
export const auditPathOf = (environment: Variables, home: string): string => {
  const { CORDON_AUDIT: named } = environment
  return named !== undefined && named !== '' ? named : join(stateFolderOf(environment, home), 'audit.jsonl')
}
