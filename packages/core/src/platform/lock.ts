// One process at a time changes a file or has a folder open. Node has no locks that the kernel would release, so a lock
// is a symbolic link that names its owner. A process that finds the owner dead makes the next link, and then checks
// that the earlier ones still name the dead. Only the owner of the last link removes links, and its own link last. So
// of two processes that find the same owner dead, one goes on.
import { symlinkSync, unlinkSync } from 'node:fs'

import { readLink } from './at-path.js'
import type { Platform } from './platform.js'
import { PLATFORM } from './platform.js'

const MOST_DEATHS = 64
const LONGEST_WAIT_MS = 30_000

export interface BusyLock {
  readonly kind: 'busy'
  /** The link to remove if its owner is dead, and Cordon cannot see that. */
  readonly name: string
  /** As `describeSelf` names it. */
  readonly owner: string
}

type Lock = BusyLock | { readonly kind: 'taken'; readonly release: () => void }

export const tryLock = (path: string, me = describeSelf()): Lock => {
  const dead: { readonly name: string; readonly owner: string }[] = []
  while (dead.length <= MOST_DEATHS) {
    const name = `${path}${dead.length === 0 ? '' : `.${dead.length}`}`
    if (makeLink(name, me)) {
      // The owner may have released it meanwhile, and another process may have it now.
      const changed = dead.find((link) => readLink(link.name) !== link.owner)
      if (changed === undefined)
        return {
          kind: 'taken',
          release: () => {
            for (const link of [...dead, { name }]) remove(link.name)
          },
        }
      remove(name)
      return { kind: 'busy', name: changed.name, owner: readLink(changed.name) ?? JUST_RELEASED }
    }
    const owner = readLink(name) ?? JUST_RELEASED
    if (!isDead(owner, me)) return { kind: 'busy', name, owner }
    dead.push({ name, owner })
  }
  return { kind: 'busy', name: `${path}*`, owner: 'many that died' }
}

/** Waits for its turn. Returns what releases the lock. */
export const takeLock = async (path: string): Promise<() => void> => {
  const deadline = performance.now() + LONGEST_WAIT_MS
  for (;;) {
    const lock = tryLock(path)
    if (lock.kind === 'taken') return lock.release
    if (performance.now() > deadline)
      throw new Error(
        `the process ${lock.owner.split(':')[0] ?? '?'} has been writing to it for too long; if that is gone, remove ${lock.name}`,
      )
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
  }
}

const JUST_RELEASED = 'just closed'

const makeLink = (name: string, me: string): boolean => {
  try {
    symlinkSync(me, name)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

const remove = (name: string): void => {
  try {
    unlinkSync(name)
  } catch {
    // Somebody removed it by hand.
  }
}

/** `pid:start:namespace:boot`, by which other processes can tell whether this one lives. */
export const describeSelf = (platform: Platform = PLATFORM): string =>
  [
    process.pid,
    platform.factsOf(process.pid)?.start ?? '',
    platform.pidNamespace(),
    platform.bootId().slice(0, 8),
  ].join(':')

/** True only if it is certain: processes of another pid namespace are not visible. */
export const isDead = (owner: string, me: string, platform: Platform = PLATFORM): boolean => {
  const [pid = '', start = '', namespace = '', boot = ''] = owner.split(':')
  const [, , myNamespace = '', myBoot = ''] = me.split(':')
  if (!/^\d{1,10}$/.test(pid)) return false
  if (boot !== '' && myBoot !== '' && boot !== myBoot) return true
  if (namespace !== myNamespace) return false
  const facts = platform.factsOf(Number(pid))
  // Another process may have this number now.
  if (facts !== undefined) return facts.hasEnded || (start !== '' && facts.start !== start)
  return !isRunning(Number(pid))
}

/** Also true of a process of another user. */
export const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
