export interface Server {
  readonly url: (login?: string, database?: string) => string
  readonly stop: (how?: 'fast' | 'immediate') => void
  readonly start: () => void
  readonly remove: () => void
  /** Where its socket, its data and its log are. */
  readonly folder: string
  /** A program of the same version, as who the server runs as; what it said. */
  readonly run: (program: string, words: readonly string[]) => string
}

export interface ServerSettings {
  /** Addresses to listen at, besides the socket. */
  readonly addresses?: string
  /** Further ones, as postgresql.conf has them: `name=value`. */
  readonly settings?: readonly string[]
  /** Left out, `ignored`. */
  readonly disk?: 'ignored' | 'waited for'
  /** In which folder its own is made. */
  readonly under?: string
}

/** The folder with the programs of the newest server; undefined where none is installed. */
export declare const findServerPrograms: () => string | undefined
export declare const startServer: (settings?: ServerSettings) => Server
