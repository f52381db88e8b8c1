// Both engines, migrated. Tests make the same claims for each.
import { describe } from 'vitest'

import { openPglite, openPostgres, migrate } from '../../src/store/index.js'
import type { Engine } from '../../src/store/index.js'

import { IN_MATRIX } from '../../../../test/turns.js'

import { startServer } from './server.js'

export type EngineName = 'PGlite' | 'PostgreSQL'
export type ServerTurns = 'in the matrix' | 'every time'

/**
 * The functions are the same SQL for both, and mostly `npm test` tries them on PGlite only. A server does more where
 * calls come at the same time or a change is awaited: such claims are tried on both every time.
 */
export const describeEngines = (
  title: string,
  body: (name: EngineName) => void,
  server: ServerTurns = 'in the matrix',
): void => {
  describe(`${title} on PGlite`, () => {
    body('PGlite')
  })
  describe(`${title} on PostgreSQL`, server === 'every time' ? {} : IN_MATRIX, () => {
    body('PostgreSQL')
  })
}

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
