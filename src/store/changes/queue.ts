// The queue that wakes runners, by graphile-worker. It says that there may be something to do; whether a runner may do
// it is asked of the database with every call.
import { EventEmitter } from 'node:events'

import type { WorkerPool } from 'graphile-worker'

import { fail } from '../../errors/index.js'

import type { Engine } from '../engine.js'
import { LOCK_MS, untilNotHeld } from '../engine/migrate.js'
import { openPool } from '../engine/postgres-engine.js'
import { createSlots } from './slots.js'

const SCHEMA = 'cordon_queue'

/** Who has no runners does not install it. */
const worker = async () => {
  try {
    return await import('graphile-worker')
  } catch (error) {
    throw fail('queue-not-installed', {}, error)
  }
}

/**
 * Puts the queue beside the store. For who may create schemas; done again, it does nothing, or brings it up to date.
 */
export const installQueue = async (engine: Engine, url: string): Promise<void> => {
  const { runMigrations, Logger } = await worker()
  await engine.execute(`do $$ begin
    if to_regnamespace('${SCHEMA}') is null then create schema ${SCHEMA} authorization cordon_owner; end if;
    execute format('grant create on database %I to cordon_owner', current_database());
  end $$`)
  // A login of a runner may hold a table of the queue: then this gives up, and says who it is.
  const pool = await openPool({ connectionString: url, max: 1, lock_timeout: LOCK_MS })
  // The queue belongs to the owner of everything else: its functions are called with that role's rights.
  pool.on('connect', (client) => void client.query('set role cordon_owner').catch(() => undefined))
  try {
    await untilNotHeld(engine, () =>
      runMigrations({ pgPool: pool, schema: SCHEMA, logger: new Logger(() => () => undefined) }),
    )
  } finally {
    await pool.end()
    await engine.execute(
      `do $$ begin execute format('revoke create on database %I from cordon_owner', current_database()); end $$`,
    )
  }
  await untilNotHeld(engine, () =>
    engine.transaction(({ execute }) =>
      execute(`set local lock_timeout = ${String(LOCK_MS)}; set local role cordon_owner; select agents.fn_use_queue()`),
    ),
  )
}

export const hasQueue = async ({ query }: Pick<Engine, 'query'>): Promise<boolean> => {
  const [there] = await query<{ isThere: boolean }>(
    `select to_regprocedure('agents.fn_has_queue()') is not null as "isThere"`,
  )
  if (there?.isThere !== true) return false
  const [row] = await query<{ has: boolean }>('select agents.fn_has_queue() as has')
  return row?.has === true
}

export interface QueueSettings {
  readonly url: string
  /** How many at the same time. */
  readonly concurrency: number
  /** Called with the id of an approved call. If it throws, the call is announced again later. */
  readonly ready: (id: string) => Promise<void>
  readonly pollMs?: number
}

export interface Queue {
  /** From now on asks for these tools, and no others. */
  readonly serve: (tasks: readonly string[]) => void
  /** Asks for nothing any more, and waits for what it told. */
  readonly close: () => Promise<void>
}

const POLL_MS = 5_000
const PAUSES_MS = { first: 200, longest: 5_000 }
/** One listens; the others ask and report, each for a moment. */
const CONNECTIONS = 4

/** Together and with further attempts: one by one, graphile-worker 0.18 lets a report that fails end the process. */
const REPORTING = { completeJobBatchDelay: 0, failJobBatchDelay: 0 }

export const openQueue = async ({ url, concurrency, ready, pollMs = POLL_MS }: QueueSettings): Promise<Queue> => {
  const { runTaskList, Logger } = await worker()
  const pool = await openPool({
    connectionString: url,
    max: CONNECTIONS,
    application_name: 'cordon queue',
    keepAlive: true,
  })
  const logger = new Logger(() => () => undefined)
  const slots = createSlots(concurrency)
  const retired = new Set<Promise<unknown>>()
  let current: { readonly workers: WorkerPool; readonly tasks: readonly string[] } | undefined
  let pause = PAUSES_MS.first
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  const retire = (): void => {
    if (current === undefined) return
    const { workers } = current
    current = undefined
    // What it told is gone on with; how it comes to its end is of no interest.
    const gone = Promise.resolve(workers.gracefulShutdown()).catch(() => undefined)
    retired.add(gone)
    void gone.finally(() => retired.delete(gone))
  }
  const begin = (tasks: readonly string[]): void => {
    retire()
    if (tasks.length === 0) return
    const events = new EventEmitter()
    const work = (payload: unknown) => slots.during(() => ready(idOf(payload)))
    const workers = runTaskList(
      {
        logger,
        schema: SCHEMA,
        concurrency,
        noHandleSignals: true,
        pollInterval: pollMs,
        events,
        preset: { worker: REPORTING },
      },
      Object.fromEntries(tasks.map((task) => [task, work])),
      pool,
    )
    current = { workers, tasks }
    // It can remember an error for ever; a new one begins anew.
    const replace = (): void => {
      if (isOver || current?.workers !== workers || timer !== undefined) return
      timer = setTimeout(() => {
        timer = undefined
        if (!isOver && current?.workers === workers) begin(tasks)
      }, pause)
      pause = Math.min(pause * 2, PAUSES_MS.longest)
    }
    events.on('worker:getJob:error', replace)
    events.on('pool:fatalError', replace)
    events.on('worker:getJob:empty', () => {
      pause = PAUSES_MS.first
    })
    events.on('job:start', () => {
      pause = PAUSES_MS.first
    })
    void workers.promise.then(replace, replace)
  }

  return {
    serve: (tasks) => {
      if (isOver || (current !== undefined && current.tasks.join() === tasks.join())) return
      begin(tasks)
    },
    close: async () => {
      isOver = true
      clearTimeout(timer)
      retire()
      await Promise.all(retired)
      await pool.end()
    },
  }
}

const idOf = (payload: unknown): string =>
  typeof payload === 'object' && payload !== null && 'id' in payload && typeof payload.id === 'string' ? payload.id : ''
