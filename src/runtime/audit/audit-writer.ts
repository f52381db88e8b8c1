import { closeSync, ftruncateSync, readdirSync, readlinkSync, unlinkSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { bug, fail } from '../../errors/index.js'
import type { CordonEvent } from '../events/event.js'

import { readAnchorAt, syncDescriptor } from './anchor.js'
import type { Anchor } from './anchor.js'
import { MAX_LINE_BYTES, sealLine } from './chain.js'
import { rotate, settleLog } from './settle-log.js'
import type { HeldLog, Repair, SettleSettings } from './settle-log.js'
import { isDead, takeTurn } from './turn.js'

export interface WriterSettings extends SettleSettings {
  readonly maxFileBytes: number
  readonly now: () => number
  /** As others see this process in the name of a lock. */
  readonly self: string
}

export type Written =
  | { readonly kind: 'written'; readonly anchor: Anchor }
  | { readonly kind: 'busy'; readonly name: string; readonly owner: string }

/** Everything here is synchronous: a turn is never held while something else happens in this process. */
export interface AuditWriter {
  readonly write: (events: readonly CordonEvent[]) => Written
  /** Puts on the disk what was written until now. */
  readonly sync: () => Promise<void>
  readonly position: () => Anchor | undefined
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

  const lastSequence = (): number => {
    const { anchor } =
      held.anchor === undefined ? (readAnchorAt(places.anchor) ?? { anchor: undefined }) : held.anchor.read()
    return anchor?.sequence ?? 0
  }

  const aboutItself = (draft: OwnDraft, anchor: Anchor, sequence: number): CordonEvent => ({
    ...draft,
    event_id: newId(),
    timestamp: new Date(now()).toISOString(),
    sequence,
    session_id: anchor.log,
    call_id: null,
  })

  const writeInTurn = (events: readonly CordonEvent[]): Anchor => {
    const settled = settleLog(held, settings)
    const start = settled.offset >= maxFileBytes ? rotate(held, places.log, settled) : settled
    const began =
      start.offset === 0 ? [aboutItself({ type: 'audit.began', file: start.file }, start, start.sequence + 1)] : []
    const repaired =
      held.repair === undefined
        ? []
        : [aboutItself({ type: 'audit.repaired', ...held.repair }, start, start.sequence + began.length + 1)]
    let end = { sequence: start.sequence, hash: start.hash }
    let text = ''
    for (const event of [...began, ...repaired, ...events]) {
      const sealed = sealLine(end, event)
      if (sealed.text.length > MAX_LINE_BYTES)
        throw fail('audit-unwritable', {
          path: places.log,
          problem: `an event of ${String(sealed.text.length)} characters is too long`,
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
    return next
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
          // The one before ended between the look and the name: then this name means nothing.
          if (lastSequence() + 1 === sequence) return { kind: 'written', anchor: writeInTurn(events) }
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
        await Promise.all([syncDescriptor(log.descriptor), syncDescriptor(anchor.descriptor)])
      } finally {
        syncs -= 1
        closeRetired()
      }
      synced = Math.max(synced, known.sequence)
    },
    position: () => held.known,
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

const writeFully = (descriptor: number, bytes: Buffer): void => {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
}

/** What was written in part is not in the log. Where even this fails, the next writer finds a torn line. */
const takeBack = (descriptor: number, offset: number): void => {
  try {
    ftruncateSync(descriptor, offset)
  } catch {
    // Told by the error that led here.
  }
}

/** Names of turns that are over, left behind by processes that were killed. */
const removeDeadLocks = (log: string, sequence: number, self: string): void => {
  const prefix = `${basename(log)}.lock.`
  for (const name of readdirSync(dirname(log))) {
    const turn = name.startsWith(prefix) ? /^(\d+)(\.\d+)?$/.exec(name.slice(prefix.length))?.[1] : undefined
    if (turn === undefined || Number(turn) > sequence) continue
    try {
      const path = join(dirname(log), name)
      if (isDead(readlinkSync(path), self)) unlinkSync(path)
    } catch {
      // Somebody else was faster.
    }
  }
}
