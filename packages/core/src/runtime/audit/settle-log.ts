// Makes log and anchor agree before anything is written: after another writer, a killed one, or a power cut. Any other
// difference means that somebody changed the log. Then nothing is written until a person has looked at it.
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs'

import { codeOf, fail } from '../../errors/index.js'

import type { EventOf } from '../events/event.js'
import { openAnchor } from './anchor.js'
import type { Anchor, AnchorFile } from './anchor.js'
import { broken, fullFile, isSameFile, openLogFile, statOf, tornFile } from './audit-files.js'
import type { AuditPlaces, OpenFile } from './audit-files.js'
import { CHAIN_BEGIN, hashText, readLine } from './chain.js'
import type { ChainEnd } from './chain.js'

/** The files that a writer holds open, and the state it left them in. */
export interface HeldLog {
  log: OpenFile | undefined
  anchor: AnchorFile | undefined
  known: Anchor | undefined
  /** Descriptors of rotated files. An fsync may still use them. */
  readonly retired: number[]
  /** A repair that is not in the log yet. */
  repair: Repair | undefined
}

export type Repair = Pick<
  EventOf<'audit.repaired'>,
  'adopted_lines' | 'torn_bytes' | 'torn_hash' | 'torn_file' | 'lost_lines'
>

export interface SettleSettings {
  readonly places: AuditPlaces
  readonly boot: string
  readonly newId: () => string
}

/** Called only under the lock. Returns an anchor that agrees with the open log. */
export const settleLog = (held: HeldLog, settings: SettleSettings): Anchor => {
  const { log: path } = settings.places
  const anchor = finishRotation(held, settings, currentAnchor(held, settings))
  const log = currentFile(held, anchor, path)
  const size = fstatSync(log.descriptor).size
  if (size === anchor.offset) return anchor
  return size > anchor.offset
    ? adopt(held, settings, { anchor, log, size })
    : accountForLoss(held, settings, { anchor, log, size })
}

const currentAnchor = (held: HeldLog, { places, boot, newId }: SettleSettings): Anchor => {
  const { log } = places
  held.anchor ??= openOrMake(places)
  const names = held.anchor.names()
  if (names !== 1)
    throw broken(
      log,
      names === 0
        ? 'its anchor was removed'
        : 'its anchor has a second name (a hard link), through which it could be changed',
    )
  const { anchor, damaged } = held.anchor.read()
  if (anchor === undefined) {
    if (damaged > 0) throw broken(log, 'its anchor holds no anchor')
    if (isThere(log)) throw broken(log, 'its anchor is empty')
    const first = { ...CHAIN_BEGIN, log: newId(), file: 1, offset: 0, synced: 0, boot, revision: 1 }
    held.anchor.write(first)
    return first
  }
  if (held.known !== undefined && (anchor.log !== held.known.log || anchor.revision < held.known.revision))
    throw broken(log, 'it was put back to an older state, or replaced by another')
  return anchor
}

