// The mounts of the cell's root and its Landlock rules. Pure, from the survey of the host.
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath, parentOf } from '../../policy/index.js'

import type { Access, Plan, Rule, Step } from './plan.js'
import type { RealObject } from '../grants/object-at.js'
import type { CarveOuts } from '../grants/carve-outs.js'
import type { Survey } from '../grants/survey.js'
import type { SystemView, TextFile } from '../grants/system-view.js'

export type ExecutionRights =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'only'
      readonly programs: readonly AbsolutePath[]
      /** The programs and their loaders, which the kernel has to execute. */
      readonly files: readonly AbsolutePath[]
      /** Code may be mapped from here. */
      readonly libraries: readonly AbsolutePath[]
    }

export interface LayoutInput {
  readonly system: SystemView
  /** `sealed` has the protected names too. */
  readonly survey: Survey
  /** The program and its libraries, outside of everything else. */
  readonly loaded: readonly RealObject[]
  readonly execute: ExecutionRights
  readonly cwd: AbsolutePath
  readonly temporary: AbsolutePath
  readonly ownProc: boolean
  /** Files of /proc with secrets of the host that this user could read. */
  readonly kernelSecrets: readonly AbsolutePath[]
  readonly tty: boolean
  /** The cell's own files, in its private folder. */
  readonly own: readonly TextFile[]
  /** Files that replace the host's, if those are bound. */
  readonly covers: readonly TextFile[]
}

export type Layout = Pick<Plan, 'steps' | 'rules'>

const path = (text: string) => text as AbsolutePath

const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/urandom'].map(path)

/** Where the host's devices are. The last one leads to the tool's own terminal. */
export const WRITABLE_DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => path(`/dev/${name}`))

export const rule = (access: Access, at: string): Rule => ({ access, path: path(at) })

export const ruleFor = ({ path: at, object }: RealObject, access: Access): Rule =>
  rule(object === 'device' ? (access.includes('w') ? 'rwd' : 'rd') : access, at)

export const accessFor = <Base extends 'r' | 'rw'>(base: Base, execute: ExecutionRights): Base | `${Base}x` =>
  execute.kind === 'all' ? `${base}x` : base

export const layOutNamespaces = (input: LayoutInput): Layout => {
  const { system, survey, execute, temporary } = input
  const [toRead, toWrite] = [accessFor('r', execute), accessFor('rw', execute)]
  const writeRoots = outermost(survey.write)
  const readable = [...system.places, ...survey.read, ...input.loaded].filter(
    ({ path: candidate }) => !writeRoots.some((root) => isWithinPath(candidate, root.path)),
  )
  const readRoots = outermost(readable)

  const binds = new Map<AbsolutePath, Step>()
  for (const place of readRoots) binds.set(place.path, bind(place, toRead))
  for (const place of writeRoots) binds.set(place.path, bind(place, toWrite))
  for (const pin of pinsOf(survey, writeRoots)) binds.set(pin, { kind: 'bind', access: toWrite, path: pin })
  for (const place of survey.sealed) binds.set(place.path, bind(place, toRead))
  for (const place of survey.hidden) binds.set(place.path, { kind: 'hide', path: place.path })
  if (execute.kind === 'only') {
    for (const library of [...execute.libraries, ...execute.files]) {
      if (!survey.hidden.some((hidden) => isWithinPath(library, hidden.path)))
        binds.set(library, { kind: 'bind', access: 'rx', path: library })
    }
  }
  const steps: Step[] = [...binds.values()]
  // A read-only mount lets a program write to a device, but not change its mode or owner.
  steps.push(...DEVICES.map((device): Step => ({ kind: 'bind', access: 'rd', path: device })))
  if (input.ownProc)
    steps.push(
      { kind: 'proc', path: path('/proc') },
      ...input.kernelSecrets.map((at): Step => ({ kind: 'hide', path: at })),
    )
  else steps.push({ kind: 'bind', access: 'r', path: path('/proc') })
  steps.push({ kind: 'scratch', path: temporary })
  // The cell's own terminals, even if the caller has none: script, expect and tests of terminals make one.
  if (input.tty) steps.push({ kind: 'bind', access: 'rd', path: path('/dev/tty') })
  steps.push(
    { kind: 'terminals', path: path('/dev/pts') },
    { kind: 'link', path: path('/dev/ptmx'), target: 'pts/ptmx' },
  )

  // Made, not bound. Inside a bound folder it exists already, or must not exist.
  const bound = [...binds.keys()]
  const isFree = (candidate: AbsolutePath) =>
    !bound.some((other) => isWithinPath(candidate, other) || isWithinPath(other, candidate))
  const unbound = (candidate: AbsolutePath) => !bound.some((other) => isWithinPath(candidate, other))
  const made = new Map<AbsolutePath, Step>()
  for (const link of [...system.links, ...survey.links, ...DEVICE_LINKS(temporary)]) {
    if (isFree(link.path)) made.set(link.path, { kind: 'link', ...link })
  }
  for (const file of system.files) if (unbound(file.path)) made.set(file.path, { kind: 'file', ...file })
  for (const folder of [...survey.shown, input.cwd]) {
    if (folder !== '/' && unbound(folder) && !made.has(folder)) made.set(folder, { kind: 'directory', path: folder })
  }
  const covers = input.covers.filter(({ path: at }) => !unbound(at)).map((file): Step => ({ kind: 'cover', ...file }))
  const own = input.own.map((file): Step => ({ kind: 'file', ...file }))
  const all = [...steps, ...made.values(), ...covers, ...own].sort(byPath)
  const rules = [
    ...listingRules(input.ownProc, all),
    ...(system.files.length > 0 ? [rule('r', '/etc')] : []),
    ...readRoots.map((place) => ruleFor(place, toRead)),
    ...writeRoots.map((place) => ruleFor(place, toWrite)),
    ...(execute.kind === 'only' ? execute.files.map((at) => rule('rx', at)) : []),
    ...survey.shown.map((at) => rule('l', at)),
    ...(input.ownProc ? [rule('r', '/proc')] : BORROWED_PROC_RULES),
    rule(toWrite, temporary),
    ...[...DEVICES, ...(input.tty ? ['/dev/tty'] : []), '/dev/pts'].map((at) => rule('rwd', at)),
  ]
  return { steps: all, rules }
}

