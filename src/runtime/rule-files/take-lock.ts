// One process at a time changes a file that several may change.
import { readFileSync, readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { randomBytes } from 'node:crypto'

import { codeOf } from '../../errors/index.js'
import { monotonicMs } from '../../shapes/index.js'

const LONGEST_WAIT_MS = 30_000

/** The lock is a link that names this process. The lock of a process that is gone is taken over. */
export const takeLock = async (lock: string): Promise<() => void> => {
  const deadline = monotonicMs() + LONGEST_WAIT_MS
  for (;;) {
    try {
      symlinkSync(String(process.pid), lock)
      return () => {
        remove(lock)
      }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    if (monotonicMs() > deadline) {
      if (isGone(ownerOf(lock))) takeAway(lock)
      else
        throw new Error(
          `the process ${ownerOf(lock) ?? '?'} has been writing to it for too long; if that is gone, remove ${lock}`,
        )
    }
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
  }
}

/** Moved first: of two processes that see the same dead owner only one removes its lock, and never the other's lock. */
const takeAway = (lock: string): void => {
  const aside = `${lock}.${randomBytes(6).toString('hex')}`
  try {
    renameSync(lock, aside)
    if (!isGone(ownerOf(aside))) renameSync(aside, lock)
    else unlinkSync(aside)
  } catch {
    // Another process was faster.
  }
}

const ownerOf = (lock: string): string | undefined => {
  try {
    return readlinkSync(lock)
  } catch {
    return undefined
  }
}

const isGone = (owner: string | undefined): boolean => {
  if (owner === undefined || !/^\d+$/.test(owner)) return true
  try {
    readFileSync(`/proc/${owner}/stat`)
    return false
  } catch {
    return true
  }
}

const remove = (lock: string): void => {
  try {
    unlinkSync(lock)
  } catch {
    // Another process took it over.
  }
}
