import { randomUUID } from 'node:crypto'

import { fail } from '../../errors/index.js'
import type { CordonEvent } from '../events/event.js'

import { unwritable } from './audit-error.js'
import { anchorOf, preparePlaces } from './audit-files.js'
import type { AuditPlaces } from './audit-files.js'
import { createWriter } from './audit-writer.js'
import type { AuditWriter } from './audit-writer.js'
import type { ChainEnd } from './chain.js'
import { bootId, describeSelf } from './turn.js'

/**
 * When an append answers. `write`: when the kernel has it, which survives the death of any process, and
 * `syncAfter` milliseconds later it is on the disk. `fsync`: when it is on the disk.
 */
export const DURABILITIES = ['write', 'fsync'] as const
export type Durability = (typeof DURABILITIES)[number]

export interface AuditSettings {
  /** A JSONL file in a folder that only its owner can write to. */
  readonly path: string
  /** Beside the log unless told otherwise; better on another disk, or where another user copies it from. */
  readonly anchorPath?: string
  readonly durability?: Durability
  /** In milliseconds. */
  readonly syncAfter?: number
  /** A file that has reached this size gets a number, and a new one goes on with the chain. */
  readonly maxFileBytes?: number
  /** How long to wait for other processes that write to the same log, in milliseconds. */
  readonly lockTimeout?: number
  readonly now?: () => number
  readonly newId?: () => string
}

export const AUDIT_DEFAULTS = {
  durability: 'write',
  syncAfter: 200,
  maxFileBytes: 64 * 1024 * 1024,
  lockTimeout: 5000,
} as const

export interface AuditLog {
  /** With the real path of their folder. */
  readonly places: AuditPlaces
  /**
   * All of the events, in this order, or none. Rejects when they could not be written: what they tell of must then not
   * happen.
   */
  readonly append: (events: readonly CordonEvent[]) => Promise<void>
  /** Answers when everything appended so far is on the disk. */
  readonly sync: () => Promise<void>
  readonly position: () => ChainEnd
  readonly close: () => Promise<void>
}

interface Waiting {
  readonly events: readonly CordonEvent[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Opens a log, or begins one. Several processes may have the same one open. */
export const openAuditLog = async ({
  path,
  anchorPath = anchorOf(path),
  ...given
}: AuditSettings): Promise<AuditLog> => {
  const { durability, syncAfter, maxFileBytes, lockTimeout, now, newId } = {
    ...AUDIT_DEFAULTS,
    now: Date.now,
    newId: randomUUID,
    ...given,
  }
  const places = within(path, () => preparePlaces(path, anchorPath))
  const writer = createWriter({ places, maxFileBytes, now, newId, boot: bootId(), self: describeSelf() })
  let waiting: Waiting[] = []
  let flushing: Promise<void> | undefined
  let syncing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let failed: Error | undefined

  const writeInTime = (events: readonly CordonEvent[]): Promise<void> =>
    waitForTurn(writer, events, places.log, lockTimeout)

  const syncNow = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    try {
      await writer.sync()
    } catch (error) {
      // After a failed fsync nobody knows what the disk holds, and a second one would claim success.
      failed = unwritable(places.log, error)
      throw failed
    }
  }

  const syncLater = (): void => {
    timer ??= setTimeout(() => {
      syncing = syncNow().catch(() => undefined)
    }, syncAfter).unref()
  }

  const flush = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    try {
      if (failed !== undefined) throw failed
      await writeInTime(batch.flatMap(({ events }) => events))
      if (durability === 'fsync') await syncNow()
      else syncLater()
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(unwritable(places.log, error))
    }
  }

  const flushAll = async (): Promise<void> => {
    // What is appended in the same turn of the loop, or while the disk is busy, shares one write and one fsync.
    await Promise.resolve()
    while (waiting.length > 0) await flush()
    flushing = undefined
  }

  const settled = async (): Promise<void> => {
    while (flushing !== undefined) await flushing
  }

  try {
    await writeInTime([])
    within(path, () => {
      writer.removeDeadLocks()
    })
  } catch (error) {
    writer.close()
    throw unwritable(path, error)
  }

  let isClosed = false
  return {
    places,
    append: (events) =>
      new Promise((resolve, reject) => {
        if (isClosed) {
          reject(fail('audit-unwritable', { path: places.log, problem: 'it was closed', fix: 'open it again' }))
          return
        }
        waiting.push({ events, resolve, reject })
        flushing ??= flushAll()
      }),
    sync: async () => {
      await settled()
      await syncNow()
    },
    position: () => {
      const { sequence = 0, hash = '' } = writer.position() ?? {}
      return { sequence, hash }
    },
    close: async () => {
      if (isClosed) return
      isClosed = true
      await settled()
      try {
        await syncing
        if (failed === undefined) await syncNow()
      } finally {
        clearTimeout(timer)
        writer.close()
      }
    },
  }
}

const within = <Value>(path: string, body: () => Value): Value => {
  try {
    return body()
  } catch (error) {
    throw unwritable(path, error)
  }
}

const waitForTurn = async (
  writer: AuditWriter,
  events: readonly CordonEvent[],
  path: string,
  timeout: number,
): Promise<void> => {
  const deadline = performance.now() + timeout
  for (;;) {
    const written = writer.write(events)
    if (written.kind === 'written') return
    if (performance.now() > deadline)
      throw fail('audit-busy', { path, owner: written.owner, seconds: Math.round(timeout / 1000), lock: written.name })
    // A turn takes a fraction of a millisecond; different waits keep the same two from meeting again.
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4))
  }
}
