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

export type Session = Pick<Engine, 'query' | 'execute'>
export type Queryable = Pick<Engine, 'query'>
