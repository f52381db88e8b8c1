// The audit log as the runtime sees it: appends events in batches, and syncs them to the disk.
import { randomUUID } from 'node:crypto'

import { fail } from '../../errors/index.js'
import { PLATFORM, describeSelf } from '../../platform/index.js'
import { monotonicMs } from '../../shapes/index.js'
import { createBatches } from '../events/batches.js'
import type { CordonEvent } from '../events/event.js'

import { anchorOf, preparePath, unwritable } from './audit-files.js'
import type { AuditPlaces } from './audit-files.js'
import { createWriter } from './audit-writer.js'

/**
 * When an append resolves. `write`: when the kernel has the lines, which then survive the death of any process. They
 * are on the disk `syncAfter` milliseconds later. `fsync`: when they are on the disk.
 */
export const DURABILITIES = ['write', 'fsync'] as const
export type Durability = (typeof DURABILITIES)[number]

export interface AuditSettings {
  /** A JSONL file in a folder that only its owner can write to. */
  readonly path: string
  /** Default: beside the log. Better on another disk, or where another user copies it from. */
  readonly anchorPath?: string
  readonly durability?: Durability
  /** In milliseconds. */
  readonly syncAfter?: number
  /** A file of this size gets a number, and a new file continues the chain. */
  readonly maxFileBytes?: number
  /** How long to wait for other processes that write to the same log, in milliseconds. */
  readonly lockTimeout?: number
  readonly now?: () => number
  readonly newId?: () => string
}

const DEFAULTS = {
  durability: 'write',
  syncAfter: 200,
  maxFileBytes: 64 * 1024 * 1024,
  lockTimeout: 5000,
} as const

export interface AuditLog {
  /** With the real path of their folder. */
  readonly places: AuditPlaces
  /** Writes all of the events in this order, or none. If it rejects, the events must not happen. */
  readonly append: (events: readonly CordonEvent[]) => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens a log, or begins one. Several processes may have the same one open. */
export const openAuditLog = async ({
  path,
  anchorPath = anchorOf(path),
  ...given
}: AuditSettings): Promise<AuditLog> => {
  const { durability, syncAfter, maxFileBytes, lockTimeout, now, newId } = {
    ...DEFAULTS,
    now: Date.now,
    newId: randomUUID,
    ...given,
  }
  const places = placesOf(path, anchorPath)
  const writer = createWriter({ places, maxFileBytes, now, newId, boot: PLATFORM.bootId(), self: describeSelf() })
  let syncing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let failed: Error | undefined

  const writeInTime = async (events: readonly CordonEvent[]): Promise<void> => {
    const deadline = monotonicMs() + lockTimeout
    for (;;) {
      const busy = writer.write(events)
      if (busy === undefined) return
      if (monotonicMs() > deadline)
        throw fail('audit-busy', {
          path: places.log,
          owner: busy.owner,
          seconds: Math.round(lockTimeout / 1000),
          lock: busy.name,
        })
      // A write takes a fraction of a millisecond. Random waits keep two writers from meeting again.
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4))
    }
  }

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

  /** Each batch shares one write and one fsync. */
  const batches = createBatches(async (appended: readonly (readonly CordonEvent[])[]) => {
    try {
      if (failed !== undefined) throw failed
      await writeInTime(appended.flat())
      if (durability === 'fsync') await syncNow()
      else syncLater()
    } catch (error) {
      throw unwritable(places.log, error)
    }
    return appended.map(() => undefined)
  })

  try {
    await writeInTime([])
  } catch (error) {
    writer.close()
    throw unwritable(path, error)
  }

  let isClosed = false
  return {
    places,
    append: async (events) => {
      if (isClosed) throw fail('audit-unwritable', { path: places.log, problem: 'it was closed', fix: 'open it again' })
      await batches.add(events)
    },
    close: async () => {
      if (isClosed) return
      isClosed = true
      await batches.idle()
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

/** Where the log of this path is now, with its anchor beside it. Its folder is made if it is missing. */
export const auditPlacesOf = (path: string): AuditPlaces => placesOf(path, anchorOf(path))

const placesOf = (log: string, anchor: string): AuditPlaces => {
  try {
    return { log: preparePath(log), anchor: preparePath(anchor) }
  } catch (error) {
    throw unwritable(log, error)
  }
}
