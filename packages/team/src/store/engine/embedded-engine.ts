// PGlite as an engine. It has its own file so that the declarations of `openPglite` do not name the types of PGlite,
// which compile only with skipLibCheck.
import { statfsSync } from 'node:fs'
import type { PGlite, Transaction } from '@electric-sql/pglite'

import { fail } from '../../errors/errors.js'
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

/** The size of a file of its write-ahead log. Each start begins one. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024

/**
 * A crash of the embedded database as an error of Cordon, instead of a WebAssembly trace. The usual reason is a full
 * disk, so that is checked.
 */
export const embeddedFailure = (error: unknown, folder: string | undefined): unknown => {
  if (!(error instanceof Error) || !isOfProgram(error)) return error
  const problem = `its program ended: ${error.message.split('\n', 1)[0] ?? ''}`
  return folder !== undefined && isFull(folder)
    ? fail('store-full', { where: folder, problem }, error)
    : fail('store-unavailable', { where: folder ?? 'memory', problem }, error)
}

/** It cannot be used any more. */
const hasEnded = (error: unknown): boolean =>
  error instanceof Error &&
  (isOfProgram(error) ||
    ['FATAL', 'PANIC'].some((each) => each === (error as { readonly severity?: unknown }).severity) ||
    /pg_wal\//.test(error.message))

const isOfProgram = (error: Error): boolean =>
  ['RuntimeError', 'ExitStatus'].includes(error.name) ||
  /^(?:PGlite (?:failed to initialize|is clos)|Aborted\(|Program terminated|unreachable)/.test(error.message)

/** Sends nothing to a crashed program, which would loop for ever. PGlite itself would send a rollback. */
export const guardProgram = (open: PGlite): PGlite => {
  const send = open.execProtocolStream.bind(open)
  let ended: Error | undefined
  return Object.assign(open, {
    execProtocolStream: async (...given: Parameters<typeof send>) => {
      if (ended !== undefined) throw ended
      try {
        return await send(...given)
      } catch (error) {
        if (hasEnded(error)) ended = error as Error
        throw error
      }
    },
  })
}

const isFull = (folder: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < LEAST_FREE_BYTES
  } catch {
    return false
  }
}
