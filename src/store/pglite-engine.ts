import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { PGlite, Transaction } from '@electric-sql/pglite'

import type { Engine, Session } from './engine.js'
import { holdFolder } from './folder-hold.js'
import { storeError } from './sql-error.js'

export interface PgliteSettings {
  /** Where the data lies; one process has it open at a time. Without one it lives as long as the process. */
  readonly folder: string | undefined
}

/** A database with the newest schema in it, made by the build; without it the first use takes seconds longer. */
const IMAGE = fileURLToPath(new URL('../../dist/store/image.tar.gz', import.meta.url))

/** What agents asked for is nobody else's business. */
const PRIVATE = 0o700

/** PostgreSQL inside this process. Loaded and started when it is first asked for something. */
export const openPglite = ({ folder }: PgliteSettings): Engine => {
  let started: Promise<PGlite> | undefined
  let release = (): void => undefined
  const begin = async (): Promise<PGlite> => {
    if (folder !== undefined) {
      mkdirSync(dirname(folder), { recursive: true, mode: PRIVATE })
      release = holdFolder(folder)
      mkdirSync(folder, { recursive: true, mode: PRIVATE })
    }
    return start(folder).catch((error: unknown) => {
      release()
      throw error
    })
  }
  const engine = engineOf(folder ?? 'memory', () => (started ??= begin()), () => started)
  return {
    ...engine,
    close: async () => {
      await engine.close()
      release()
    },
  }
}

export const engineOf = (where: string, database: () => Promise<PGlite>, opened: () => Promise<PGlite> | undefined): Engine => {
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
      // One that could not be opened has nothing to close.
      await (await opened()?.catch(() => undefined))?.close()
    },
  }
}

const start = async (folder: string | undefined): Promise<PGlite> => {
  const { PGlite: Embedded } = await import('@electric-sql/pglite')
  const isNew = folder === undefined || !existsSync(folder) || readdirSync(folder).length === 0
  return Embedded.create({
    ...(folder === undefined ? {} : { dataDir: folder }),
    ...(isNew && existsSync(IMAGE) ? { loadDataDir: new File([readFileSync(IMAGE)], 'image.tar.gz', { type: 'application/x-gzip' }) } : {}),
  })
}
