// Gaps of each form. None of them is a way out of the boundary: each takes something from the tool, or lets it learn a
// name.
const NO_NAMESPACES = 'this form is for hosts without namespaces'
const HOST_PROC = "/proc belongs to the host, and only the program's own entry and figures of the machine are open"

/** In each form. */
export const NATIVE_GAPS: Readonly<Record<string, string>> = {
  'a limit of processes does not make fork fail when a signal arrives':
    'each fork waits for a seccomp listener, and until the listener reads the notification a signal can interrupt ' +
    'the fork: a program whose handler does not restart calls then gets EINTR',
}

export const MOUNTS_GAPS: Readonly<Record<string, string>> = {
  ...NATIVE_GAPS,
  'a required mechanism that the host has lets the call run':
    'this form is for hosts without Landlock, which the claim requires',
}

export const LANDLOCK_GAPS: Readonly<Record<string, string>> = {
  ...NATIVE_GAPS,
  '/tmp can be written': 'the private folder is in the temporary folder of the host, and TMPDIR and HOME name it',
  '/dev/shm can be written': '/dev/shm belongs to the host, and all its processes share it',
  'a program can connect to itself over the loopback without a grant':
    'without a network namespace the loopback belongs to the host',
  'a program that resolves a granted name by a datagram finds it':
    'without a network namespace a datagram could go anywhere, so names are resolved over a stream, as the C ' +
    'library does here',
  'a call can require a mount namespace': NO_NAMESPACES,
  'names of ungranted files are hidden': 'Landlock refuses to open a file, but not to ask whether it exists',
  'the list of processes shows only the cell': HOST_PROC,
  'a child of the program can read its own entry in /proc': HOST_PROC,
  'a debugger can stop and read its own child': HOST_PROC,
}
