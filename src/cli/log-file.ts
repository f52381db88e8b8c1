import { join } from 'node:path'

/** Where the audit log is unless an option says otherwise. */
export const auditPathOf = (environment: Readonly<Record<string, string | undefined>>, home: string): string => {
  const { CORDON_AUDIT: named, XDG_STATE_HOME: state } = environment
  if (named !== undefined && named !== '') return named
  // The XDG specification says that a relative path is to be ignored.
  return join(state?.startsWith('/') === true ? state : join(home, '.local', 'state'), 'cordon', 'audit.jsonl')
}
