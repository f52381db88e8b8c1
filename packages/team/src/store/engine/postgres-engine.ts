// A PostgreSQL server as an engine.
import { createHash } from 'node:crypto'
import { setTimeout as elapsed } from 'node:timers/promises'
import type pg from 'pg'

import { fail } from '../../errors/errors.js'
import type { Engine, Session } from '../engine.js'
import { guardAnswers, streamOf } from './answer-guard.js'
import { storeError } from './sql-error.js'

export interface PostgresSettings {
  readonly url: string
  /** Connections at the same time, without listeners. */
  readonly connections?: number
  /** The first pause after the connection of a listener breaks. It doubles up to ten seconds. */
  readonly retryMs?: number
  /** How long an answer may take, for networks that drop packets silently (default: for ever). */
  readonly answerMs?: number
  /** Timeouts of the database, not for listeners and migrations (default: those of the login). */
  readonly limits?: PostgresLimits
  /** The largest answer to one statement. A larger one fails alone. */
  readonly mostAnswerBytes?: number
}

export interface PostgresLimits {
  readonly statementMs: number
  /** Waiting for a lock. */
  readonly lockMs: number
  /** An idle transaction. */
  readonly idleMs: number
  /** Waiting for a connection. */
  readonly connectMs: number
}

const LONGEST_PAUSE_MS = 10_000
/** Clients of `cordon serve` have the same bound. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024

/** A PostgreSQL server. The first query loads the driver and connects. */
export const openPostgres = (settings: PostgresSettings): Engine => {
  const { url, connections = 10, retryMs = 100, answerMs, limits, mostAnswerBytes = MOST_ANSWER_BYTES } = settings
  const where = withoutPassword(url)
  const stops = new Set<() => Promise<void>>()
  let opened: Promise<pg.Pool> | undefined
  const common = {
    connectionString: url,
    keepAlive: true,
    ...(answerMs === undefined ? {} : { query_timeout: answerMs, connectionTimeoutMillis: answerMs }),
    ...(limits === undefined ? {} : limitsOf(limits)),
  }
  const pool = (): Promise<pg.Pool> =>
    (opened ??= openPool({ ...common, max: connections, application_name: 'cordon' }, mostAnswerBytes))
  // A pool of its own, because statements to cancel may use all other connections.
  let openedToEnd: Promise<pg.Pool> | undefined
  const end = async (backend: number): Promise<void> => {
    await (
      await (openedToEnd ??= openPool({ ...common, max: 1, application_name: 'cordon ends a statement' }))
    ).query('select pg_cancel_backend($1)', [backend])
  }

  const told = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw storeError(error, where)
    }
  }
  const sessionOf = (client: () => Promise<pg.Pool | pg.PoolClient>): Session => ({
    query: (sql, values = []) =>
      told(async () => (await (await client()).query({ ...prepared(sql), values: [...values] })).rows as never),
    execute: async (sql) => {
      await told(async () => (await client()).query(sql))
    },
  })

  const transaction: Engine['transaction'] = async (work, signal) => {
    const client = await told(async () => (await pool()).connect())
    if (signal?.aborted === true) {
      client.release()
      throw fail('store-busy', { problem: 'it was not begun, because nobody waits for it any more' })
    }
    const stop = givingUp(client, signal, end)
    let isBroken = true
    try {
      await told(() => client.query('begin'))
      const result = await work(
        sessionOf(() => {
          if (signal?.aborted === true)
            throw fail('store-busy', { problem: 'it was given up, because nobody waits for it any more' })
          return Promise.resolve(client)
        }),
      )
      await told(() => client.query('commit'))
      isBroken = false
      return result
    } catch (error) {
      // After a cancellation under way, which must not hit the rollback.
      await stop()
      // A connection that cannot be rolled back is not used again.
      isBroken = await client.query('rollback').then(
        () => false,
        () => true,
      )
      throw error
    } finally {
      await stop()
      client.release(isBroken)
    }
  }

  return {
    where,
    ...sessionOf(pool),
    transaction,
    listen: async (...listening) => {
      const stop = await told(() => keepListening(url, retryMs, listening))
      const once = async (): Promise<void> => {
        stops.delete(once)
        await stop()
      }
      stops.add(once)
      return once
    },
    close: async () => {
      await Promise.all([...stops].map((stop) => stop()))
      await Promise.all([(await opened)?.end(), (await openedToEnd)?.end()])
    },
  }
}

/**
 * Statements that only call a function are prepared once for each connection. Others are planned with their values, so
 * that they read one partition (decision 20).
 */
