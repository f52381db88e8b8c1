// Writes batches of events to the log, one turn at a time.
import { closeSync, fdatasync, ftruncateSync, readdirSync, readlinkSync, unlinkSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { bug, fail } from '../../errors/index.js'
import { isDead } from '../../platform/index.js'
import type { CordonEvent } from '../events/event.js'

import { readAnchorAt } from './anchor.js'
import type { Anchor } from './anchor.js'
import { MAX_LINE_BYTES, sealLine } from './chain.js'
import { rotate, settleLog } from './settle-log.js'
import type { HeldLog, Repair, SettleSettings } from './settle-log.js'
import { takeTurn } from './turn.js'
import type { Turn } from './turn.js'

export interface WriterSettings extends SettleSettings {
  readonly maxFileBytes: number
  readonly now: () => number
  /** Names this process in its locks. */
  readonly self: string
}

export interface AuditWriter {
  /** Synchronous, so nothing else happens in this process during a turn. Returns who writes, if another does. */
  readonly write: (events: readonly CordonEvent[]) => Extract<Turn, { kind: 'busy' }> | undefined
  /** Puts everything that was written on the disk. */
  readonly sync: () => Promise<void>
  readonly removeDeadLocks: () => void
  readonly close: () => void
}

type OwnDraft = { readonly type: 'audit.began'; readonly file: number } | ({ readonly type: 'audit.repaired' } & Repair)

const MAX_LATE_TURNS = 1000

export const createWriter = (settings: WriterSettings): AuditWriter => {
  const { places, self, boot, newId, now, maxFileBytes } = settings
  const held: HeldLog = { log: undefined, anchor: undefined, known: undefined, repair: undefined, retired: [] }
  let synced = 0
  let syncs = 0

  const lastSequence = (): number =>
    (held.anchor === undefined ? readAnchorAt(places.anchor) : held.anchor.read())?.anchor?.sequence ?? 0

  const writeInTurn = (events: readonly CordonEvent[]): void => {
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
      for (let late = 0; late < MAX_LATE_TURNS; late += 1) {
        const sequence = lastSequence() + 1
        const turn = takeTurn(places.log, sequence, self)
        if (turn.kind === 'busy') return turn
        try {
          // If another turn ended between reading the anchor and making the link, this link is too late.
          if (lastSequence() + 1 === sequence) {
            writeInTurn(events)
            return undefined
          }
        } finally {
          turn.end()
          closeRetired()
        }
      }
      return { kind: 'busy', name: places.log, owner: 'others' }
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
    removeDeadLocks: () => {
      removeDeadLocks(places.log, held.known?.sequence ?? 0, self)
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

/** Removes the locks of turns that are over, left behind by processes that were killed. */
const removeDeadLocks = (log: string, sequence: number, self: string): void => {
  const prefix = `${basename(log)}.lock.`
  for (const name of readdirSync(dirname(log))) {
    const turn = name.startsWith(prefix) ? /^(\d+)(\.\d+)?$/.exec(name.slice(prefix.length))?.[1] : undefined
    if (turn === undefined || Number(turn) > sequence) continue
    try {
      const path = join(dirname(log), name)
      if (isDead(readlinkSync(path), self)) unlinkSync(path)
    } catch {
      // Another process was faster.
    }
  }
}
