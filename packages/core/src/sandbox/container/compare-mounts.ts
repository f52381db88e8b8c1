// Compares the mounts of a container, as its launcher sees them, with those that were asked for. An engine follows
// symbolic links: if another program replaced a folder meanwhile, a mount would show or cover another one.
import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { PLATFORM } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import { WRITABLE_DEVICES } from '../plan/layout.js'
import type { Hello, ObjectNumbers, SeenMount } from './hello.js'
import type { Bind } from './granted-mounts.js'

/** What of this host is needed for the comparison. */
export interface OwnView {
  readonly bootId: string
  /** Of the object at a path without links. Undefined if there is none. */
  readonly numbersOf: (path: AbsolutePath) => ObjectNumbers | undefined
}

export interface AskedMounts {
  readonly binds: readonly Bind[]
  /** Paths of mounts that show nothing granted: the launcher, the temporary folder, the volumes of the image. */
  readonly others: readonly string[]
}

/** The tool can read every mount in its container, so one that nobody asked for is refused. Pure. */
export const mountsProblem = (asked: AskedMounts, hello: Hello, own: OwnView): CordonError | undefined => {
  const seen = new Map(hello.mounts.map((mount) => [mount.point, mount]))
  if (!seen.has('/')) return incomparable('its launcher cannot read /proc/self/mountinfo')
  if (asked.binds.length > 0 && (own.bootId === '' || hello.bootId !== own.bootId))
    return incomparable('it runs on another kernel than Cordon, for example in a virtual machine')
  for (const bind of asked.binds) {
    const problem = problemOf(bind, seen.get(bind.path), own)
    if (problem !== undefined) return fail('profile-mismatch', { problem: `${problem}: ${bind.path}` })
  }
  const stray = hello.mounts.find((mount) => isStray(mount, asked, own))
  return stray === undefined ? undefined : fail('container-mount-unasked', { path: stray.point })
}

const incomparable = (problem: string): CordonError => fail('container-mounts-incomparable', { problem })

/** Made by Podman and Docker for every container, with content of their own. */
const OF_ENGINES = [
  ...['/', '/run', '/run/.containerenv', '/var/tmp'],
  ...['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/etc/passwd', '/etc/group'],
]

/** The kernel's views and devices. Landlock grants the tool a few of them, each by its own rule. */
const OF_KERNEL = ['/dev', '/proc', '/sys'].map((path) => path as AbsolutePath)

const NULL_DEVICE = '/dev/null' as AbsolutePath

const problemOf = (bind: Bind, mount: SeenMount | undefined, own: OwnView): string | undefined => {
  if (mount === undefined) return 'a mount is missing'
  if (bind.access !== 'write' && !mount.isReadOnly) return 'a mount can be written'
  return isShown(bind, mount, own) ? undefined : 'a mount shows something else'
}

const isShown = ({ path, access, object }: Bind, mount: SeenMount, own: OwnView): boolean => {
  const there = own.numbersOf(path)
  if (access !== 'hide') return isSame(mount, there)
  if (object !== 'directory') return isSame(mount, own.numbersOf(NULL_DEVICE))
  return there !== undefined && !isSame(mount, there)
}

const isStray = (mount: SeenMount, { binds, others }: AskedMounts, own: OwnView): boolean => {
  const point = mount.point as AbsolutePath
  // A rootless engine binds the host's own. A volume of the image would be a folder to write to.
  if (WRITABLE_DEVICES.some((device) => isWithinPath(point, device))) return !isSame(mount, own.numbersOf(point))
  // A volume of the image at /dev would have folders to write to in the place of devices.
  if (OF_KERNEL.some((folder) => isWithinPath(point, folder))) return others.includes(point)
  const around = binds.filter(({ path }) => isWithinPath(point, path)).at(-1)
  if (around === undefined) return !others.includes(point) && !OF_ENGINES.includes(point)
  if (around.path === point) return false
  // A mount of the host below a granted folder comes with it. A volume of the image there would cover the host's files.
  const isOfHost = isSame(mount, own.numbersOf(point))
  return around.access === 'hide' || !isOfHost || (around.access === 'read' && !mount.isReadOnly)
}

const isSame = (mount: ObjectNumbers, there: ObjectNumbers | undefined): boolean =>
  there !== undefined && mount.inode === there.inode && mount.device === there.device

/** Opens an object without any right to its content. Node has no name for it. */
const O_PATH = 0o10000000

/** The container holds what it mounted, so the numbers that it told cannot have passed to another object. */
export const viewOfHost = (): OwnView => ({ bootId: PLATFORM.bootId(), numbersOf })

const numbersOf = (path: AbsolutePath): ObjectNumbers | undefined => {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW)
    // The kernel names the object that was opened: another path was reached through a link.
    if (readlinkSync(PLATFORM.pathOfDescriptor(descriptor) ?? '') !== path) return undefined
    const status = fstatSync(descriptor, { bigint: true })
    return status.isSymbolicLink() ? undefined : { device: String(status.dev), inode: String(status.ino) }
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
