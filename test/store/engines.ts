// Both engines, migrated. Tests make the same claims for each.
import { openPglite, openPostgres, migrate } from '../../src/store/index.js'
import type { Engine } from '../../src/store/index.js'

import { startServer } from './server.js'

export const ENGINES = ['PGlite', 'PostgreSQL'] as const
export type EngineName = (typeof ENGINES)[number]

export const openEngine = async (
  name: EngineName,
): Promise<{ readonly engine: Engine; readonly close: () => Promise<void> }> => {
  if (name === 'PGlite') {
    const engine = openPglite({ folder: undefined })
    await migrate(engine)
    return { engine, close: engine.close }
  }
  const server = startServer()
  const engine = openPostgres({ url: server.url(), connections: 40 })
  await migrate(engine)
  return {
    engine,
    close: async () => {
      await engine.close()
      server.remove()
    },
  }
}
