// One process at a time has the folder of an embedded database open; it looks after that itself no more than a file
// does. Node has no locks that the kernel would give back, so a hold is a name that points to who has it: whoever finds
// its owner dead makes the next name, and looks again whether the one before is still that of the dead. No name is ever
// taken from somebody, so two that find the same owner dead do not both go on.
import { readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs'

import { fail } from '../../errors/index.js'

const MOST_DEATHS = 64

/** Until the returned function is called the folder is this process's. */
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
      // Whoever had it may have let it go meanwhile, and somebody else begun anew.
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

/** Undefined when it was made, otherwise whose it is. */
const make = (me: string, name: string): string | undefined => {
  try {
    symlinkSync(me, name)
    return undefined
  } catch (error) {
    if (codeOf(error) !== 'EEXIST')
      throw fail(
        'store-unavailable',
        { where: name, problem: error instanceof Error ? error.message : String(error) },
        error,
      )
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
    // Somebody tidied up by hand.
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

const namespace = (): string => ownerOf('/proc/self/ns/pid') ?? ''
const boot = (): string => read('/proc/sys/kernel/random/boot_id').slice(0, 8)
/** Behind the name of the program, which may have anything in it: its state first. */
const factsOf = (pid: string): readonly string[] => read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
/** When the process began, in ticks since the boot: numbers of processes are used again. */
const startOf = (pid: string): string => factsOf(pid)[19] ?? ''
/** It has ended, and its parent has not asked for its status yet. In a container without an init nobody ever does. */
const hasEnded = (pid: string): boolean => ['Z', 'X', 'x'].includes(factsOf(pid)[0] ?? '')

const describeSelf = (): string => [process.pid, startOf(String(process.pid)), namespace(), boot()].join(':')

/** Only what is certainly dead is: a process of another pid namespace cannot be looked at from here. */
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
