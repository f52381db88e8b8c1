// The root of the containers of the tests: an empty folder into which the host's programs are mounted read-only.
import { existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { CHECKOUT } from './place.js'

// crun refuses a host that mounts the second version of cgroups beside the first, also where it shall use none.
export const ONE_VERSION_OF_CGROUPS =
  'if [ -d /sys/fs/cgroup/unified ]; then mount --rbind /sys/fs/cgroup/unified /sys/fs/cgroup || exit 1; fi; exec "$@"'

const SYSTEM_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64']
const SYSTEM_FILES = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/passwd', '/etc/group']

export const makeRoot = (root: string): string => {
  for (const name of ['', 'usr', 'etc', 'tmp', 'var', 'var/tmp', 'proc', 'sys', 'dev', 'run', 'root', 'home'])
    mkdirSync(join(root, name), { mode: 0o755 })
  for (const name of SYSTEM_FOLDERS) if (isLink(`/${name}`)) symlinkSync(readlinkSync(`/${name}`), join(root, name))
  return root
}

/** Paths of the host that a container has, read-only. */
export const systemMounts = (): readonly string[] =>
  [
    '/usr',
    ...SYSTEM_FILES,
    CHECKOUT,
    ...SYSTEM_FOLDERS.map((name) => `/${name}`).filter((path) => !isLink(path)),
    ...nodeElsewhere(),
  ].filter(existsSync)

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const nodeElsewhere = (): readonly string[] =>
  ['/usr/', `${CHECKOUT}/`].some((folder) => process.execPath.startsWith(folder)) ? [] : [process.execPath]
