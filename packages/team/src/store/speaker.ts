import type { Engine, Queryable } from './engine.js'

export const ROLES = ['cordon_admin', 'cordon_operator', 'cordon_agent', 'cordon_runner', 'service_role'] as const
export type Role = (typeof ROLES)[number]

/** The role and the member that statements act as. */
export type Speaker =
  /** The login of the database. */
  | { readonly kind: 'login' }
  /** Another member. Only a gateway can act as one: a process through which others reach the database. */
  | {
      readonly kind: 'gateway'
      readonly role: Role
      readonly actor: string
      /** Only this team, whatever others they are in. */ readonly team?: string
      /** The id of their token. */ readonly token?: string
    }

interface Manner {
  /** Aborted when nobody waits for it any more. */
  readonly signal?: AbortSignal
  /** A longer statement timeout than that of the engine. */
  readonly longestMs?: number
}

/** Each statement is a transaction of its own. */
export const speakingAs = (engine: Engine, speaker: Speaker, { signal, longestMs }: Manner = {}): Queryable => {
  if (speaker.kind === 'login') return engine
  const { role, actor, team = '', token = '' } = speaker
  return {
    query: (sql, values) =>
      engine.transaction(async (inside) => {
        // A token is checked each time, because it may have been revoked meanwhile.
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
