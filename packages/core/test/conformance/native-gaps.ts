// Gaps of each form. None of them is a way out of the boundary: each takes something from the tool, or lets it learn a
// name.
import type { Gaps } from './gap.js'

const HOST_PROC = "/proc belongs to the host, and only the program's own entry and figures of the machine are open"

// What a program says when the cell refuses it something. A cell that does not start says none of this.
/** Python at a socket. At a file it names the file. */
export const NO_SOCKET = /^PermissionError: \[Errno 13\] Permission denied($| \(while attempting to bind)/m
export const NO_TMP = '/tmp/f: Permission denied'
export const NO_SHM = '/dev/shm/f: Permission denied'
export const NO_OWN_ENTRY = 'grep: /proc/self/status: Permission denied'
export const NO_DEBUGGER = /\/proc\/PID\/mem file for lwp \S+ failed: Permission denied/

/** In each form. */
export const NATIVE_GAPS: Gaps = {
  'a limit of processes does not make fork fail when a signal arrives': {
    reason:
      'each fork waits for a seccomp listener, and until the listener reads the notification a signal can interrupt ' +
      'the fork: a program whose handler does not restart calls then gets EINTR',
    failure: 'InterruptedError: [Errno 4] Interrupted system call',
  },
}

export const MOUNTS_GAPS: Gaps = {
  ...NATIVE_GAPS,
  'a required mechanism that the host has lets the call run': {
    reason: 'this form is for hosts without Landlock, which the claim requires',
    failure: 'cannot provide landlock: the mounts form was chosen',
  },
}

export const LANDLOCK_GAPS: Gaps = {
  ...NATIVE_GAPS,
  '/tmp can be written': {
    reason: 'the private folder is in the temporary folder of the host, and TMPDIR and HOME name it',
    failure: NO_TMP,
  },
  '/dev/shm can be written': {
    reason: '/dev/shm belongs to the host, and all its processes share it',
    failure: NO_SHM,
  },
  'a program can connect to itself over the loopback without a grant': {
    reason: 'without a network namespace the loopback belongs to the host',
    failure: NO_SOCKET,
  },
  'a program that resolves a granted name by a datagram finds it': {
    reason:
      'without a network namespace a datagram could go anywhere, so names are resolved over a stream, as the C ' +
      'library does here',
    failure: NO_SOCKET,
  },
  'a call can require a mount namespace': {
    reason: 'this form is for hosts without namespaces',
    failure: /cannot provide mount-namespace: .* no namespaces/,
  },
  'names of ungranted files are hidden': {
    reason: 'Landlock refuses to open a file, but not to ask whether it exists',
    failure: /^\[ 'can see \S+\/secret-name' \]$/m,
  },
  'the list of processes shows only the cell': { reason: HOST_PROC, failure: "stdout: '1\\n'" },
  'a child of the program can read its own entry in /proc': { reason: HOST_PROC, failure: NO_OWN_ENTRY },
  'a debugger can stop and read its own child': { reason: HOST_PROC, failure: NO_DEBUGGER },
}
