import pg from 'pg'

import type { Engine, Session } from './engine.js'
import { storeError } from './sql-error.js'

export interface PostgresSettings {
  readonly url: string
  /** Connections at the same time, besides the one that listens. */
  readonly connections?: number
  /** The first pause after a broken connection of the listener; it doubles up to ten seconds. */
  readonly retryMs?: number
}

const LONGEST_PAUSE_MS = 10_000

export const openPostgres = ({ url, connections = 10, retryMs = 100 }: PostgresSettings): Engine => {
  const where = withoutPassword(url)
  const pool = new pg.Pool({ connectionString: url, max: connections, application_name: 'cordon', keepAlive: true })
  // An idle connection that breaks is replaced when the next one is asked for.
  pool.on('error', () => undefined)
  const listeners = new Set<() => Promise<void>>()

  const told = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw storeError(error, where)
    }
  }
  const sessionOf = (client: pg.Pool | pg.PoolClient): Session => ({
    query: (sql, values = []) => told(async () => (await client.query(sql, [...values])).rows as never),
    execute: async (sql) => {
      await told(() => client.query(sql))
    },
  })

  const transaction: Engine['transaction'] = async (work) => {
    const client = await told(() => pool.connect())
    let isBroken = true
    try {
      await told(() => client.query('begin'))
      const result = await work(sessionOf(client))
      await told(() => client.query('commit'))
      isBroken = false
      return result
    } catch (error) {
      // A connection that cannot even be rolled back is not used again.
      isBroken = await client.query('rollback').then(() => false, () => true)
      throw error
    } finally {
      client.release(isBroken)
    }
  }

  const listen: Engine['listen'] = async (channel, heard) => {
    let client: pg.Client | undefined
    let isOver = false
    let pause = retryMs
    const connect = async (): Promise<void> => {
      const next = new pg.Client({ connectionString: url, application_name: 'cordon listener', keepAlive: true })
      next.on('notification', ({ payload = '' }) => { heard(payload) })
      next.on('error', () => { again(next) })
      next.on('end', () => { again(next) })
      await next.connect()
      await next.query(`listen ${pg.escapeIdentifier(channel)}`)
      client = next
      pause = retryMs
    }
    // What was said meanwhile is lost: whoever listens asks for the state as well, from time to time.
    const again = (broken: pg.Client): void => {
      if (isOver || (client !== undefined && client !== broken)) return
      client = undefined
      setTimeout(() => void connect().catch(() => { again(broken) }), pause).unref()
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
    await told(connect)
    const stop = async (): Promise<void> => {
      isOver = true
      listeners.delete(stop)
      await client?.end()
    }
    listeners.add(stop)
    return stop
  }

  return {
    where,
    ...sessionOf(pool),
    transaction,
    listen,
    close: async () => {
      await Promise.all([...listeners].map((stop) => stop()))
      await pool.end()
    },
  }
}

const withoutPassword = (url: string): string => {
  try {
    const parsed = new URL(url)
    parsed.password = ''
    return parsed.toString()
  } catch {
    return 'the given URL'
  }
}
