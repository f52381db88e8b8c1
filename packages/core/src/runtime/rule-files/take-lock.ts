// One process at a time changes a file that several may change.
import { readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { randomBytes } from 'node:crypto'

import { codeOf } from '../../errors/index.js'
import { describeSelf, isDead } from '../../platform/index.js'
import { monotonicMs } from '../../shapes/index.js'

const LONGEST_WAIT_MS = 30_000

/** The lock is a link that names this process. The lock of a process that is gone is taken over. */
export const takeLock = async (lock: string): Promise<() => void> => {
  const me = describeSelf()
  const deadline = monotonicMs() + LONGEST_WAIT_MS
  for (;;) {
    try {
      symlinkSync(me, lock)
      return () => {
        remove(lock)
      }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    if (monotonicMs() > deadline) {
      if (isGone(ownerOf(lock), me)) takeAway(lock, me)
      else
        throw new Error(
          `the process ${ownerOf(lock)?.split(':')[0] ?? '?'} has been writing to it for too long; if that is gone, remove ${lock}`,
        )
    }
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
  }
}

/** Moved first: of two processes that see the same dead owner only one removes its lock, and never the other's lock. */
const takeAway = (lock: string, me: string): void => {
  const aside = `${lock}.${randomBytes(6).toString('hex')}`
  try {
    renameSync(lock, aside)
    if (!isGone(ownerOf(aside), me)) renameSync(aside, lock)
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

const isGone = (owner: string | undefined, me: string): boolean =>
  owner === undefined || !/^\d+:/.test(owner) || isDead(owner, me)

const remove = (lock: string): void => {
  try {
    unlinkSync(lock)
  } catch {
    // Another process took it over.
  }
}
