// What the cell's root consists of and which Landlock rules hold it: pure, from what was found on the host.
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath, parentOf } from '../../policy/index.js'

import type { Access, Rule, Step } from './plan.js'
import type { Place } from '../grants/object-at.js'
import type { Survey } from '../grants/survey.js'
import type { SystemView, TextFile } from '../grants/system-view.js'

export type Execution =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'only'
      readonly programs: readonly AbsolutePath[]
      /** What the kernel must be able to execute for these: they, and the loaders they name. */
      readonly files: readonly AbsolutePath[]
      /** Where code may be mapped from. */
      readonly libraries: readonly AbsolutePath[]
    }

export interface LayoutInput {
  readonly system: SystemView
  readonly survey: Survey
  /** Found inside write roots: readable, not to be changed, and not to be moved away. */
  readonly protectedPlaces: readonly Place[]
  /** The program and what it needs to load, where that lies outside of everything else. */
  readonly loaded: readonly Place[]
  readonly execute: Execution
  readonly cwd: AbsolutePath
  readonly temporary: AbsolutePath
  readonly ownProc: boolean
  /** Files of /proc that tell of the host and that no permission keeps from this user. */
  readonly kernelSecrets: readonly AbsolutePath[]
  /** Whether the host has /dev/tty, by which a program finds its terminal. */
  readonly tty: boolean
  /** Files of the cell's own, in its private folder. */
  readonly own: readonly TextFile[]
  /** Files that the tool shall find in place of the host's, where those are bound. */
  readonly covers: readonly TextFile[]
}

export interface Layout {
  readonly steps: readonly Step[]
  readonly rules: readonly Rule[]
}

const path = (text: string) => text as AbsolutePath

const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/urandom'].map(path)

export const layOutNamespaces = (input: LayoutInput): Layout => {
  const { system, survey, execute, temporary } = input
  const letters = (base: 'r' | 'rw'): Access => (execute.kind === 'all' ? `${base}x` : base)
  const writeRoots = outermost(survey.write)
  const readable = [...system.places, ...survey.read, ...input.loaded].filter(
    ({ path: candidate }) => !writeRoots.some((root) => isWithinPath(candidate, root.path)),
  )
  const readRoots = outermost(readable)
  const sealed = [...survey.sealed, ...input.protectedPlaces]

  const binds = new Map<AbsolutePath, Step>()
  for (const place of readRoots) binds.set(place.path, bind(place, letters('r')))
  for (const place of writeRoots) binds.set(place.path, bind(place, letters('rw')))
  for (const pin of pinsOf([...sealed, ...survey.hidden], writeRoots))
    binds.set(pin, { kind: 'bind', access: letters('rw'), path: pin })
  for (const place of sealed) binds.set(place.path, bind(place, letters('r')))
  for (const place of survey.hidden) binds.set(place.path, { kind: 'hide', path: place.path })
  if (execute.kind === 'only') {
    for (const library of [...execute.libraries, ...execute.files]) {
      if (!survey.hidden.some((hidden) => isWithinPath(library, hidden.path)))
        binds.set(library, { kind: 'bind', access: 'rx', path: library })
    }
  }
  const steps: Step[] = [...binds.values()]
  // A read-only mount does not keep anybody from writing to a device, only from changing its mode or owner.
  steps.push(...DEVICES.map((device): Step => ({ kind: 'bind', access: 'rd', path: device })))
  if (input.ownProc)
    steps.push(
      { kind: 'proc', path: path('/proc') },
      ...input.kernelSecrets.map((at): Step => ({ kind: 'hide', path: at })),
    )
  else steps.push({ kind: 'bind', access: 'r', path: path('/proc') })
  steps.push({ kind: 'scratch', path: temporary })
  // Terminals of the cell's own, also where the caller has none: script, expect and tests of terminals make one.
  if (input.tty) steps.push({ kind: 'bind', access: 'rd', path: path('/dev/tty') })
  steps.push(
    { kind: 'terminals', path: path('/dev/pts') },
    { kind: 'link', path: path('/dev/ptmx'), target: 'pts/ptmx' },
  )

  // What is only made (not bound) must not lie in what is bound: there it exists already, or must not.
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
  return { steps: all, rules: [...listingRules(input.ownProc, all), ...namespaceRules(input, readRoots, writeRoots)] }
}

const DEVICE_LINKS = (temporary: AbsolutePath) => [
  { path: path('/dev/random'), target: 'urandom' },
  { path: path('/dev/fd'), target: '/proc/self/fd' },
  { path: path('/dev/stdin'), target: '/proc/self/fd/0' },
  { path: path('/dev/stdout'), target: '/proc/self/fd/1' },
  { path: path('/dev/stderr'), target: '/proc/self/fd/2' },
  { path: path('/dev/shm'), target: temporary },
]

