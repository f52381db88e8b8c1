import type { Environment } from 'cordon/commands'

import type { UnusedGrant } from './unused-grants.js'
import type { Exfiltration } from '../flow/exfiltration.js'
import type { ToolRow } from './overview.js'

/** What `cordon manifest inspect` shows, in every form. */
export interface Inspection {
  readonly hash: string
  readonly rows: readonly ToolRow[]
  /** Tools that exist only at run time, by agent. Nothing is known of them. */
  readonly dynamic: readonly { readonly agent: string; readonly tools: readonly string[] }[]
  readonly exfiltrations: readonly Exfiltration[]
  readonly unused: readonly UnusedGrant[]
  readonly environment: Environment
}

/** The rights of a tool, in the order of all outputs. */
export const RIGHTS = ['reads', 'writes', 'reaches', 'gets', 'starts'] as const satisfies readonly (keyof ToolRow)[]

export const toolName = ({ server, tool }: Pick<ToolRow, 'server' | 'tool'>): string =>
  server === undefined ? tool : `${server}: ${tool}`