const DEVICE_LINKS = (temporary: AbsolutePath) => [
  { path: path('/dev/random'), target: 'urandom' },
  { path: path('/dev/fd'), target: '/proc/self/fd' },
  { path: path('/dev/stdin'), target: '/proc/self/fd/0' },
  { path: path('/dev/stdout'), target: '/proc/self/fd/1' },
  { path: path('/dev/stderr'), target: '/proc/self/fd/2' },
  { path: path('/dev/shm'), target: temporary },
]

const bind = ({ path: at, object }: RealObject, access: Access): Step => ({
  kind: 'bind',
  access: object === 'device' ? 'rd' : access,
  path: at,
})

/** Everything in the cell's own root may be listed, except a borrowed /proc, which shows the processes of others. */
const listingRules = (ownProc: boolean, steps: readonly Step[]): readonly Rule[] => {
  if (ownProc) return [rule('l', '/')]
  const parents = steps
    .filter(({ path: at }) => at.lastIndexOf('/') > 0)
    .map(({ path: at }) => path(at.slice(0, at.indexOf('/', 1))))
  const folders = steps.filter(({ kind }) => kind === 'directory').map(({ path: at }) => at)
  return [...new Set([...parents, ...folders])].map((at) => rule('l', at))
}

/** From a /proc that also shows other processes: figures of the machine, and the tool's own process. */
export const BORROWED_PROC_RULES: readonly Rule[] = [
  ...['cpuinfo', 'meminfo', 'stat', 'loadavg', 'uptime', 'version', 'filesystems', 'self'],
  ...['osrelease', 'ostype', 'version', 'hostname', 'random', 'cap_last_cap'].map((name) => `sys/kernel/${name}`),
  ...['pid_max', 'threads-max', 'ngroups_max'].map((name) => `sys/kernel/${name}`),
  ...['sys/vm/overcommit_memory', 'sys/vm/max_map_count', 'sys/fs/pipe-max-size'],
].map((name) => rule('r', `/proc/${name}`))

/** Without places inside another one. */
export const outermost = (places: readonly RealObject[]): readonly RealObject[] => {
  const sorted = [...places].sort(byPath)
  const found: RealObject[] = []
  for (const place of sorted) {
    const last = found.at(-1)
    if (last === undefined || !isWithinPath(place.path, last.path)) found.push(place)
  }
  return found
}

/**
 * The folders between a write root and its seals, or links that are put back. Each is bound onto itself, because a
 * mount point cannot be renamed or removed. Otherwise the tool could move `.git` away with its sealed hooks and make
 * another.
 */
export const pinsOf = (
  { sealed, hidden, carvedLinks }: CarveOuts,
  writeRoots: readonly RealObject[],
): readonly AbsolutePath[] => {
  const pins = new Set<AbsolutePath>()
  const whole = new Set([...sealed, ...hidden].map(({ path: at }) => at))
  for (const at of [...whole, ...carvedLinks]) {
    const root = writeRoots.find((candidate) => isWithinPath(at, candidate.path))
    if (root === undefined) continue
    const folders: AbsolutePath[] = []
    for (let folder = parentOf(at); folder !== root.path && folder.length > root.path.length; folder = parentOf(folder))
      folders.push(folder)
    // The tool can write in a pin, so it would be a hole in a folder that is sealed as a whole.
    if (!folders.some((folder) => whole.has(folder))) for (const folder of folders) pins.add(folder)
  }
  return [...pins]
}

/** By whole names, so that a folder comes right before its contents: no letter of a name is less than NUL. */
export const byPath = (left: { readonly path: string }, right: { readonly path: string }): number => {
  const [a, b] = [left.path.replaceAll('/', '\0'), right.path.replaceAll('/', '\0')]
  return a < b ? -1 : a > b ? 1 : 0
}