const bind = ({ path: at, object }: Place, access: Access): Step => ({
  kind: 'bind',
  access: object === 'device' ? 'rd' : access,
  path: at,
})

const namespaceRules = (
  input: LayoutInput,
  readRoots: readonly Place[],
  writeRoots: readonly Place[],
): readonly Rule[] => {
  const { execute, survey, temporary } = input
  const letters = (base: 'r' | 'rw'): Access => (execute.kind === 'all' ? `${base}x` : base)
  return [
    ...(input.system.files.length > 0 ? [{ access: 'r' as const, path: path('/etc') }] : []),
    ...readRoots.map(({ path: at, object }) => ({
      access: object === 'device' ? ('rd' as const) : letters('r'),
      path: at,
    })),
    ...writeRoots.map(({ path: at, object }) => ({
      access: object === 'device' ? ('rwd' as const) : letters('rw'),
      path: at,
    })),
    ...(execute.kind === 'only' ? execute.files.map((at) => ({ access: 'rx' as const, path: at })) : []),
    ...survey.shown.map((at) => ({ access: 'l' as const, path: at })),
    ...(input.ownProc ? [{ access: 'r' as const, path: path('/proc') }] : BORROWED_PROC_RULES),
    { access: letters('rw'), path: temporary },
    ...DEVICES.map((at) => ({ access: 'rwd' as const, path: at })),
    ...[...(input.tty ? ['/dev/tty'] : []), '/dev/pts'].map((at) => ({ access: 'rwd' as const, path: path(at) })),
  ]
}

/**
 * Everything in the cell's own root may be listed. Of a borrowed /proc that would be the processes of others, so there
 * all but it.
 */
const listingRules = (ownProc: boolean, steps: readonly Step[]): readonly Rule[] => {
  if (ownProc) return [{ access: 'l', path: path('/') }]
  const parents = steps
    .filter(({ path: at }) => at.lastIndexOf('/') > 0)
    .map(({ path: at }) => path(at.slice(0, at.indexOf('/', 1))))
  const folders = steps.filter(({ kind }) => kind === 'directory').map(({ path: at }) => at)
  return [...new Set([...parents, ...folders])].map((at) => ({ access: 'l' as const, path: at }))
}

/** Of a /proc that also shows others: figures of the machine, and the tool's own process. */
export const BORROWED_PROC_RULES: readonly Rule[] = [
  ...['cpuinfo', 'meminfo', 'stat', 'loadavg', 'uptime', 'version', 'filesystems', 'self'],
  ...[
    'sys/kernel/osrelease',
    'sys/kernel/ostype',
    'sys/kernel/version',
    'sys/kernel/hostname',
    'sys/kernel/random',
    'sys/kernel/cap_last_cap',
  ],
  ...[
    'sys/kernel/pid_max',
    'sys/kernel/threads-max',
    'sys/kernel/ngroups_max',
    'sys/vm/overcommit_memory',
    'sys/vm/max_map_count',
    'sys/fs/pipe-max-size',
  ],
].map((name) => ({ access: 'r' as const, path: path(`/proc/${name}`) }))

/** Places that do not lie in another of the list. */
export const outermost = (places: readonly Place[]): readonly Place[] => {
  const sorted = [...places].sort(byPath)
  const kept: Place[] = []
  for (const place of sorted) {
    const last = kept.at(-1)
    if (last === undefined || !isWithinPath(place.path, last.path)) kept.push(place)
  }
  return kept
}

/**
 * The folders between a write root and what is sealed in it. Each is bound onto itself, because a
 * mount point cannot be renamed or removed: otherwise the tool would move `.git` away with its
 * sealed hooks and put another in its place.
 */
const pinsOf = (sealed: readonly Place[], writeRoots: readonly Place[]): readonly AbsolutePath[] => {
  const pins = new Set<AbsolutePath>()
  const whole = new Set(sealed.map(({ path: at }) => at))
  for (const { path: at } of sealed) {
    const root = writeRoots.find((candidate) => isWithinPath(at, candidate.path))
    if (root === undefined) continue
    const folders: AbsolutePath[] = []
    for (let folder = parentOf(at); folder !== root.path && folder.length > root.path.length; folder = parentOf(folder))
      folders.push(folder)
    // A pin can be written in: within a folder that is sealed as a whole it would be a hole.
    if (!folders.some((folder) => whole.has(folder))) for (const folder of folders) pins.add(folder)
  }
  return [...pins]
}

/** By whole names, so that a folder comes right before what lies in it. */
export const byPath = (left: { readonly path: string }, right: { readonly path: string }): number => {
  const a = left.path.split('/')
  const b = right.path.split('/')
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [x = '', y = ''] = [a[at], b[at]]
    if (x !== y) return x < y ? -1 : 1
  }
  return a.length - b.length
}
