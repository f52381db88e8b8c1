// One writer at a time, among processes that know nothing of each other and may be killed at any moment. Node has no
// file locks that the kernel releases, so a turn is a link: the process that makes `….lock.N` may write line N, and
// the link's target names the process. A writer moves the anchor past N before it removes the link. It reads the anchor
// again after it made the link, so it notices a link that was made too late. A process that finds the owner of N dead
// makes `….lock.N.1`, and so on. No link is ever taken from another process, so two that find the same owner dead
// cannot both go on.
import { readlinkSync, symlinkSync, unlinkSync } from 'node:fs'

import { codeOf } from '../../errors/index.js'
import { isDead } from '../../platform/index.js'

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
