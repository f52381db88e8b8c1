// Whether another process lives, for locks. Node has no file locks that the kernel would release.
import type { Platform } from './platform.js'
import { PLATFORM } from './platform.js'

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
