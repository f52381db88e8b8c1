// One writer at a time, among processes that know nothing of each other and may be killed at any moment.
// Node has no file locks that the kernel would give back, so a turn is a name: whoever makes the link
// `….lock.N` may write line N, and what it points to says who that is. The anchor is moved past N before
// the name is removed, and read again after the name was made, so a name that was made too late is
// recognised. Who finds that the owner of N is dead makes `….lock.N.1`, and so on: no name is ever taken
// from somebody, so two that find the same owner dead cannot both go on.
import { readFileSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs'

const MAX_DEATHS = 64

export type Turn =
  | { readonly kind: 'taken'; readonly tookOver: boolean; readonly end: () => void }
  | { readonly kind: 'busy'; readonly name: string; readonly owner: string }

export const takeTurn = (prefix: string, sequence: number, me: string): Turn => {
  const dead: string[] = []
  for (let deaths = 0; deaths <= MAX_DEATHS;) {
    const name = `${prefix}.lock.${String(sequence)}${deaths === 0 ? '' : `.${String(deaths)}`}`
    try {
      symlinkSync(me, name)
      return {
        kind: 'taken',
        tookOver: deaths > 0,
        end: () => {
          for (const made of [...dead, name]) remove(made)
        },
      }
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const owner = ownerOf(name)
    // Gone in the meantime.
    if (owner === undefined) return { kind: 'busy', name, owner: '' }
    if (!isDead(owner, me)) return { kind: 'busy', name, owner }
    dead.push(name)
    deaths += 1
  }
  return { kind: 'busy', name: `${prefix}.lock.${String(sequence)}`, owner: 'many that died' }
}

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

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** Of the machine since it was started; empty where it cannot be told. */
export const bootId = (): string => readOr('/proc/sys/kernel/random/boot_id', '').trim()

/** `pid:start:namespace:boot`, by which others can tell whether this process lives. */
export const describeSelf = (): string =>
  [process.pid, startOf(process.pid) ?? '', namespaceOf(), bootId().slice(0, 8)].join(':')

/** Only what is certainly dead is: a process of another pid namespace cannot be looked at from here. */
export const isDead = (owner: string, me: string): boolean => {
  const [pid = '', start = '', namespace = '', boot = ''] = owner.split(':')
  const [, , myNamespace = '', myBoot = ''] = me.split(':')
  if (!/^\d+$/.test(pid)) return false
  if (boot !== '' && myBoot !== '' && boot !== myBoot) return true
  if (namespace !== myNamespace) return false
  if (!isRunning(Number(pid))) return true
  // Another process has its number now.
  const startNow = startOf(Number(pid))
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

/** When it was started, in ticks since the machine was. A zombie has no future, and counts as another process. */
const startOf = (pid: number): string | undefined => {
  const fields = readOr(`/proc/${String(pid)}/stat`, '')
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

const readOr = (path: string, otherwise: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}
