// The anchor: a small file that says where the log ended when it was last written. It has two slots that are
// overwritten in turn, each with its own checksum, so a power cut can spoil only one of them. Replacing the file by a
// rename would be as safe and a thousand times slower (ext4 flushes on such a rename).
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'

import { codeOf, fail } from '../../errors/index.js'
import { canonicalJson } from '../../gate/index.js'

import { hashText } from './chain.js'
import type { ChainEnd } from './chain.js'

const SLOT_BYTES = 512
const SLOTS = 2

export interface Anchor extends ChainEnd {
  /** The id of the log, so that the anchors of two logs cannot be confused. */
  readonly log: string
  /** The number of the log's current file, from 1. */
  readonly file: number
  /** Where the last line ends in the current file. */
  readonly offset: number
  /** The last line that is certainly on the disk. */
  readonly synced: number
  /** The boot id of the machine. It tells lines lost by a power cut from lines that were removed. */
  readonly boot: string
  /** Counts the writes of this file. */
  readonly revision: number
}

const checksum = (anchor: Anchor): string => hashText(canonicalJson({ ...anchor })).slice(7, 39)

const render = (anchor: Anchor): Buffer =>
  Buffer.from(`${canonicalJson({ ...anchor, check: checksum(anchor) }).padEnd(SLOT_BYTES - 1)}\n`)

const parse = (bytes: Buffer): Anchor | undefined => {
  try {
    const { check, ...anchor } = JSON.parse(bytes.toString('utf8')) as Anchor & { readonly check: string }
    return checksum(anchor) === check ? anchor : undefined
  } catch {
    return undefined
  }
}

export interface ReadAnchor {
  readonly anchor: Anchor | undefined
  /** The number of slots that hold something else. */
  readonly damaged: number
}

/** An open anchor. It caches its slots, because it is read before every write. */
export interface AnchorFile {
  readonly descriptor: number
  /** The newer one of the two slots. */
  readonly read: () => ReadAnchor
  /** Overwrites the older slot. */
  readonly write: (anchor: Anchor) => void
  /** 0 if the file was removed, more than 1 if it got another name. */
  readonly names: () => number
}

const anchorFile = (descriptor: number): AnchorFile => {
  const bytes = Buffer.alloc(SLOT_BYTES * SLOTS)
  const slots: { bytes: Buffer; anchor: Anchor | undefined }[] = Array.from({ length: SLOTS }, () => ({
    bytes: Buffer.alloc(0),
    anchor: undefined,
  }))
  return {
    descriptor,
    read: () => {
      const length = readSync(descriptor, bytes, 0, bytes.length, 0)
      let newest: Anchor | undefined
      let damaged = 0
      for (const [index, slot] of slots.entries()) {
        const now = bytes.subarray(0, length).subarray(index * SLOT_BYTES, (index + 1) * SLOT_BYTES)
        if (!now.equals(slot.bytes)) {
          slot.bytes = Buffer.from(now)
          slot.anchor = parse(slot.bytes)
        }
        if (slot.anchor === undefined) damaged += slot.bytes.length > 0 ? 1 : 0
        else if (newest === undefined || slot.anchor.revision > newest.revision) newest = slot.anchor
      }
      return { anchor: newest, damaged }
    },
    write: (anchor) => {
      const index = anchor.revision % SLOTS
      const rendered = render(anchor)
      const written = writeSync(descriptor, rendered, 0, rendered.length, index * SLOT_BYTES)
      if (written !== rendered.length)
        throw Object.assign(new Error('the anchor could not be written as a whole'), { code: 'ENOSPC' })
      slots[index] = { bytes: rendered, anchor }
    },
    names: () => fstatSync(descriptor).nlink,
  }
}

const FLAGS = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
} as const

/** O_NONBLOCK: opening a pipe would wait for its other end. */
export const openAnchor = (path: string, how: keyof typeof FLAGS): AnchorFile => {
  const unsafe = (problem: string) => fail('audit-unsafe-path', { path, problem, fix: 'move it away' })
  let descriptor: number
  try {
    descriptor = openSync(path, FLAGS[how] | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
  } catch (error) {
    throw codeOf(error) === 'ELOOP' ? unsafe('it is a link') : error
  }
  if (fstatSync(descriptor).isFile()) return anchorFile(descriptor)
  closeSync(descriptor)
  throw unsafe('it is no ordinary file')
}

export const readAnchorAt = (path: string): ReadAnchor | undefined => {
  let anchor: AnchorFile
  try {
    anchor = openAnchor(path, 'read')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    return anchor.read()
  } finally {
    closeSync(anchor.descriptor)
  }
}
