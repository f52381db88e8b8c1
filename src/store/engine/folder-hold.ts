// Lets one process at a time open the folder of an embedded database. Node has no locks that the kernel would release,
// so a hold is a symbolic link that names its owner. A process that finds the owner dead makes the next link, and then
// checks that the earlier ones still name the dead. No link is replaced, so only one of two such processes goes on.
import { readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs'

import { codeOf, fail, messageOf } from '../../errors/index.js'

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

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

const namespace = (): string => ownerOf('/proc/self/ns/pid') ?? ''
const boot = (): string => read('/proc/sys/kernel/random/boot_id').slice(0, 8)
/** The fields after the name of the program, which may contain anything. The first is the state. */
const factsOf = (pid: string): readonly string[] => read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
/** The start time in ticks since the boot, because process ids are reused. */
const startOf = (pid: string): string => factsOf(pid)[19] ?? ''
/** A zombie. In a container without an init it may stay one for ever. */
const hasEnded = (pid: string): boolean => ['Z', 'X', 'x'].includes(factsOf(pid)[0] ?? '')

const describeSelf = (): string => [process.pid, startOf(String(process.pid)), namespace(), boot()].join(':')

/** False where it is not certain: processes of another pid namespace cannot be seen. */
const isDead = (owner: string, me: string): boolean => {
  // The name of a pid namespace has a colon of its own: pid:[4026531836].
  const parts = /^(\d+):(\d*):(.*):([0-9a-f]*)$/
  const [, pid = '', start = '', where = '', when = ''] = parts.exec(owner) ?? []
  const [, , , whereNow = '', whenNow = ''] = parts.exec(me) ?? []
  if (pid === '') return false
  if (when !== '' && whenNow !== '' && when !== whenNow) return true
  if (where !== whereNow) return false
  const now = startOf(pid)
  if (now !== '') return hasEnded(pid) || (start !== '' && start !== now)
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}
