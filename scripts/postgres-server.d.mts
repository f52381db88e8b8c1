export interface Server {
  readonly url: (login?: string, database?: string) => string
  readonly stop: (how?: 'fast' | 'immediate') => void
  readonly start: () => void
  readonly remove: () => void
  /** With its socket, data and log. */
  readonly folder: string
  /** Runs a program of the same version as the user of the server, and returns its output. */
  readonly run: (program: string, words: readonly string[]) => string
}

export interface ServerSettings {
  /** Addresses to listen on, besides the socket. */
  readonly addresses?: string
  /** Further settings of postgresql.conf: `name=value`. */
  readonly settings?: readonly string[]
  /** Default: `ignored`. */
  readonly disk?: 'ignored' | 'waited for'
  /** The parent of its folder. */
  readonly under?: string
}

/** The folder with the programs of the newest server, or undefined. */
export declare const findServerPrograms: () => string | undefined
export declare const startServer: (settings?: ServerSettings) => Server
