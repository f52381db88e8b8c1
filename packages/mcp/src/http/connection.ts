import type { SendToClient } from '../wire/messages.js'

/** One client of a gateway. */
export interface Connection {
  /** Takes one line of the client. */
  readonly take: (line: string) => void
  readonly close: () => Promise<void>
}

export type OpenConnection = (send: SendToClient) => Promise<Connection>
