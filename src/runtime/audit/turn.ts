// One writer at a time, among processes that know nothing of each other and may be killed at any moment. Node has no
// file locks that the kernel releases, so a turn is a link: the process that makes `….lock.N` may write line N, and
// the link's target names the process. A writer moves the anchor past N before it removes the link. It reads the anchor
// again after it made the link, so it notices a link that was made too late. A process that finds the owner of N dead
// makes `….lock.N.1`, and so on. No link is ever taken from another process, so two that find the same owner dead
// cannot both go on.
import { readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs'

import { codeOf } from '../../errors/index.js'

const MAX_DEATHS = 64

export type Turn =
  | { readonly kind: 'taken'; readonly end: () => void }
  | { readonly kind: 'busy'; readonly name: string; readonly owner: string }

export const takeTurn = (prefix: string, sequence: number, me: string): Turn => {
  const dead: string[] = []
  while (dead.length <= MAX_DEATHS) {
    const name = `${prefix}.lock.${sequence}${dead.length === 0 ? '' : `.${dead.length}`}`
    try {
      symlinkSync(me, name)
      return {
        kind: 'taken',
        end: () => {
          for (const made of [...dead, name]) remove(made)
        },
      }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const owner = ownerOf(name)
    if (owner === undefined || !isDead(owner, me)) return { kind: 'busy', name, owner: owner ?? '' }
    dead.push(name)
  }
  return { kind: 'busy', name: `${prefix}.lock.${sequence}`, owner: 'many that died' }
}

/** Undefined if the turn is over. */
const ownerOf = (name: string): string | undefined => {
  try {
    return readlinkSync(name)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const remove = (name: string): void => {
  try {
    unlinkSync(name)
  } catch {
    // If nothing can be removed, nothing can be written either, and that is reported.
  }
}

/** Changes when the machine is started. Empty where it is not known. */
export const bootId = (): string => readOrEmpty('/proc/sys/kernel/random/boot_id').trim()

/** `pid:start:namespace:boot`, by which other processes can tell whether this one lives. */
export const describeSelf = (): string =>
  [process.pid, startOf(process.pid) ?? '', namespaceOf(), bootId().slice(0, 8)].join(':')

/** True only if it is certain: processes of another pid namespace are not visible. */
export const isDead = (owner: string, me: string): boolean => {
  const [pid = '', start = '', namespace = '', boot = ''] = owner.split(':')
  const [, , myNamespace = '', myBoot = ''] = me.split(':')
  if (!/^\d+$/.test(pid)) return false
  if (boot !== '' && myBoot !== '' && boot !== myBoot) return true
  if (namespace !== myNamespace) return false
  if (!isRunning(Number(pid))) return true
  const startNow = startOf(Number(pid))
  // Another process has this pid now.
  return start !== '' && startNow !== undefined && startNow !== start
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

const ZOMBIE_OR_DEAD = /^[ZXx]$/

/** The start time in ticks since boot. A zombie will write no more, so it gets a value of its own. */
const startOf = (pid: number): string | undefined => {
  const fields = readOrEmpty(`/proc/${pid}/stat`)
    .replace(/^.*\)\s/s, '')
    .split(' ')
  if (fields.length < 20) return undefined
  return ZOMBIE_OR_DEAD.test(fields[0] ?? '') ? 'zombie' : fields[19]
}

const namespaceOf = (): string => {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  } catch {
    return ''
  }
}

const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
