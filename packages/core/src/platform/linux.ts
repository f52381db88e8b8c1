import { readLink, textOfFile } from './at-path.js'
import type { Platform } from './platform.js'

const ENDED: ReadonlySet<string> = new Set(['Z', 'X', 'x'])

/** The fields after the name of the program, which may contain anything: state ppid pgrp session tty tpgid … */
const statOf = (process: number | 'self'): readonly string[] =>
  (textOfFile(`/proc/${process}/stat`) ?? '').replace(/^.*\)\s/s, '').split(' ')

export const LINUX: Platform = {
  name: 'linux',
  label: 'Linux',
  factsOf: (pid) => {
    const { 0: state = '', 19: start } = statOf(pid)
    // In ticks since the boot. A zombie may stay one for ever in a container without an init.
    return start === undefined ? undefined : { start, hasEnded: ENDED.has(state) }
  },
  pidNamespace: () => /\d+/.exec(readLink('/proc/self/ns/pid') ?? '')?.[0] ?? '',
  bootId: () => textOfFile('/proc/sys/kernel/random/boot_id')?.trim() ?? '',
  pathOfDescriptor: (descriptor) => `/proc/self/fd/${descriptor}`,
  isInForeground: () => {
    const [, , group, , terminal = '0', foreground] = statOf('self')
    return terminal === '0' || group === foreground
  },
}
