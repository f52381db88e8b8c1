// Where a call could get a cgroup of its own. Whether it really can is found by making one, see host.ts.
import { readFileSync } from 'node:fs'

import type { AbsolutePath } from '../../policy/index.js'

export type CgroupPlace =
  { readonly kind: 'folder'; readonly path: AbsolutePath } | { readonly kind: 'none'; readonly problem: string }

/** Beneath which folder: from what /proc says of this process's own cgroup and of the mounts. Pure. */
export const cgroupPlace = (ownCgroups: string, mountinfo: string): CgroupPlace => {
  const own = /^0::(\/.*)$/m.exec(ownCgroups)?.[1]
  const mount = mountinfo
    .split('\n')
    .map(mountOf)
    .find((found) => found !== undefined)
  if (own === undefined || mount === undefined) return none('no cgroup file system of version 2 is mounted')
  const inMount =
    mount.root === '/'
      ? own
      : own === mount.root
        ? '/'
        : own.startsWith(`${mount.root}/`)
          ? own.slice(mount.root.length)
          : undefined
  if (inMount === undefined || own.split('/').includes('..'))
    return none('the cgroup of this process lies outside of what is mounted here')
  // Processes and limited cgroups may not lie side by side in one cgroup, but for the root of all.
  const parent = inMount === '/' ? '/' : inMount.slice(0, inMount.lastIndexOf('/')) || '/'
  if (belongsToSystemd(inMount, parent))
    return none(`${parent} is systemd's to divide: this process has not been given a part of the tree`)
  return { kind: 'folder', path: `${mount.point}${parent === '/' ? '' : parent}` as AbsolutePath }
}

/** A unit's own processes may divide what lies beneath the unit, when it was delegated. Slices are systemd's. */
const belongsToSystemd = (own: string, parent: string): boolean =>
  /\.(?:slice|scope|service)(?:\/|$)/.test(own) && !/\.(?:scope|service)(?:\/|$)/.test(parent)

const mountOf = (line: string): { readonly root: string; readonly point: string } | undefined => {
  const [before = '', after = ''] = line.split(' - ')
  const [, , , root, point] = before.split(' ')
  return after.startsWith('cgroup2 ') && root !== undefined && point !== undefined ? { root, point } : undefined
}

const NEEDED = ['memory', 'pids']

/** The folder on this host, if the controllers that limits need are there at all. */
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

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
