// What every program on macOS needs of the system, each with its reason. Nothing else of the system is allowed.
import type { AbsolutePath } from '../../policy/index.js'

import type { RealObject } from '../grants/object-at.js'

const folder = (path: string): RealObject => ({ path: path as AbsolutePath, object: 'directory' })
const file = (path: string): RealObject => ({ path: path as AbsolutePath, object: 'file' })

/** To read, and to load code from. Apple's own files, which are the same on every Mac. */
export const SYSTEM_FILES: readonly RealObject[] = [
  folder('/usr/lib'), // dyld, and the libraries that are files
  folder('/System/Library'), // frameworks
  folder('/System/Cryptexes/OS'), // the cache of all other libraries, since macOS 13
  folder('/System/Volumes/Preboot/Cryptexes/OS'), // the same, by its other name
  folder('/private/var/db/dyld'), // the same, until macOS 12
  folder('/Library/Apple/System/Library'), // Rosetta
  folder('/usr/share'), // locales, time zones
  folder('/private/var/db/timezone'),
  file('/private/etc/localtime'),
]

/** Links of the system on the way to granted files. Programs look at them when they resolve a path. */
export const SYSTEM_LINKS = ['/', '/etc', '/tmp', '/var'] as const

export const READ_DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom'] as const
export const WRITE_DEVICES = ['/dev/null', '/dev/zero'] as const

/**
 * Services of other processes. Each is a way out of the sandbox, so there is one.
 *
 * Not here: mDNSResponder (names are resolved by the proxy), trustd (fetches addresses that a certificate names),
 * launchservicesd and lsd (start programs outside), cfprefsd (preferences of all programs), pboard (the clipboard),
 * SecurityServer (the keychain), logd and notifyd (nothing fails without them).
 */
export const MACH_SERVICES = [
  // The name and home of the user by its number: getpwuid() of Node, git, shells.
  'com.apple.system.opendirectoryd.libinfo',
] as const

/** With `network: all` alone. */
export const RESOLVER = '/private/var/run/mDNSResponder'

/** Figures of the machine that libc, V8, Python and Go ask for. No list and no arguments of processes. */
export const SYSCTLS: readonly string[] = [
  'hw.activecpu hw.byteorder hw.cachelinesize hw.cpufamily hw.cputype hw.logicalcpu hw.logicalcpu_max hw.machine',
  'hw.memsize hw.ncpu hw.nperflevels hw.packages hw.pagesize hw.pagesize_compat hw.physicalcpu hw.physicalcpu_max',
  'kern.argmax kern.hostname kern.maxfilesperproc kern.osproductversion kern.osrelease kern.ostype kern.osversion',
  'kern.osvariant_status kern.secure_kernel kern.usrstack64 kern.version sysctl.proc_cputype',
].flatMap((names) => names.split(' '))

export const SYSCTL_PREFIXES: readonly string[] = ['hw.optional.', 'hw.perflevel', 'machdep.cpu.']
