// The folder in which a call could get its own cgroup. probe-host.ts finds out by making one.

import { textOfFile } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { mountsIn } from '../grants/mountinfo.js'

type CgroupPlace =
  { readonly kind: 'folder'; readonly path: AbsolutePath } | { readonly kind: 'none'; readonly problem: string }

/** Pure: from this process's cgroup and the mounts, as /proc shows them. */
export const cgroupPlace = (ownCgroups: string, mountinfo: string): CgroupPlace => {
  const own = /^0::(\/.*)$/m.exec(ownCgroups)?.[1]
  const mount = mountsIn(mountinfo).find(({ type }) => type === 'cgroup2')
  if (own === undefined || mount === undefined) return none('no cgroup file system of version 2 is mounted')
  const root = mount.root === '/' ? '' : mount.root
  if (!`${own}/`.startsWith(`${root}/`) || own.split('/').includes('..'))
    return none('the cgroup of this process lies outside of what is mounted here')
  const inMount = own.slice(root.length) || '/'
  // Only the root cgroup may hold both processes and limited cgroups.
  const parent = inMount === '/' ? '/' : inMount.slice(0, inMount.lastIndexOf('/')) || '/'
  if (belongsToSystemd(inMount, parent))
    return none(`${parent} is systemd's to divide: this process has not been given a part of the tree`)
  return { kind: 'folder', path: `${mount.point}${parent === '/' ? '' : parent}` as AbsolutePath }
}

/** Beneath a delegated unit its processes may make cgroups. Slices belong to systemd. */
const belongsToSystemd = (own: string, parent: string): boolean =>
  /\.(?:slice|scope|service)(?:\/|$)/.test(own) && !/\.(?:scope|service)(?:\/|$)/.test(parent)

const NEEDED = ['memory', 'pids']

/** The folder on this host, if it has the controllers that limits need. */
export const findCgroupPlace = (): CgroupPlace => {
  const place = cgroupPlace(read('/proc/self/cgroup'), read('/proc/self/mountinfo'))
  if (place.kind === 'none') return place
  const controllers = read(`${place.path}/cgroup.controllers`).trim().split(' ')
  const missing = NEEDED.filter((name) => !controllers.includes(name))
  return missing.length === 0
    ? place
    : none(
        `${place.path} does not have the controllers ` +
          `${missing.join(' and ')}${/^\d+:[^:]*\bmemory\b/m.test(read('/proc/self/cgroup')) ? ', which this host uses by version 1 of cgroups' : ''}`,
      )
}

const none = (problem: string): CgroupPlace => ({ kind: 'none', problem })

const read = (path: string): string => textOfFile(path, 'latin1') ?? ''
