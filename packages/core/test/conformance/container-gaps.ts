// Gaps of cells inside containers. None of them is a way out of the boundary.
import { AREAS } from './cases.js'
import type { Area } from './claim.js'
import { gapsFor } from './gap.js'
import type { Gaps } from './gap.js'
import { NATIVE_GAPS, NO_DEBUGGER, NO_OWN_ENTRY, NO_SHM, NO_SOCKET, NO_TMP } from './native-gaps.js'

const OF_IMAGE = gapsFor(
  'the tool can read and list the whole image. Grants are about paths of the host',
  // In the last claim the file of the host is absent, but the folder of the image can be listed.
  /^\[ 'can (read \/etc\/(passwd|shadow)|list \/root)' \]$|^expected '0\\n' to be '2\\n'/m,
  [
    'by default only programs, libraries and settings of the system are granted',
    '~ is the home of the resolved policy',
    'the preset workspace grants the project',
    'a carve-out applies to presets',
    'the temporary files of the host and of other users are absent',
  ],
)

const PROGRAMS = gapsFor(
  'the command is a program of the image, or in a granted path',
  /^program not found: \S+\/(text|folder|odd|own)\b/,
  [
    'a file that is not executable is refused',
    'a folder as the program is refused',
    'an executable file that is not a program is refused',
    'a program outside every grant can be the command, without the files beside it',
  ],
)

const WORKING_DIRECTORY = gapsFor(
  'a working directory that is not granted becomes that of the image',
  /exitCode: 0, (stdout: '\/\\n'|[^]* cwd: '\/')/,
  [
    'an ungranted working directory keeps its path',
    'a missing folder is refused',
    'a file is refused',
    'a folder beneath a file is refused',
  ],
)

const NAMES = gapsFor(
  'container engines cannot mount a path with such characters, so the call is refused',
  'container engines cannot mount a path with',
  [
    'a folder with an odd name can be the working directory',
    ...[
      'a line break',
      'quotes',
      'characters of patterns',
      'a backslash',
      'a comma and a colon',
      'control characters',
    ].map((kind) => `a file whose name has ${kind} is granted by exactly that name`),
    'a name that is not UTF-8 beside the files of a pattern does not matter',
    'a protected name in a folder whose name is not UTF-8 stays protected, and the call runs',
  ],
)

const LINKS = gapsFor(
  'a granted link is refused, because the image may not have what it leads to',
  'an image may have another one of this name',
  ['a pattern follows no links', 'links of the system itself are followed'],
)

const COVERED = gapsFor(
  'the null device covers a carved-out file: it exists, reads as empty, and loses what is written to it',
  /^\[( 'can on a device (read|write) \S+',?)+ \]$/m,
  [
    ...['by its path', 'by a pattern'].map(
      (how) => `a file carved out of a write root (${how}) can be neither changed nor moved nor read`,
    ),
    'a carve-out of reading is absent, and the files beside it are not',
    'a carve-out of reading also removes writing',
    'a carve-out wins over a grant that comes after it',
    'a carve-out through a link applies to its target',
    'new files can be created beside a carve-out of a write root',
  ],
)

const EXEC = gapsFor(
  'a list of programs is refused: those of an image are not looked up before it runs',
  'Cordon does not see the programs of an image',
  [
    'exec: none runs only the command itself',
    'exec: none runs a script with its interpreter',
    'exec: none runs programs that load libraries',
    'a list of programs allows exactly those, by name or path',
    'a copy of a listed program cannot run',
    'a cell runs only the program that it was prepared for',
    'the profile names what enforces each closed boundary',
    'the profile refers to each violation',
  ],
)

const NETWORK_ALL = gapsFor(
  'network: all is refused, because the container has no network',
  'a container of Cordon has no network',
  [
    'with network: all a service is reached',
    'with network: all a program can connect to its own service',
    'a Unix socket of the host in a granted folder is not reached (network: all)',
    'the profile claims nothing about open sections',
  ],
)

const LOOPBACK = gapsFor(
  'the launcher inside does not use the loopback of the container, and refuses it as if it were of the host',
  // Docker refuses pidfd_getfd, so there the kernel answers bind(), and not the keeper.
  new RegExp(`${NO_SOCKET.source}|${/^OSError: \[Errno 22\] Invalid argument \(while attempting to bind/.source}`, 'm'),
  [
    'a program can connect to itself over the loopback without a grant',
    'a program that resolves a granted name by a datagram finds it',
  ],
)

const PROC = "/proc belongs to the container, and only the program's own entry and figures are open"

export const CONTAINER_GAPS: Gaps = {
  ...NATIVE_GAPS,
  ...OF_IMAGE,
  ...PROGRAMS,
  ...WORKING_DIRECTORY,
  ...NAMES,
  ...LINKS,
  ...COVERED,
  ...EXEC,
  ...NETWORK_ALL,
  ...LOOPBACK,
  'a child of the program can read its own entry in /proc': { reason: PROC, failure: NO_OWN_ENTRY },
  'a debugger can stop and read its own child': { reason: PROC, failure: NO_DEBUGGER },
  'a folder that a pattern matches is visible, but not its content': {
    reason: 'such a folder is not in the container',
    failure: /^\[ 'cannot see \S+\/data\/sub' \]$/m,
  },
  '/tmp can be written': {
    reason: 'the private folder is in /tmp of the container, and TMPDIR and HOME name it',
    failure: NO_TMP,
  },
  '/dev/shm can be written': {
    reason: 'the engine makes a folder of its own there, which no limit of the call counts',
    failure: NO_SHM,
  },
  'the whole temporary folder of the host can be granted, beside the private one': {
    reason: 'a folder at the top of the host is refused: it would cover that of the image',
    failure: 'it would cover the folder of the image with the same name',
  },
  'the list of processes shows only the cell': {
    reason: 'it shows the supervisor of the cell, too, which is inside the container',
    failure: "stdout: '4\\n'",
  },
}

/** The end of a container arrives over its engine, at no certain time: a call may get one that has just ended. */
const UNTRIED = 'a waiting cell that dies is replaced without a failed call'

export const CONTAINER_AREAS: readonly Area[] = AREAS.map(({ title, claims }) => ({
  title,
  claims: claims.filter(({ claim }) => claim !== UNTRIED),
}))
