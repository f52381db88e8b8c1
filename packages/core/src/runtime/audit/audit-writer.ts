// Writes batches of events to the log, under the lock of the log.
import { closeSync, fdatasync, ftruncateSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'

import { bug, fail } from '../../errors/index.js'
import { tryLock } from '../../platform/index.js'
import type { BusyLock } from '../../platform/index.js'
import type { CordonEvent } from '../events/event.js'

import type { Anchor } from './anchor.js'
import { MAX_LINE_BYTES, sealLine } from './chain.js'
import { rotate, settleLog } from './settle-log.js'
import type { HeldLog, Repair, SettleSettings } from './settle-log.js'

export interface WriterSettings extends SettleSettings {
  readonly maxFileBytes: number
  readonly now: () => number
  /** Names this process in its lock. */
  readonly self: string
}

export interface AuditWriter {
  /** Synchronous, so that the lock is short. Returns who writes, if another process does. */
  readonly write: (events: readonly CordonEvent[]) => BusyLock | undefined
  /** Puts everything that was written on the disk. */
  readonly sync: () => Promise<void>
  readonly close: () => void
}

type OwnDraft = { readonly type: 'audit.began'; readonly file: number } | ({ readonly type: 'audit.repaired' } & Repair)

export const createWriter = (settings: WriterSettings): AuditWriter => {
  const { places, self, boot, newId, now, maxFileBytes } = settings
  const held: HeldLog = { log: undefined, anchor: undefined, known: undefined, repair: undefined, retired: [] }
  let synced = 0
  let syncs = 0

  const writeLocked = (events: readonly CordonEvent[]): void => {
    const settled = settleLog(held, settings)
    const start = settled.offset >= maxFileBytes ? rotate(held, places.log, settled) : settled
    const drafts: readonly OwnDraft[] = [
      ...(start.offset === 0 ? [{ type: 'audit.began', file: start.file } as const] : []),
      ...(held.repair === undefined ? [] : [{ type: 'audit.repaired', ...held.repair } as const]),
    ]
    const aboutTheLog = drafts.map((draft, at): CordonEvent => ({
      ...draft,
      event_id: newId(),
      timestamp: new Date(now()).toISOString(),
      sequence: start.sequence + at + 1,
      session_id: start.log,
      call_id: null,
    }))
    let end = { sequence: start.sequence, hash: start.hash }
    let text = ''
    for (const event of [...aboutTheLog, ...events]) {
      const sealed = sealLine(end, event)
      if (sealed.text.length > MAX_LINE_BYTES)
        throw fail('audit-unwritable', {
          path: places.log,
          problem: `an event of ${sealed.text.length} characters is too long`,
          fix: 'record arguments by hash only',
        })
      end = sealed.end
      text += sealed.text
    }
    const bytes = Buffer.from(text)
    const next: Anchor = {
      ...start,
      ...end,
      offset: start.offset + bytes.length,
      synced: Math.max(start.synced, synced),
      boot,
      revision: start.revision + 1,
    }
    const { log = bug('no log is open'), anchor = bug('no anchor is open') } = held
    try {
      writeFully(log.descriptor, bytes)
      anchor.write(next)
    } catch (error) {
      takeBack(log.descriptor, start.offset)
      throw error
    }
    held.known = next
    held.repair = undefined
  }

  const closeRetired = (): void => {
    if (syncs === 0) for (const descriptor of held.retired.splice(0)) closeSync(descriptor)
  }

  return {
    write: (events) => {
      const lock = tryLock(`${places.log}.lock`, self)
      if (lock.kind === 'busy') return lock
      try {
        writeLocked(events)
        return undefined
      } finally {
        lock.release()
        closeRetired()
      }
    },
    sync: async () => {
      const { log, anchor, known } = held
      if (log === undefined || anchor === undefined || known === undefined) return
      syncs += 1
      try {
        await Promise.all([syncToDisk(log.descriptor), syncToDisk(anchor.descriptor)])
      } finally {
        syncs -= 1
        closeRetired()
      }
      synced = Math.max(synced, known.sequence)
    },
    close: () => {
      closeRetired()
      if (held.log !== undefined) closeSync(held.log.descriptor)
      if (held.anchor !== undefined) closeSync(held.anchor.descriptor)
      held.log = undefined
      held.anchor = undefined
    },
  }
}

const syncToDisk = promisify(fdatasync)

const writeFully = (descriptor: number, bytes: Buffer): void => {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
}

/** Removes what was written in part. If this fails too, the next writer finds a torn line. */
const takeBack = (descriptor: number, offset: number): void => {
  try {
    ftruncateSync(descriptor, offset)
  } catch {
    // The first error is reported.
  }
}
