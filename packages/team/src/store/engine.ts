/** A database that speaks PostgreSQL's SQL: embedded, or a server. */
export interface Engine {
  /** For people: a URL without its password, or a folder. */
  readonly where: string
  readonly query: <Row extends object>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>
  /** Several statements, without values. */
  readonly execute: (sql: string) => Promise<void>
  /** On one connection, all or nothing. After the signal nobody waits for it, and a server ends its statement. */
  readonly transaction: <Result>(work: (inside: Session) => Promise<Result>, signal?: AbortSignal) => Promise<Result>
  /** Calls `heard` for each notification until the returned function is called. It uses one connection. */
  readonly listen: (
    channels: readonly string[],
    heard: (payload: string, channel: string) => void,
  ) => Promise<() => Promise<void>>
  readonly close: () => Promise<void>
}

/** An open engine would keep this process alive, and its folder locked. So it is closed if the work fails. */
export const orClose = async <Result>(engine: Engine, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    await engine.close()
    throw error
  }
}

export type Session = Pick<Engine, 'query' | 'execute'>
export type Queryable = Pick<Engine, 'query'>

export type Role = 'cordon_admin' | 'cordon_operator' | 'cordon_agent' | 'cordon_runner' | 'service_role'

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