/** The anchor is made first: the anchor of a log without one was removed. */
const openOrMake = ({ log, anchor: path }: AuditPlaces): AnchorFile => {
  try {
    return openAnchor(path, 'write')
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  if (statOf(log)?.isFile() === false)
    throw fail('audit-unsafe-path', {
      path: log,
      problem: 'it is a link, a folder or a device',
      fix: 'name an ordinary file',
    })
  if (isThere(log)) throw broken(log, 'it has no anchor')
  return openAnchor(path, 'create')
}

const isThere = (log: string): boolean => (statOf(log)?.size ?? 0) > 0 || statOf(fullFile(log, 1)) !== undefined

/** A writer died after it renamed the full file. */
const finishRotation = (held: HeldLog, { places: { log: path } }: SettleSettings, anchor: Anchor): Anchor => {
  if (anchor.offset === 0 || statOf(fullFile(path, anchor.file)) === undefined) return anchor
  if ((statOf(path)?.size ?? 0) > 0) throw broken(path, `both it and ${fullFile(path, anchor.file)} are there`)
  return moveToNextFile(held, anchor)
}

const moveToNextFile = (held: HeldLog, anchor: Anchor): Anchor => {
  const next = { ...anchor, file: anchor.file + 1, offset: 0, revision: anchor.revision + 1 }
  held.anchor?.write(next)
  return next
}

/** Gives the full file a name of its own. */
export const rotate = (held: HeldLog, path: string, anchor: Anchor): Anchor => {
  const full = fullFile(path, anchor.file)
  if (statOf(full) !== undefined) throw broken(path, `there is a file ${full} already`)
  if (held.log !== undefined) fdatasyncSync(held.log.descriptor)
  renameSync(path, full)
  const next = moveToNextFile(held, anchor)
  currentFile(held, next, path)
  return next
}

const currentFile = (held: HeldLog, anchor: Anchor, path: string): OpenFile => {
  const stats = statOf(path)
  if (stats !== undefined && held.log !== undefined && isSameFile(stats, held.log)) {
    if (stats.nlink > 1) throw broken(path, 'it got a second name (a hard link), through which it could be changed')
    return held.log
  }
  // Another writer may have rotated. Otherwise it must be the same file.
  if (held.log !== undefined && held.known?.file === anchor.file)
    throw broken(path, stats === undefined ? 'it was removed' : 'it was replaced')
  if (stats === undefined && anchor.offset > 0) throw broken(path, 'it was removed')
  if (held.log !== undefined) held.retired.push(held.log.descriptor)
  // Stays undefined if the file cannot be opened.
  held.log = undefined
  held.log = openLogFile(path, stats === undefined ? 'new' : 'existing')
  return held.log
}

interface Uneven {
  readonly anchor: Anchor
  readonly log: OpenFile
  readonly size: number
}

/** A writer was killed between the log and the anchor, or in the middle of the log. */
const adopt = (held: HeldLog, { places }: SettleSettings, { anchor, log, size }: Uneven): Anchor => {
  const tail = readRange(log.descriptor, anchor.offset, size)
  const walked = walkTail(tail, anchor)
  const torn = tail.subarray(walked.bytes)
  held.repair = {
    ...NO_REPAIR,
    ...held.repair,
    adopted_lines: walked.lines,
    ...cutOff(places.log, log, anchor.offset + walked.bytes, torn, walked.end.sequence),
  }
  return { ...anchor, ...walked.end, offset: anchor.offset + walked.bytes }
}

const NO_REPAIR: Repair = { adopted_lines: 0, torn_bytes: 0, torn_hash: null, torn_file: null, lost_lines: 0 }

/** Lines are missing. A power cut takes only what was not on the disk yet. */
const accountForLoss = (held: HeldLog, { places, boot }: SettleSettings, { anchor, log, size }: Uneven): Anchor => {
  const missing = `it is ${anchor.offset - size} bytes shorter than its anchor says`
  if (boot === '' || anchor.boot === '' || boot === anchor.boot) throw broken(places.log, missing)
  const bytes = readRange(log.descriptor, 0, size)
  const first = bytes.indexOf(0x0a)
  const begin = first === -1 ? undefined : beginOf(bytes.toString('utf8', 0, first))
  if (begin === undefined && anchor.file > 1) throw broken(places.log, missing)
  const walked = walkTail(bytes, begin ?? CHAIN_BEGIN)
  if (walked.end.sequence < anchor.synced) throw broken(places.log, `${missing}, and those were on the disk`)
  held.repair = {
    ...NO_REPAIR,
    ...cutOff(places.log, log, walked.bytes, bytes.subarray(walked.bytes), walked.end.sequence),
    lost_lines: anchor.sequence - walked.end.sequence,
  }
  return { ...anchor, ...walked.end, offset: walked.bytes }
}

/** The end of the chain before the first line of a file. */
const beginOf = (text: string): ChainEnd | undefined => {
  try {
    const { sequence, previous } = JSON.parse(text) as { readonly sequence: number; readonly previous: string }
    return { sequence: sequence - 1, hash: previous }
  } catch {
    return undefined
  }
}

/** Moves a torn line out of the log into a file beside it, for people to look at. */
const cutOff = (
  path: string,
  { descriptor }: OpenFile,
  at: number,
  torn: Buffer,
  sequence: number,
): Partial<Repair> => {
  if (torn.length === 0) return {}
  const name = putAside(path, torn, sequence)
  ftruncateSync(descriptor, at)
  return { torn_bytes: torn.length, torn_hash: hashText(torn), torn_file: name }
}

const MAX_ATTEMPTS = 100

const putAside = (path: string, torn: Buffer, sequence: number): string => {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const name = tornFile(path, sequence + 1, attempt)
    try {
      const descriptor = openSync(name, 'wx', 0o600)
      try {
        writeFileSync(descriptor, torn)
      } finally {
        closeSync(descriptor)
      }
      return name
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
  throw broken(path, 'there are too many unfinished lines beside it')
}

const LINE_FEED = 0x0a

/** The whole lines that continue the chain: how many lines and bytes, and where the chain then ends. */
const walkTail = (
  tail: Buffer,
  from: ChainEnd,
): { readonly end: ChainEnd; readonly lines: number; readonly bytes: number } => {
  let end = from
  let lines = 0
  let at = 0
  for (;;) {
    const feed = tail.indexOf(LINE_FEED, at)
    if (feed === -1) break
    const read = readLine(tail.toString('utf8', at, feed))
    if (
      read.kind === 'unreadable' ||
      !read.isIntact ||
      read.line.previous !== end.hash ||
      read.line.sequence !== end.sequence + 1
    )
      break
    end = { sequence: read.line.sequence, hash: read.line.hash }
    lines += 1
    at = feed + 1
  }
  return { end, lines, bytes: at }
}

const readRange = (descriptor: number, from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(to - from)
  let at = 0
  while (at < bytes.length) {
    const read = readSync(descriptor, bytes, at, bytes.length - at, from + at)
    if (read === 0) break
    at += read
  }
  return bytes.subarray(0, at)
}
