/** A database that speaks PostgreSQL's SQL, wherever it runs. */
export interface Engine {
  /** For people: a URL without its password, or a folder. */
  readonly where: string
  readonly query: <Row extends object>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>
  /** Several statements, without values. */
  readonly execute: (sql: string) => Promise<void>
  /**
   * On one connection, all of it or nothing of it. The signal: nobody waits for it any more; a server then ends its
   * statement.
   */
  readonly transaction: <Result>(work: (inside: Session) => Promise<Result>, signal?: AbortSignal) => Promise<Result>
  /**
   * Calls `heard` for each notification until the returned function is called: on a server, one connection for all
   * channels.
   */
  readonly listen: (
    channels: readonly string[],
    heard: (payload: string, channel: string) => void,
  ) => Promise<() => Promise<void>>
  readonly close: () => Promise<void>
}

export type Session = Pick<Engine, 'query' | 'execute'>
