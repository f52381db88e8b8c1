// Compares the mounts that a wall made with those it was asked for. A wall follows symbolic links: if another program
// replaced a folder meanwhile, a mount would show or cover another one.
import { readFileSync } from 'node:fs'

import { isWithinPath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { mountsIn } from '../grants/mountinfo.js'
import type { Mount } from '../grants/mountinfo.js'
import type { Step } from '../plan/plan.js'

export const departureFromMounts = (steps: readonly Step[], pid: number): string | undefined =>
  departureIn(steps, mountsOf('self'), mountsOf(String(pid)))

/** Pure: from the mounts of the host and those inside. */
export const departureIn = (
  steps: readonly Step[],
  outside: readonly Mount[],
  inside: readonly Mount[],
): string | undefined => {
  const made = new Map(inside.map((mount) => [mount.point, mount]))
  for (const step of steps) {
    const problem = problemAt(step, made.get(step.path), outside)
    if (problem !== undefined) return `${problem}: ${step.path}`
  }
  const asked = new Set(steps.filter(isMounted).map(({ path }) => path))
  const stray = inside.find(({ point, isReadOnly }) => {
    if (point === '/' || OWN.some((own) => isWithinPath(point, own)) || asked.has(point)) return false
    // A mount of the host below a granted folder comes with it.
    const around = steps.filter(({ kind, path }) => kind === 'bind' && isWithinPath(point, path)).at(-1)
    return around?.kind !== 'bind' || (!isReadOnly && !around.access.includes('w'))
  })
  return stray === undefined ? undefined : `a mount that was not asked for: ${stray.point}`
}

/** The others are made in the root itself, which is the wall's own. */
const isMounted = ({ kind }: Step): boolean => kind !== 'link' && kind !== 'directory' && kind !== 'file'

const OWN = ['/dev', '/proc'].map((path) => path as AbsolutePath)

const problemAt = (step: Step, mount: Mount | undefined, outside: readonly Mount[]): string | undefined => {
  if (!isMounted(step)) return undefined
  if (mount === undefined) return 'a mount is missing'
  if (step.kind === 'bind') {
    const source = sourceOf(step.path, outside)
    if (source.device !== mount.device || source.root !== mount.root) return 'a mount shows something else'
    if (!/[wd]/.test(step.access) && !mount.isReadOnly) return 'a mount can be written'
  }
  return ['hide', 'cover'].includes(step.kind) && !mount.isReadOnly ? 'a mount can be written' : undefined
}

/** The file system and the folder in it that a path of the host leads to. */
const sourceOf = (path: AbsolutePath, outside: readonly Mount[]): Pick<Mount, 'device' | 'root'> => {
  const around = outside.filter(({ point }) => isWithinPath(path, point))
  const longest = Math.max(...around.map(({ point }) => point.length))
  const mount = around.findLast(({ point }) => point.length === longest)
  if (mount === undefined) return { device: '', root: '' }
  const below = mount.point === '/' ? path : path.slice(mount.point.length)
  const root = `${mount.root === '/' ? '' : mount.root}${below === '/' ? '' : below}`
  return { device: mount.device, root: root === '' ? '/' : root }
}

const mountsOf = (process: string): readonly Mount[] => mountsIn(readFileSync(`/proc/${process}/mountinfo`, 'latin1'))
