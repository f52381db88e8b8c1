// The queue that wakes runners, by graphile-worker. It only says that there may be a call. The database decides with
// each claim whether the runner may run it.
import { EventEmitter } from 'node:events'
import type { WorkerPool } from 'graphile-worker'

import { fail } from '../../errors/errors.js'
import type { Engine } from '../engine.js'
import { LOCK_MS, untilNotHeld } from '../engine/migrate.js'
import { openPool } from '../engine/postgres-engine.js'

const SCHEMA = 'cordon_queue'

/**
 * An optional package, which only runners need. While it is loaded, it runs a file `.graphile-workerrc.js` of the
 * working folder or of one above, which a tool may have made. In the root folder only root makes files.
 */
const loadWorker = async () => {
  const folder = process.cwd()
  process.chdir('/')
  try {
    return await import('graphile-worker')
  } catch (error) {
    throw fail('queue-not-installed', {}, error)
  } finally {
    process.chdir(folder)
  }
}

let loading: ReturnType<typeof loadWorker> | undefined
const worker = () => (loading ??= loadWorker())

/** Installs or updates the queue beside the store. The login must be allowed to create schemas. */
export const installQueue = async (engine: Engine, url: string): Promise<void> => {
  const { runMigrations, Logger } = await worker()
  await engine.execute(`do $$ begin
    if to_regnamespace('${SCHEMA}') is null then create schema ${SCHEMA} authorization cordon_owner; end if;
    execute format('grant create on database %I to cordon_owner', current_database());
  end $$`)
  // Gives up, and names the login, if a runner holds a table of the queue.
  const pool = await openPool({ connectionString: url, max: 1, lock_timeout: LOCK_MS })
  // The queue belongs to the same owner as the rest, whose rights its functions use.
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
  /** How many calls at the same time. */
  readonly concurrency: number
  /** Called with the id of an approved call. If it throws, the call is announced again later. */
  readonly ready: (id: string) => Promise<void>
}

export interface Queue {
  /** Asks for calls of these tools, and no others. */
  readonly serve: (tasks: readonly string[]) => void
  /** Stops asking, and waits for the announced calls. */
  readonly close: () => Promise<void>
}

const POLL_MS = 5_000
const PAUSES_MS = { first: 200, longest: 5_000 }
/** One listens, the others ask and report. */
const CONNECTIONS = 4

/** Batches are retried. With single reports, one that fails would end the process (graphile-worker 0.18). */
const REPORTING = { completeJobBatchDelay: 0, failJobBatchDelay: 0 }

export const openQueue = async ({ url, concurrency, ready }: QueueSettings): Promise<Queue> => {
  const { runTaskList, Logger } = await worker()
  const pool = await openPool({
    connectionString: url,
    max: CONNECTIONS,
    application_name: 'cordon queue',
    keepAlive: true,
  })
  const logger = new Logger(() => () => undefined)
  const inSlot = createSlots(concurrency)
  const retired = new Set<Promise<unknown>>()
  let current: { readonly workers: WorkerPool; readonly tasks: readonly string[] } | undefined
  let pause = PAUSES_MS.first
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  const retire = (): void => {
    if (current === undefined) return
    const { workers } = current
    current = undefined
    // Announced calls go on. An error of its shutdown does not matter.
    const gone = Promise.resolve(workers.gracefulShutdown()).catch(() => undefined)
    retired.add(gone)
    void gone.finally(() => retired.delete(gone))
  }
  const begin = (tasks: readonly string[]): void => {
    retire()
    if (tasks.length === 0) return
    const events = new EventEmitter()
    const work = (payload: unknown) => inSlot(() => ready(idOf(payload)))
    const workers = runTaskList(
      {
        logger,
        schema: SCHEMA,
        concurrency,
        noHandleSignals: true,
        pollInterval: POLL_MS,
        events,
        preset: { worker: REPORTING },
      },
      Object.fromEntries(tasks.map((task) => [task, work])),
      pool,
    )
    current = { workers, tasks }
    // It can keep an error for ever, so it is replaced.
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
    for (const event of ['worker:getJob:empty', 'job:start'])
      events.on(event, () => {
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

/** Runs so much work at the same time. The rest waits. */
const createSlots = (count: number): (<Result>(work: () => Promise<Result>) => Promise<Result>) => {
  const waiting: (() => void)[] = []
  let free = count
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      // Handed on directly, so that nobody else takes the slot in between.
      if (next === undefined) free += 1
      else next()
    }
  }
}