const prepared = (text: string): { readonly text: string; readonly name?: string } => {
  if (!ONLY_A_FUNCTION.test(text)) return { text }
  // The same name for the same text in every process: a pooler may give a connection to several.
  const name = NAMES.get(text) ?? `cordon_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
  NAMES.set(text, name)
  return { text, name }
}
const ONLY_A_FUNCTION = /^select (?:[\w", :()]+ from )?agents\.fn_\w+\([^()]*\)(?: as value)?$/
const NAMES = new Map<string, string>()

const driver = async (): Promise<typeof pg> => (await import('pg')).default

/** @internal The types of the driver would be missing in a project that has only Cordon. */
export const openPool = async (settings: pg.PoolConfig, mostAnswerBytes = MOST_ANSWER_BYTES): Promise<pg.Pool> => {
  const { Pool } = await driver()
  const pool = new Pool(settings)
  // A broken idle connection is replaced. The error of one in use belongs to its statement.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    guardAnswers(streamOf(client), mostAnswerBytes)
  })
  return pool
}

const limitsOf = ({ statementMs, lockMs, idleMs, connectMs }: PostgresLimits): pg.PoolConfig => ({
  statement_timeout: statementMs,
  lock_timeout: lockMs,
  idle_in_transaction_session_timeout: idleMs,
  connectionTimeoutMillis: connectMs,
})

/** Reconnects when the connection breaks. Notifications in between are lost, so listeners also poll. */
const keepListening = async (
  url: string,
  retryMs: number,
  [channels, heard]: Parameters<Engine['listen']>,
): ReturnType<Engine['listen']> => {
  const { Client, escapeIdentifier } = await driver()
  let current: pg.Client | undefined
  let isOver = false
  let pause = retryMs
  const connect = async (): Promise<void> => {
    const next = new Client({ connectionString: url, application_name: 'cordon listener', keepAlive: true })
    // A broken connection may report several events. Failing to connect is reported by the promise.
    const lost = (): void => {
      if (current !== next) return
      current = undefined
      again()
    }
    next.on('notification', ({ payload = '', channel }) => {
      heard(payload, channel)
    })
    next.on('error', lost)
    next.on('end', lost)
    try {
      await next.connect()
      guardAnswers(streamOf(next), Number.POSITIVE_INFINITY)
      await next.query(channels.map((channel) => `listen ${escapeIdentifier(channel)}`).join('; '))
    } catch (error) {
      void next.end().catch(() => undefined)
      throw error
    }
    if (isOver) await next.end()
    else current = next
    pause = retryMs
  }
  const again = (): void => {
    if (isOver) return
    setTimeout(() => void connect().catch(again), pause).unref()
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
    for (const name of ['password', 'sslpassword']) parsed.searchParams.delete(name)
    return parsed.toString()
  } catch {
    // The URL of a socket has no host, which `URL` refuses.
    return /^postgres(?:ql)?:\/\/[^:@/?#]*@?\/[^@]*$/.test(url) && !/password=/i.test(url) ? url : 'the given URL'
  }
}

/** How long a cancellation may take before the connection is closed. */
const ENDING_MS = 3_000
/** A cancellation between two statements has no effect, so it is repeated. */
const AGAIN_MS = 100

/**
 * Cancels the statement of a connection at the signal. The returned function ends that, and waits for a cancellation
 * under way, which would otherwise meet the next user of the connection.
 */
const givingUp = (
  client: pg.PoolClient,
  signal: AbortSignal | undefined,
  end: (backend: number) => Promise<void>,
): (() => Promise<void>) => {
  if (signal === undefined) return () => Promise.resolve()
  const { processID } = client as unknown as { readonly processID: number }
  const over = new AbortController()
  let ending: Promise<void> = Promise.resolve()
  const endAgain = async (): Promise<void> => {
    const until = Date.now() + ENDING_MS
    while (!over.signal.aborted) {
      await Promise.race([end(processID).catch(() => undefined), elapsed(Math.max(1, until - Date.now()))])
      if (Date.now() >= until)
        streamOf(client).destroy(new Error('Connection terminated: nobody waits for it any more'))
      await elapsed(AGAIN_MS, undefined, { signal: over.signal }).catch(() => undefined)
    }
  }
  const giveUp = (): void => {
    ending = endAgain()
  }
  signal.addEventListener('abort', giveUp, { once: true })
  return async () => {
    signal.removeEventListener('abort', giveUp)
    over.abort()
    await ending
  }
}
