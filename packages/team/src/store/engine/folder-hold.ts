// Lets one process at a time open the folder of an embedded database. Node has no locks that the kernel would release,
// so a hold is a symbolic link that names its owner. A process that finds the owner dead makes the next link, and then
// checks that the earlier ones still name the dead. No link is replaced, so only one of two such processes goes on.
import { readlinkSync, symlinkSync, unlinkSync } from 'node:fs'

import { codeOf, messageOf } from 'cordon/errors'
import { describeSelf, isDead } from 'cordon/runtime'

import { fail } from '../../errors/errors.js'

const MOST_DEATHS = 64

/** Holds the folder until the returned function is called. */
export const holdFolder = (folder: string): (() => void) => {
  const me = describeSelf()
  const dead: { readonly name: string; readonly owner: string }[] = []
  while (dead.length < MOST_DEATHS) {
    const name = `${folder}.hold${dead.length === 0 ? '' : `.${String(dead.length)}`}`
    const owner = make(me, name)
    if (owner === undefined) {
      const release = (): void => {
        for (const each of [...dead.map((one) => one.name), name]) remove(each)
      }
      // The owner may have released it meanwhile, and another process may hold it now.
      const changed = dead.find((one) => ownerOf(one.name) !== one.owner)
      if (changed === undefined) return release
      remove(name)
      throw held(folder, changed.name, ownerOf(changed.name) ?? 'just closed')
    }
    if (!isDead(owner, me)) throw held(folder, name, owner)
    dead.push({ name, owner })
  }
  throw held(folder, `${folder}.hold*`, 'many that died')
}

const held = (folder: string, name: string, owner: string) =>
  fail('store-held', { folder, name, owner: /^\d+:/.test(owner) ? `process ${owner.split(':')[0] ?? ''}` : owner })

/** Makes the link. Returns the owner of an existing one. */
const make = (me: string, name: string): string | undefined => {
  try {
    symlinkSync(me, name)
    return undefined
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw fail('store-unavailable', { where: name, problem: messageOf(error) }, error)
    return ownerOf(name) ?? 'just closed'
  }
}

const ownerOf = (name: string): string | undefined => {
  try {
    return readlinkSync(name)
  } catch {
    return undefined
  }
}

const remove = (name: string): void => {
  try {
    unlinkSync(name)
  } catch {
    // Somebody removed it by hand.
  }
}
