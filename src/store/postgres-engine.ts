import type pg from 'pg'

import type { Engine, Session } from './engine.js'
import { storeError } from './sql-error.js'

export interface PostgresSettings {
  readonly url: string
  /** Connections at the same time, besides those that listen. */
  readonly connections?: number
  /** The first pause after a broken connection of a listener; it doubles up to ten seconds. */
  readonly retryMs?: number
  /** How long an answer may take; a network that drops everything says nothing by itself. Left out, for ever. */
  readonly answerMs?: number
}

const LONGEST_PAUSE_MS = 10_000

type Driver = typeof pg

/** A server. Neither the driver nor a connection is there before something is asked for. */
export const openPostgres = ({ url, connections = 10, retryMs = 100, answerMs }: PostgresSettings): Engine => {
  const where = withoutPassword(url)
  const stops = new Set<() => Promise<void>>()
  let opened: Promise<pg.Pool> | undefined
  const pool = (): Promise<pg.Pool> => (opened ??= openPool({ connectionString: url, max: connections, application_name: 'cordon', keepAlive: true, ...(answerMs === undefined ? {} : { query_timeout: answerMs, connectionTimeoutMillis: answerMs }) }))

  const told = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw storeError(error, where)
    }
  }
  const sessionOf = (client: () => Promise<pg.Pool | pg.PoolClient>): Session => ({
    query: (sql, values = []) => told(async () => (await (await client()).query(sql, [...values])).rows as never),
    execute: async (sql) => {
      await told(async () => (await client()).query(sql))
    },
  })

  const transaction: Engine['transaction'] = async (work) => {
    const client = await told(async () => (await pool()).connect())
    let isBroken = true
    try {
      await told(() => client.query('begin'))
      const result = await work(sessionOf(() => Promise.resolve(client)))
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

  return {
    where,
    ...sessionOf(pool),
    transaction,
    listen: async (channel, heard) => {
      const stop = await told(() => keepListening({ url, channel, heard, retryMs }))
      const once = async (): Promise<void> => {
        stops.delete(once)
        await stop()
      }
      stops.add(once)
      return once
    },
    close: async () => {
      await Promise.all([...stops].map((stop) => stop()))
      await (await opened)?.end()
    },
  }
}

const driver = async (): Promise<Driver> => (await import('pg')).default

export const openPool = async (settings: pg.PoolConfig): Promise<pg.Pool> => {
  const { Pool } = await driver()
  const pool = new Pool(settings)
  // An idle connection that breaks is replaced when the next one is asked for; of one in use its statement tells.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
  return pool
}

interface Listening {
  readonly url: string
  readonly channel: string
  readonly heard: (payload: string) => void
  readonly retryMs: number
}

/** A connection of its own, made anew when it breaks. What was said meanwhile is lost: whoever listens asks for the state as well. */
const keepListening = async ({ url, channel, heard, retryMs }: Listening): Promise<() => Promise<void>> => {
  const { Client, escapeIdentifier } = await driver()
  let current: pg.Client | undefined
  let isOver = false
  let pause = retryMs
  const connect = async (): Promise<void> => {
    const next = new Client({ connectionString: url, application_name: 'cordon listener', keepAlive: true })
    next.on('notification', ({ payload = '' }) => { heard(payload) })
    next.on('error', () => { again(next) })
    next.on('end', () => { again(next) })
    await next.connect()
    await next.query(`listen ${escapeIdentifier(channel)}`)
    current = next
    pause = retryMs
  }
  const again = (broken: pg.Client): void => {
    if (isOver || (current !== undefined && current !== broken)) return
    current = undefined
    setTimeout(() => void connect().catch(() => { again(broken) }), pause).unref()
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
  await connect()
  return async () => {
    isOver = true
    await current?.end()
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
