import type { PGlite, Transaction } from '@electric-sql/pglite'

import type { Engine, Session } from './engine.js'
import { storeError } from './sql-error.js'

export interface PgliteSettings {
  /** Where the data lies; one process has it open at a time. Without one it lives as long as the process. */
  readonly folder: string | undefined
}

/** PostgreSQL inside this process. Loaded and started when it is first asked for something. */
export const openPglite = ({ folder }: PgliteSettings): Engine => {
  const where = folder ?? 'memory'
  let started: Promise<PGlite> | undefined
  const database = (): Promise<PGlite> => (started ??= start(folder))

  const told = async <Result>(work: (open: PGlite) => Promise<Result>): Promise<Result> => {
    try {
      return await work(await database())
    } catch (error) {
      throw storeError(error, where)
    }
  }
  const sessionOf = (run: <Result>(work: (open: PGlite | Transaction) => Promise<Result>) => Promise<Result>): Session => ({
    query: <Row extends object>(sql: string, values: readonly unknown[] = []) => run(async (open) => (await open.query<Row>(sql, [...values])).rows),
    execute: async (sql) => {
      await run((open) => open.exec(sql))
    },
  })

  return {
    where,
    ...sessionOf(told),
    transaction: (work) => told((open) => open.transaction((inside) => work(sessionOf((query) => query(inside))))),
    listen: (channel, heard) => told((open) => open.listen(channel, heard)),
    close: async () => {
      if (started !== undefined) await (await started).close()
    },
  }
}

const start = async (folder: string | undefined): Promise<PGlite> => {
  const { PGlite: Embedded } = await import('@electric-sql/pglite')
  return Embedded.create(folder === undefined ? {} : { dataDir: folder })
}
