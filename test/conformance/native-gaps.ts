// What the form without namespaces does not give. None of these is a way out of the boundary: each takes
// something away from the tool, or lets it learn a name.
const NO_NAMESPACES = 'this form is for hosts that have no namespaces to give'
const HOST_PROC =
  "it is the /proc of the host, of which only the program's own process and figures of the machine are open"

/** In both forms. */
export const NATIVE_GAPS: Readonly<Record<string, string>> = {
  'a limit of processes does not make fork fail when a signal comes in':
    'each fork is asked about through a seccomp listener, and until the question is heard the kernel lets a ' +
    'signal interrupt it: a program whose handler does not restart calls then sees EINTR',
}

export const LANDLOCK_GAPS: Readonly<Record<string, string>> = {
  ...NATIVE_GAPS,
  '/tmp can be written': 'the private folder is one in the temporary folder of the host, named by TMPDIR and HOME',
  '/dev/shm can be written': 'it is the folder of the host, shared by all its processes',
  'a program can talk to itself over the loopback without a grant':
    'without a network namespace the loopback is that of the host',
  'a program that asks for a granted name by a datagram finds it':
    'without a network namespace a datagram could go anywhere; names are asked for over a stream, which the ' +
    'C library does here',
  'a call can require a mount namespace': NO_NAMESPACES,
  'names of files that are not granted are hidden': 'Landlock refuses to open a file, not to ask whether there is one',
  'the list of processes is that of the cell': HOST_PROC,
  'a child of the program can look at itself in /proc': HOST_PROC,
  'a debugger stops its own child and looks into it': HOST_PROC,
}
