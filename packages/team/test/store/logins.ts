// Connections to a server by the logins of people and programs, closed together.
import { openPostgres } from '../../src/store/index.js'
import type { Engine } from '../../src/store/index.js'

import type { Server } from './server.js'

export interface Logins {
  readonly open: (login?: string, database?: string) => Engine
  readonly close: () => Promise<void>
}

export const createLogins = (server: () => Server): Logins => {
  const opened: Engine[] = []
  return {
    open: (login, database) => {
      const one = openPostgres({ url: server().url(login, database), connections: 20 })
      opened.push(one)
      return one
    },
    close: async () => {
      await Promise.all(opened.map((one) => one.close()))
    },
  }
}
