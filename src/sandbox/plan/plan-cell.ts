// Plans one cell: from a request and the host's facts to the plan that the launcher applies.
import { randomBytes } from 'node:crypto'

import { CordonError, fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { DEFAULT_LIMITS, isReadable, isWithinPath, parentOf } from '../../policy/index.js'

import { appliedSumOf } from './applied-sum.js'
import type { AppliedSum } from './applied-sum.js'
import type { CarvedOut } from '../grants/carve-outs.js'
import { closedFolders } from './closed-folders.js'
import { encodePlan } from './encode-plan.js'
import { environmentOf } from './environment.js'
import type { Environment } from './environment.js'
import type { HostFacts } from '../host.js'
import { layOutLandlock, privateRule } from './landlock-layout.js'
import { layOutNamespaces, outermost } from './layout.js'
import type { LayoutInput } from './layout.js'
import { NO_NETWORK_FILES, networkFiles, withFiles } from './network-files.js'
import { cgroupOf, limitsOf } from './plan-limits.js'
import { networkOf, newToken } from './plan-network.js'
import { objectAt, placeAt, realPathOf } from '../grants/object-at.js'
import type { Place } from '../grants/object-at.js'
import type { Form, Plan, Step, Trap } from './plan.js'
import { describeProfile } from './profile.js'
import type { SandboxProfile } from './sandbox-profile.js'
import { findProgram, libraryFolders, linkedLibraries, refuseCarvedOutProgram } from '../grants/program.js'
import type { Program } from '../grants/program.js'
import { hasOwnProc } from './requirements.js'
import { surveyGrants } from '../grants/survey.js'
import type { Survey } from '../grants/survey.js'
import { hiddenInView } from '../grants/system-view.js'
import type { SystemView } from '../grants/system-view.js'
import { canReach } from './workspace-owner.js'
import { bringsMounts } from './wall-facts.js'

/**
 * Which refused files are reported: those to be changed or made, those to be read too, or every open, which the host
 * has to support.
 */
export type Observing = 'changes' | 'reads' | 'everything'

export interface CellRequest {
  readonly boundary: Boundary
  readonly cwd: AbsolutePath
  readonly program: string
  readonly searchPath: string
  readonly hostEnvironment: Environment
  readonly form: Form
  readonly stdio: Plan['stdio']
  readonly foreground: boolean
  readonly clock: Plan['clock']
  readonly relay: Plan['relay']
  readonly observe: Observing
  readonly proxy: { readonly port: number; readonly authority: string } | undefined
}

export interface PlannedCell {
  readonly plan: Plan
  /** The words of the plan: tens of kilobytes, made once, when first needed. */
  readonly encoded: () => Buffer
  /** What the launcher has to report of its mounts and rules, made once, when first needed. */
  readonly sum: () => AppliedSum
  readonly program: Program
  readonly profile: SandboxProfile
  /** What a wall around the launcher mounts. */
  readonly wallSteps: readonly Step[]
  /** The objects that the boundary is made of, without the system's own. */
  readonly ground: readonly AbsolutePath[]
  readonly carved: CarvedOut
  /** Folders of the write roots in which the tool can make nothing. */
  readonly closed: readonly AbsolutePath[]
  /** Of the image of a container. Those of the cell and of the policy replace them. */
  readonly imageVariables?: Environment
}

const TTY = '/dev/tty' as AbsolutePath
export const NOTHING_KEPT: Plan['kept'] = { roots: [], sealed: [], hidden: [] }

export const planCell = (
  request: CellRequest,
  host: HostFacts,
  wholeSystem: SystemView,
  protectedPlaces: readonly Place[],
): PlannedCell => {
  const { boundary, cwd, form } = request
  const isWalled = bringsMounts(host.wall)
  const system = reachableSystem(wholeSystem, host)
  const network = networkOf(request, host)
  // Links are followed: a working directory grants nothing.
  if (objectAt(realPathOf(cwd) ?? cwd) !== 'directory') throw fail('cwd-missing', { path: cwd })
  const program = findProgram(request.program, cwd, request.searchPath)
  refuseCarvedOutProgram(request.program, program, boundary)
  const granted = surveyGrants(boundary)
  if (form === 'mounts') refuseReadOnlyDevices(granted)
  const survey = { ...granted, hidden: [...granted.hidden, ...hiddenInView(boundary, system)] }
  const temporaryParent = temporaryParentFor(form, host, [...survey.read, ...survey.write])
  const temporary = form === 'landlock' ? newFolderIn(temporaryParent) : temporaryParent
  const extra =
    typeof network === 'string'
      ? NO_NETWORK_FILES
      : networkFiles(request.proxy?.authority ?? '', temporary, boundary.limits.scratch ?? DEFAULT_LIMITS.scratch)
  const input: LayoutInput = {
    system: form !== 'landlock' || isWalled ? withFiles(system, extra.names) : system,
    covers: extra.covers,
    own: extra.own,
    survey,
    protectedPlaces,
    loaded: [...program.executables, ...program.loaders, ...program.libraries]
      .flatMap(placeAt)
      .filter(({ path }) => !isReadable(boundary, path)),
    execute: executionOf(request, program, host),
    cwd,
    temporary: isWalled ? temporaryParent : temporary,
    ownProc: hasOwnProc(form, host),
    kernelSecrets: host.kernelSecrets,
    tty: objectAt(TTY) !== undefined,
  }
  const ownFiles = input.own.map((file): Step => ({ kind: 'file', ...file }))
  const walled = isWalled ? layOutNamespaces({ ...input, own: [] }) : undefined
  const layout =
    form !== 'landlock'
      ? { ...layOutNamespaces(input), ...(form === 'mounts' ? { rules: [] } : {}), kept: NOTHING_KEPT }
      : walled !== undefined
        ? { steps: ownFiles, rules: [...walled.rules, privateRule(input, temporary)], kept: NOTHING_KEPT }
        : { steps: ownFiles, ...layOutLandlock(input, host.listener.held) }
  const plan: Plan = {
    form,
    ...layout,
    exec: input.execute.kind === 'all' ? input.execute : { kind: 'only', programs: input.execute.programs },
    cwd,
    temporary,
    cgroup: cgroupOf(boundary, host),
    network,
    limits: limitsOf(boundary, form, host),
    traps: trapsOf(request, host, protectedPlaces.length > 0),
    stdio: request.stdio,
    foreground: request.foreground,
    clock: request.clock,
    relay: request.relay,
    probe: false,
  }
  const placeholders =
    boundary.network.kind === 'hosts' ? boundary.credentials.flatMap(({ placeholder }) => placeholder ?? []) : []
  const variables = Object.keys(
    environmentOf(plan, request, {
      proxySecret: '',
      variables: Object.fromEntries(placeholders.map(({ name, text }) => [name, text])),
    }),
  )
  const paths = (places: readonly Pick<Place, 'path'>[]) => [...new Set(places.map(({ path }) => path))].sort()
  const sealed = [...survey.sealed, ...protectedPlaces]
  const roots = {
    read: paths([...system.places, ...system.files, ...survey.read, ...input.loaded]),
    write: paths(survey.write),
    sealed: paths(sealed),
    closed:
      form === 'landlock' && !isWalled && !host.listener.held
        ? closedFolders(
            survey.write,
            [...sealed, ...survey.hidden].map(({ path }) => path),
          )
        : [],
  }
  const ground = paths([
    ...granted.read,
    ...granted.write,
    ...granted.hidden,
    ...granted.sealed,
    ...protectedPlaces,
    ...input.loaded,
  ])
  return {
    plan,
    ...madeOnce(plan),
    program,
    profile: describeProfile(plan, host, roots, variables),
    wallSteps: walled?.steps ?? [],
    ground: [...ground, cwd],
    carved: {
      paths: paths([...granted.hidden, ...granted.sealed]),
      hidden: paths(granted.hidden),
      readable: paths(outermost(granted.read)),
    },
    closed: roots.closed,
  }
}

/** Presets name system folders. A user who is not root may not reach all of them. */
const reachableSystem = (system: SystemView, { identity }: HostFacts): SystemView =>
  identity === undefined ? system : { ...system, places: system.places.filter(({ path }) => canReach(identity, path)) }

/** The same plan for another call, with another private folder and another token for the proxy. */
export const planAgain = (planned: PlannedCell): PlannedCell => {
  const { plan } = planned
  const network = typeof plan.network === 'string' ? plan.network : { ...plan.network, token: newToken() }
  if (plan.form !== 'landlock' && network === plan.network) return planned
  const temporary = plan.form !== 'landlock' ? plan.temporary : newFolderIn(parentOf(plan.temporary))
  const moved = <Item extends { readonly path: AbsolutePath }>(item: Item): Item =>
    temporary !== plan.temporary && isWithinPath(item.path, plan.temporary)
      ? { ...item, path: `${temporary}${item.path.slice(plan.temporary.length)}` }
      : item
  const again: Plan = { ...plan, network, temporary, rules: plan.rules.map(moved), steps: plan.steps.map(moved) }
  return { ...planned, plan: again, ...madeOnce(again), ...(temporary === plan.temporary ? { sum: planned.sum } : {}) }
}

export const madeOnce = (plan: Plan): Pick<PlannedCell, 'encoded' | 'sum'> => ({
  encoded: once(() => encodePlan(plan)),
  sum: once(() => appliedSumOf(plan)),
})

const once = <Made>(make: () => Made): (() => Made) => {
  let made: Made | undefined
  return () => (made ??= make())
}

/** Private to the call. In a cell with its own root it is /tmp, unless the policy grants the host's. */
const temporaryParentFor = (form: Form, host: HostFacts, granted: readonly Place[]): AbsolutePath => {
  if (form === 'landlock' && !bringsMounts(host.wall)) return host.temporaryFolder
  return (granted.some(({ path }) => path === '/tmp') ? '/.tmp' : '/tmp') as AbsolutePath
}

const newFolderIn = (parent: AbsolutePath): AbsolutePath =>
  `${parent}/cordon-${randomBytes(12).toString('hex')}` as AbsolutePath

const executionOf = (
  { boundary, cwd, searchPath, form }: CellRequest,
  program: Program,
  host: HostFacts,
): LayoutInput['execute'] => {
  if (boundary.exec.kind === 'all') return { kind: 'all' }
  const names = boundary.exec.kind === 'list' ? boundary.exec.programs : []
  const others = names.map((name) => {
    const found = findGranted(name, cwd, searchPath)
    refuseCarvedOutProgram(name, found, boundary)
    return found
  })
  const programs = [...new Set([program, ...others].flatMap(({ executables }) => executables))]
  const loaders = [...new Set([program, ...others].flatMap((each) => each.loaders))]
  // The kernel has to execute a loader, which then starts any program that it is given.
  if (form === 'landlock' && loaders.length > 0 && !host.listener.held) {
    throw fail('host-cannot-hold', {
      mechanism: 'exec',
      problem:
        'only a seccomp listener can keep the loader from starting other programs, and there is none ' +
        `(${host.listener.problem})`,
      fix: 'leave exec unspecified (all), or run outside of another sandbox',
    })
  }
  const files = [...programs, ...loaders]
  // Landlock lets code be mapped from a folder without executing the programs in it. Mounts cannot tell these apart.
  return { kind: 'only', programs, files, libraries: form === 'mounts' ? linkedLibraries(files) : libraryFolders() }
}

export const trapsOf = (
  { boundary, form, observe, stdio }: CellRequest,
  host: HostFacts,
  holdsProtected: boolean,
): readonly Trap[] => {
  if (!host.listener.held) {
    if (observe === 'everything')
      throw fail('host-cannot-hold', {
        mechanism: 'seccomp-listener',
        problem: host.listener.problem,
        fix: 'run without --observe',
      })
    return []
  }
  const traps: Trap[] = ['connect']
  // Counting every fork costs a little, and a signal can interrupt one. So it is done only for a limit.
  if (boundary.limits.processes !== undefined) traps.push('fork')
  if (boundary.limits.memory !== undefined) traps.push('memory-file')
  if (boundary.exec.kind !== 'all') traps.push('exec')
  // Opens for writing are few. Each watched open costs some ten microseconds, too much for programs that read
  // thousands.
  traps.push('change')
  if (observe === 'reads') traps.push('read')
  if (observe === 'everything') traps.push('open')
  // `rm -r` removes thousands of files, so removals are watched only if somebody watches the command.
  if (observe === 'everything' || (holdsProtected && stdio.in !== 'frames')) traps.push('name')
  if (form === 'landlock') traps.push('metadata', 'write')
  // The limit of a user namespace is set in its own /proc.
  if (!hasOwnProc(form, host)) traps.push('watch')
  // The socket itself tells whether it may listen. If it cannot be borrowed, or Landlock (before ABI 4) does not see
  // bind(), only permitted sockets can be made.
  if (form === 'landlock' && boundary.network.kind === 'none' && (!host.borrowing.held || host.landlock.abi < 4))
    traps.push('socket')
  // From ABI 6 on Landlock keeps signals inside.
  if (form === 'landlock' && host.landlock.abi < 6) traps.push('signal')
  return traps
}

/**
 * The network that a launcher may know before the plan, to enter its namespaces early. Undefined if they depend on
 * more.
 */
export const headStartOf = ({ boundary, form }: CellRequest, host: HostFacts): 'none' | 'all' | undefined =>
  form !== 'landlock' && cgroupOf(boundary, host) === undefined
    ? boundary.network.kind === 'all'
      ? 'all'
      : 'none'
    : undefined

/** A read-only mount lets a tool write to a device. */
const refuseReadOnlyDevices = ({ read, write }: Pick<Survey, 'read' | 'write'>): void => {
  const device = read.find(({ path, object }) => object === 'device' && !write.some((other) => other.path === path))
  if (device !== undefined)
    throw fail('grant-inexpressible', {
      section: 'filesystem.read',
      grant: device.path,
      problem: 'without Landlock nothing keeps a tool from writing to a device that it can open',
      fix: `grant it for writing too (--write ${device.path}), or leave the form to Cordon (--form auto)`,
    })
}

/** The granted program is missing, not the command: that is another error, with another exit status. */
const findGranted = (name: string, cwd: string, searchPath: string): Program => {
  try {
    return findProgram(name, cwd, searchPath)
  } catch (error) {
    if (
      !(error instanceof CordonError) ||
      (error.code !== 'program-not-found' && error.code !== 'program-not-executable')
    )
      throw error
    throw fail(
      'grant-inexpressible',
      { section: 'exec', grant: name, problem: error.message, fix: `${error.fix ?? ''}; or remove it: --exec ${name}` },
      error,
    )
  }
}
