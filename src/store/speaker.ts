import type { Engine, Session } from './engine.js'

export const ROLES = ['cordon_admin', 'cordon_operator', 'cordon_agent', 'cordon_runner', 'service_role'] as const
export type Role = (typeof ROLES)[number]

/** In whose name statements are made. */
export type Speaker =
  /** As who logged in to the database. */
  | { readonly kind: 'login' }
  /** In the name of somebody else, which only a gateway can: the process that others reach the database through. */
  | {
      readonly kind: 'gateway'
      readonly role: Role
      readonly actor: string
      /** Has to do with this team alone, whatever others they are in. */ readonly team?: string
      /** The id of the token by which they were known. */ readonly token?: string
    }

export interface Manner {
  /** Nobody waits for it any more. */
  readonly signal?: AbortSignal
  /** How long one statement may take, where the engine gives others less. */
  readonly longestMs?: number
}

/** Statements by this speaker. Each is a transaction of its own. */
export const speakingAs = (
  engine: Engine,
  speaker: Speaker,
  { signal, longestMs }: Manner = {},
): Pick<Session, 'query'> => {
  if (speaker.kind === 'login') return engine
  const { role, actor, team = '', token = '' } = speaker
  return {
    query: (sql, values) =>
      engine.transaction(async (inside) => {
        // A token counts with every look: it may have been revoked since who shows it was let in.
        await inside.query(
          `select set_config('cordon.actor', $1, true), set_config('cordon.team', $2, true), ` +
            `set_config('cordon.token', $3, true), set_config('role', $4, ` +
            `true)${token === '' ? '' : ', agents.fn_require_token($2)'}`,
          [actor, team, token, role],
        )
        if (longestMs !== undefined)
          await inside.query(`select set_config('statement_timeout', $1, true)`, [String(longestMs)])
        return inside.query(sql, values)
      }, signal),
  }
}
