// Where the log ended when it was last written, in a file apart. Two slots are overwritten in turn, each
// with a sum of its own: a power cut can spoil the one that is being written, never the other. Replacing
// the file by renaming would do the same and cost a thousand times as much (ext4 flushes on such a rename).
import { closeSync, constants, fdatasync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import { canonicalJson } from '../../gate/index.js'

import { hashText } from './chain.js'
import type { ChainEnd } from './chain.js'

const SLOT_BYTES = 512
const SLOTS = 2

export interface Anchor extends ChainEnd {
  /** Of the log, so that an anchor cannot be taken for that of another. */
  readonly log: string
  /** Which file of the log is the current one; 1 is the first. */
  readonly file: number
  /** Where the last line ends in the current file. */
  readonly offset: number
  /** The last line of which it is known that it is on the disk. */
  readonly synced: number
  /** Of the machine, so that a line that a power cut took can be told from one that somebody took. */
  readonly boot: string
  /** Counts the writings of this file. */
  readonly revision: number
}

const render = (anchor: Anchor): Buffer => {
  const check = hashText(canonicalJson({ ...anchor })).slice(7, 39)
  const text = canonicalJson({ ...anchor, check })
  return Buffer.from(`${text.padEnd(SLOT_BYTES - 1)}\n`)
}

const parse = (bytes: Buffer): Anchor | undefined => {
  try {
    const { check, ...anchor } = JSON.parse(bytes.toString('utf8')) as Anchor & { readonly check: string }
    return hashText(canonicalJson({ ...anchor })).slice(7, 39) === check ? anchor : undefined
  } catch {
    return undefined
  }
}

export interface ReadAnchor {
  readonly anchor: Anchor | undefined
  /** Slots that hold something else than an anchor. */
  readonly damaged: number
}

/** An open anchor. It remembers what it read and wrote, because it is read several times for every line. */
export interface AnchorFile {
  readonly descriptor: number
  /** The newest of what both slots hold. */
  readonly read: () => ReadAnchor
  /** Into the slot that does not hold the anchor in force. */
  readonly write: (anchor: Anchor) => void
  /** 0 when it was removed; more than 1 when somebody gave it another name. */
  readonly names: () => number
}

const BLANK: Buffer = Buffer.alloc(0)

const anchorFile = (descriptor: number): AnchorFile => {
  const bytes = Buffer.alloc(SLOT_BYTES * SLOTS)
  const remembered = Array.from({ length: SLOTS }, () => ({ bytes: BLANK, anchor: undefined as Anchor | undefined }))
  return {
    descriptor,
    read: () => {
      const length = readSync(descriptor, bytes, 0, bytes.length, 0)
      let newest: Anchor | undefined
      let damaged = 0
      for (const [index, slot] of remembered.entries()) {
        const now = bytes.subarray(
          index * SLOT_BYTES,
          Math.max(index * SLOT_BYTES, Math.min(length, (index + 1) * SLOT_BYTES)),
        )
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
      remembered[index] = { bytes: rendered, anchor }
    },
    names: () => fstatSync(descriptor).nlink,
  }
}

const FLAGS = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
} as const

/** A pipe in its place must not keep anybody waiting. */
export const openAnchor = (path: string, how: keyof typeof FLAGS): AnchorFile => {
  const descriptor = openSync(path, FLAGS[how] | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
  if (fstatSync(descriptor).isFile()) return anchorFile(descriptor)
  closeSync(descriptor)
  throw fail('audit-unsafe-path', { path, problem: 'it is no ordinary file', fix: 'move it away' })
}

export const readAnchorAt = (path: string): ReadAnchor | undefined => {
  let anchor: AnchorFile
  try {
    anchor = openAnchor(path, 'read')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  try {
    return anchor.read()
  } finally {
    closeSync(anchor.descriptor)
  }
}

export const syncDescriptor = (descriptor: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fdatasync(descriptor, (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
