// Lets one process at a time open the folder of an embedded database.
import { messageOf } from 'cordon/errors'
import { tryLock } from 'cordon/runtime'

import { fail } from '../../errors/errors.js'

/** Holds the folder until the returned function is called. */
export const holdFolder = (folder: string): (() => void) => {
  const lock = lockOf(`${folder}.hold`)
  if (lock.kind === 'taken') return lock.release
  const { name, owner } = lock
  throw fail('store-held', {
    folder,
    name,
    owner: /^\d+:/.test(owner) ? `process ${owner.split(':')[0] ?? ''}` : owner,
  })
}

const lockOf = (name: string): ReturnType<typeof tryLock> => {
  try {
    return tryLock(name)
  } catch (error) {
    throw fail('store-unavailable', { where: name, problem: messageOf(error) }, error)
  }
}
