// The audit logs of the host's clients, which stay open between their runs. A run finds its log as a process of its own
// would: at the place where it is now, and anew if it is no longer the one that was opened.
import { CordonError } from '../errors/index.js'
import { linkStatusAt } from '../platform/index.js'
import { auditPlacesOf } from '../runtime/audit/index.js'
import type { AuditLog } from '../runtime/audit/index.js'

import { openRunLog } from '../run/record.js'
import type { OpenRunLog } from '../run/record.js'
import { auditPathOf } from '../settings/own-folders.js'

interface OpenLogs {
  readonly open: OpenRunLog
  readonly close: () => Promise<void>
}

interface KeptLog {
  readonly opening: Promise<AuditLog>
  /** Whose the file is, and who may use it, once it is open. */
  stand: string | undefined
  runs: number
  isForgotten: boolean
}

const MOST_OPEN = 16

export const keepLogsOpen = (): OpenLogs => {
  const kept = new Map<string, KeptLog>()
  const closeUnused = async ({ opening, runs, isForgotten }: KeptLog): Promise<void> => {
    if (runs === 0 && isForgotten) await (await opening).close()
  }
  /** The runs that have it open go on with it. */
  const forget = (place: string, log: KeptLog): void => {
    if (kept.get(place) === log) kept.delete(place)
    log.isForgotten = true
    closeUnused(log).catch(() => undefined)
  }
  const take = (place: string, openAnew: () => Promise<AuditLog>): KeptLog => {
    const log = kept.get(place) ?? { opening: openAnew(), stand: undefined, runs: 0, isForgotten: false }
    kept.set(place, log)
    if (log.stand === undefined)
      void log.opening.then(
        () => (log.stand = standOf(place)),
        () => undefined,
      )
    log.runs += 1
    log.opening.catch(() => {
      forget(place, log)
    })
    for (const [oldest, other] of [...kept].slice(0, -MOST_OPEN)) forget(oldest, other)
    return log
  }
  const leave = async (log: KeptLog): Promise<void> => {
    log.runs -= 1
    await closeUnused(log).catch(() => undefined)
  }
  const open: OpenRunLog = async (environment, home) => {
    const openAnew = () => openRunLog(environment, home)
    const place = placeOf(auditPathOf(environment, home))
    // It says why.
    if (place === undefined) return openAnew()
    const before = kept.get(place)
    // To open it says what is wrong with it, or mends it.
    if (before?.stand !== undefined && before.stand !== standOf(place)) forget(place, before)
    const taken: KeptLog[] = []
    const takeAnother = (): KeptLog => {
      const log = take(place, openAnew)
      taken.push(log)
      return log
    }
    let log = takeAnother()
    let hasWritten = false
    const { places } = await log.opening
    return {
      places,
      append: async (events) => {
        const used = log
        try {
          await (await used.opening).append(events)
        } catch (error) {
          forget(place, used)
          // Of other failures this run has to hear, as one of its own would: of a full disk, or of a failed fsync.
          if (hasWritten || !isElsewhere(error)) throw error
          // Another event of this run may have opened it anew already.
          if (log === used) log = takeAnother()
          await (await log.opening).append(events)
        }
        hasWritten = true
      },
      close: async () => {
        await Promise.all(taken.splice(0).map(leave))
      },
    }
  }
  return {
    open,
    close: async () => {
      await Promise.allSettled([...kept.values()].map(async ({ opening }) => (await opening).close()))
    },
  }
}

/** The log was removed, replaced or moved since it was opened. */
const isElsewhere = (error: unknown): boolean => error instanceof CordonError && error.code === 'audit-broken'

const standOf = (path: string): string => {
  const found = linkStatusAt(path)
  return found === undefined ? '' : [found.ino, found.mode, found.uid, found.gid, found.nlink].join(' ')
}

/** Undefined if there can be no log. */
const placeOf = (path: string): string | undefined => {
  try {
    return auditPlacesOf(path).log
  } catch {
    return undefined
  }
}
