// bubblewrap: a root of granted paths, and namespaces of its own for processes, network and IPC.
import { readFileSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import { isWithinPath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { bytesOfName } from '../grants/file-names.js'
import { objectAt } from '../grants/object-at.js'
import { NAMESPACES } from '../plan/host-facts.js'
import { WRITABLE_DEVICES } from '../plan/layout.js'
import type { Step } from '../plan/plan.js'
import { FIRST_INPUT } from './wall.js'
import type { Wall, WallCommand, WalledCell } from './wall.js'
import { mountsIn } from '../grants/mountinfo.js'
import type { Mount } from '../grants/mountinfo.js'

const DEV = '/dev' as AbsolutePath
/** In bubblewrap's own /dev, because the root may be one of the host's folders. */
const LAUNCHER = '/dev/.cordon-cell'

/** bubblewrap takes 9000 words. */
const MOST_WORDS = 8_900

/** The supervisor sees a folder that is too large, and says which limit it was. This refuses what it has not seen. */
const SCRATCH_MARGIN = 1 << 20

export const bubblewrap = (program: string, launcher: string): Wall => ({
  name: 'bubblewrap',
  program,
  brings: NAMESPACES,
  command: (cell) => commandFor(cell, launcher),
  departure: ({ steps }, inside) => {
    const pid = inside()
    return pid === undefined ? 'the launcher inside was not found' : departureFromMounts(steps.filter(isOwnStep), pid)
  },
})

const commandFor = ({ steps, network, scratch }: WalledCell, launcher: string): WallCommand => {
  const contents: Uint8Array[] = []
  const read = (content: string): string => {
    contents.push(Buffer.from(content))
    return String(FIRST_INPUT + contents.length)
  }
  const ownSteps = steps.filter(isOwnStep)
  const beforeDev = ownSteps.filter(({ path }) => path < DEV)
  const words = [
    ...['--unshare-all', '--unshare-user', '--die-with-parent', '--as-pid-1', '--cap-drop', 'ALL', '--clearenv'],
    ...(network === 'shared' ? ['--share-net'] : []),
    ...beforeDev.flatMap((step) => stepWords(step, scratch, read)),
    ...['--dev', DEV, '--ro-bind', launcher, LAUNCHER],
    ...ownSteps.slice(beforeDev.length).flatMap((step) => stepWords(step, scratch, read)),
    ...['--remount-ro', '/', '--chdir', '/'],
  ]
  if (words.length > MOST_WORDS)
    throw fail('plan-rejected', {
      problem: `${steps.length} mounts, more than bubblewrap takes; protect or carve out whole folders instead of files`,
    })
  return {
    // Its words come by a descriptor: names may be no UTF-8, and other users do not see them.
    words: ['--args', String(FIRST_INPUT), '--', LAUNCHER, 'channel'],
    inputs: [bytesOfName(words.map((word) => `${word}\0`).join('')), ...contents],
  }
}

/** It makes its own /dev, with terminals. */
const isOwnStep = (step: Step): boolean =>
  !isWithinPath(step.path, DEV) || (step.kind === 'bind' && !WRITABLE_DEVICES.includes(step.path))

const stepWords = (step: Step, scratch: number, read: (content: string) => string): readonly string[] => {
  const { path } = step
  switch (step.kind) {
    case 'bind':
      if (path === DEV)
        throw fail('plan-rejected', { problem: 'all of /dev is granted, and bubblewrap makes one of its own' })
      return [step.access.includes('d') ? '--dev-bind' : step.access.includes('w') ? '--bind' : '--ro-bind', path, path]
    case 'hide':
      return objectAt(path) === 'directory'
        ? ['--perms', '0000', '--tmpfs', path, '--remount-ro', path]
        : ['--ro-bind', '/dev/null', path]
    case 'link':
      return ['--symlink', step.target, path]
    // In its own root, which nobody else can change. A mount would cost three times as much.
    case 'file':
      return ['--perms', '0444', '--file', read(step.content), path]
    case 'cover':
      return ['--perms', '0444', '--ro-bind-data', read(step.content), path]
    case 'directory':
      return ['--dir', path]
    case 'proc':
      return ['--proc', path, '--remount-ro', path]
    case 'scratch':
      return ['--perms', '0700', '--size', String(scratch + SCRATCH_MARGIN), '--tmpfs', path]
    case 'terminals':
      return []
  }
}

/**
 * Compares the mounts that a wall made with those it was asked for. A wall follows symbolic links: if another program
 * replaced a folder meanwhile, a mount would show or cover another one.
 */
const departureFromMounts = (steps: readonly Step[], pid: number): string | undefined =>
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
