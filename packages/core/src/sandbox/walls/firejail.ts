// firejail: the thinnest wall. It brings namespaces for processes, network and IPC. Files stay with Landlock.
import { readFileSync } from 'node:fs'

import { fail } from '../../errors/index.js'

import type { Wall } from './wall.js'

/** Every word reaches a program that may give its command to a shell. */
const PLAIN_WORD = /^[A-Za-z0-9_./,:=@+-]+$/

const WORDS = [
  ...['--quiet', '--noprofile', '--keep-fd=3,4', '--ipc-namespace', '--caps.drop=all', '--nonewprivs'],
  // Which files can be written is for Landlock to say. Here the same files stay as they are.
  ...['--writable-etc', '--writable-var', '--writable-var-log', '--keep-var-tmp', '--writable-run-user'],
]

export const firejail = (program: string, launcher: string): Wall => ({
  name: 'firejail',
  program,
  brings: ['pid-namespace', 'network-namespace', 'ipc-namespace'],
  command: ({ network }) => {
    const words = [...WORDS, ...(network === 'own' ? ['--net=none'] : []), '--', launcher, 'channel']
    const other = words.find((word) => !PLAIN_WORD.test(word))
    if (other !== undefined)
      throw fail('plan-rejected', {
        problem:
          `firejail could read ${JSON.stringify(other)} otherwise; install Cordon in a folder whose path has only ` +
          'letters, digits and ._@+-',
      })
    return { words, inputs: [] }
  },
  // It mounts nothing of the plan. Inside another sandbox it starts its command without any namespace of its own.
  // Otherwise one clone() makes all that its words ask for, or it fails. So the pid namespace stands for the others: an
  // ordinary user may not read /proc/PID/ns of a process of firejail.
  departure: (_, inside) => {
    const pid = inside()
    return pid !== undefined && pidNamespacesAround(pid) > pidNamespacesAround('self')
      ? undefined
      : 'firejail made no namespaces, as it does inside another sandbox'
  },
})

/** How many pid namespaces a process is in. The kernel tells this to everybody. */
const pidNamespacesAround = (pid: number | 'self'): number =>
  (/^NSpid:(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '').trim().split(/\s+/).length
