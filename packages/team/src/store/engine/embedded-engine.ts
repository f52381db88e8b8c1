// PGlite as an engine. It has its own file so that the declarations of `openPglite` do not name the types of PGlite,
// which compile only with skipLibCheck.
import type { PGlite, Transaction } from '@electric-sql/pglite'

import { embeddedFailure, hasEnded } from './embedded-failure.js'
import type { Engine, Session } from '../engine.js'
import { storeError } from './sql-error.js'

export const engineOf = (
  folder: string | undefined,
  database: () => Promise<PGlite>,
  opened: () => Promise<PGlite> | undefined,
): Engine => {
  const where = folder ?? 'memory'
  let ended: Error | undefined
  const told = async <Result>(work: (open: PGlite) => Promise<Result>): Promise<Result> => {
    if (ended !== undefined) throw ended
    try {
      return await work(await database())
    } catch (error) {
      const failure = storeError(embeddedFailure(error, folder), where)
      if (hasEnded(error)) ended = failure as Error
      throw failure
    }
  }
  const sessionOf = (
    run: <Result>(work: (open: PGlite | Transaction) => Promise<Result>) => Promise<Result>,
  ): Session => ({
    query: <Row extends object>(sql: string, values: readonly unknown[] = []) =>
      run(async (open) => (await open.query<Row>(sql, [...values])).rows),
    execute: async (sql) => {
      await run((open) => open.exec(sql))
    },
  })
  return {
    where,
    ...sessionOf(told),
    transaction: (work) => told((open) => open.transaction((inside) => work(sessionOf((query) => query(inside))))),
    listen: (channels, heard) =>
      told(async (open) => {
        const stops = await Promise.all(
          channels.map((channel) =>
            open.listen(channel, (payload) => {
              heard(payload, channel)
            }),
          ),
        )
        return async () => {
          await Promise.all(stops.map((stop) => stop()))
        }
      }),
    close: async () => {
      // There is nothing to close if it could not be opened, or has ended.
      if (ended === undefined) await (await opened()?.catch(() => undefined))?.close()
    },
  }
}
