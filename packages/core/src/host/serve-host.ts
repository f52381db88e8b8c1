// The local host: one process for each user and build that has loaded what `cordon run` needs. It is a cache of work,
// never of decisions, and starts nothing for its callers: a front starts the launcher of its cell itself.
import type { Socket } from 'node:net'

import { fail } from '../errors/index.js'
import { noticeChanges } from '../platform/index.js'
import { monotonicMs } from '../shapes/index.js'
import { openHostDoor, openSandbox } from '../sandbox/index.js'
import type { CellConnection, Sandbox } from '../sandbox/index.js'

import { receiveFront } from './front.js'
import type { HostState } from './host-state.js'
import { keepLogsOpen } from './open-logs.js'
import { rememberRuns } from './remembered-runs.js'
import { serveFront } from './serve-run.js'

export interface HostSettings {
  readonly build: string
  readonly idleMs: number
}

/** A front that does not start its launcher in this time has gone another way. */
const PATIENCE_MS = 5_000

/** Settles when nobody has asked for so long, or when the door is closed. False if another host serves already. */
export const serveHost = async ({ build, idleMs }: HostSettings): Promise<boolean> => {
  noticeChanges()
  const logs = keepLogsOpen()
  const cells = cellsOfFronts()
  const prepare = rememberRuns()
  const began = monotonicMs()
  let [serving, served, refused] = [0, 0, 0]
  let refusedBecause: string | null = null
  const works = new Set<Promise<void>>()
  let rest: () => void = () => undefined
  let timer: NodeJS.Timeout | undefined
  const idle = (): void => {
    clearTimeout(timer)
    // The door keeps this process alive.
    timer = setTimeout(() => {
      rest()
    }, idleMs).unref()
  }
  const stateNow = (): HostState => ({
    pid: process.pid,
    aliveMs: Math.round(monotonicMs() - began),
    served,
    refused,
    refusedBecause,
    // Without the connection that asks.
    serving: serving - 1,
    memoryBytes: process.memoryUsage.rss(),
  })
  let sandbox: Promise<Sandbox> | undefined
  const opened = (): Promise<Sandbox> => (sandbox ??= openSandbox({ nursery: 'none' }))
  const serve = async (connection: Socket, pid: number): Promise<void> => {
    clearTimeout(timer)
    serving += 1
    await new Promise<void>((resolve) => {
      connection.once('close', resolve)
      receiveFront(connection, {
        onFront: async (front) => {
          const cell = () => cells.next(pid)
          const asked = { front, pid, sandbox: await opened(), openLog: logs.open, prepare, cell }
          const work = serveFront(asked).then((reason) => {
            if (reason === undefined) served += 1
            else [refused, refusedBecause] = [refused + 1, reason]
          })
          works.add(work)
          await work.finally(() => works.delete(work))
        },
        onQuestion: (question) => {
          if (question !== 'stop') return stateNow()
          rest()
          // It closes with this process.
          connection.unref()
          return stateNow()
        },
      })
    })
    cells.forget(pid)
    serving -= 1
    if (serving === 0) idle()
  }
  const door = await openHostDoor(build, {
    onVisitor: ({ connection, pid, purpose }) => {
      if (purpose === '') void serve(connection, pid)
      else cells.add(pid, connection)
    },
    receive: (message, handle) => {
      void opened().then(({ receive }) => {
        receive(message, handle)
      })
    },
  })
  if (door === undefined) return false
  const rested = new Promise<void>((resolve) => {
    rest = resolve
  })
  idle()
  await opened()
  await Promise.race([rested, door.closed])
  door.close()
  // Commands that run are killed, and their ends recorded.
  await opened().then((each) => each.close())
  await Promise.allSettled(works)
  await logs.close()
  return true
}

interface CellsOfFronts {
  readonly add: (pid: number, connection: Socket) => void
  /** The launcher that this front started last. */
  readonly next: (pid: number) => Promise<CellConnection>
  readonly forget: (pid: number) => void
}

/** Launchers come by connections of their own. The kernel says which front started one. */
const cellsOfFronts = (): CellsOfFronts => {
  const arrived = new Map<number, Socket>()
  const awaited = new Map<number, (connection: Socket | undefined) => void>()
  const forget = (pid: number): void => {
    arrived.get(pid)?.destroy()
    arrived.delete(pid)
    awaited.get(pid)?.(undefined)
  }
  return {
    add: (pid, connection) => {
      const take = awaited.get(pid)
      if (take === undefined) {
        forget(pid)
        arrived.set(pid, connection)
      } else take(connection)
      connection.once('close', () => {
        if (arrived.get(pid) === connection) arrived.delete(pid)
      })
    },
    next: (pid) =>
      new Promise((resolve, reject) => {
        const here = arrived.get(pid)
        arrived.delete(pid)
        if (here !== undefined) {
          resolve(here)
          return
        }
        const timer = setTimeout(() => awaited.get(pid)?.(undefined), PATIENCE_MS)
        awaited.set(pid, (connection) => {
          clearTimeout(timer)
          awaited.delete(pid)
          if (connection === undefined) reject(fail('launcher-died', { how: 'the front did not start it' }))
          else resolve(connection)
        })
      }),
    forget,
  }
}
