import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'

import { CordonError, fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary, HostGrant } from '../../policy/index.js'
import { isReadable, isWithinPath } from '../../policy/index.js'

import type { CarvedOut } from '../grants/carve-outs.js'
import { refuseCarvedOutProgram } from '../grants/carved-out-program.js'
import { closedFolders } from './closed-folders.js'
import { encodePlan } from './encode-plan.js'
import { buildEnvironment } from './environment.js'
import type { Environment } from './environment.js'
import { formVariables } from './form-environment.js'
import type { Attempt, HostFacts } from '../host.js'
import { layOutLandlock } from './landlock-layout.js'
import { layOutNamespaces, outermost } from './layout.js'
import type { LayoutInput } from './layout.js'
import { networkVariables, standInsOf } from './network-environment.js'
import { NO_NETWORK_FILES, networkFiles, withFiles } from './network-files.js'
import { DEFAULT_SCRATCH, cgroupOf, limitsOf } from './plan-limits.js'
import { objectAt, placeAt } from '../grants/object-at.js'
import type { Place } from '../grants/object-at.js'
import type { Form, Plan, Step, Trap } from './plan.js'
import { describeProfile } from './profile.js'
import type { SandboxProfile } from './sandbox-profile.js'
import { findProgram, libraryFolders } from '../grants/program.js'
import type { Program } from '../grants/program.js'
import { reachesOf } from './reaches.js'
import { surveyGrants } from '../grants/survey.js'
import { hiddenInView } from '../grants/system-view.js'
import type { SystemView } from '../grants/system-view.js'
import { canReach } from './workspace-owner.js'

/**
 * Which refusals of files are found out: of what would be changed or made; of what would be read, too; or of all that
 * is opened, whichever way, and then the host has to be able to.
 */
export type Observing = 'changes' | 'reads' | 'everything'

export interface CellRequest {
  readonly boundary: Boundary
  readonly cwd: AbsolutePath
  /** The first word of the command: a name that is looked up, or a path. */
  readonly program: string
  readonly searchPath: string
  readonly hostEnvironment: Environment
  readonly form: Form
  readonly stdio: Plan['stdio']
  readonly foreground: boolean
  readonly clock: Plan['clock']
  readonly observe: Observing
  /** The proxy that granted hosts are reached by; undefined where nobody serves one. */
  readonly proxy: { readonly port: number; readonly authority: string } | undefined
}

export interface PlannedCell {
  readonly plan: Plan
  /** The plan as the launcher reads it: tens of kilobytes, made when first asked for, and once. */
  readonly encoded: () => Buffer
  readonly program: Program
  readonly profile: SandboxProfile
  /** The objects that the boundary stands on, but for the system's own. */
  readonly ground: readonly AbsolutePath[]
  /** What the policy takes out of what it grants, and is there. */
  readonly carved: CarvedOut
  /** Folders of the write roots in which the tool can make nothing. */
  readonly closed: readonly AbsolutePath[]
}

const TTY = '/dev/tty' as AbsolutePath
const NOTHING_KEPT: Plan['kept'] = { roots: [], sealed: [], hidden: [] }

export const planCell = (
  request: CellRequest,
  host: HostFacts,
  wholeSystem: SystemView,
  protectedPlaces: readonly Place[],
): PlannedCell => {
  const system = reachableSystem(wholeSystem, host)
  const { boundary, cwd, form } = request
  const network = networkOf(request, host)
  if (!isFolder(cwd)) throw fail('cwd-missing', { path: cwd })
  const program = findProgram(request.program, cwd, request.searchPath)
  refuseCarvedOutProgram(request.program, program, boundary)
  const granted = surveyGrants(boundary)
  const survey = { ...granted, hidden: [...granted.hidden, ...hiddenInView(boundary, system)] }
  const temporary = temporaryFor(form, host, [...survey.read, ...survey.write])
  const extra =
    typeof network === 'string'
      ? NO_NETWORK_FILES
      : networkFiles(request.proxy?.authority ?? '', temporary, boundary.limits.scratch ?? DEFAULT_SCRATCH)
  const input: LayoutInput = {
    system: form === 'namespaces' ? withFiles(system, extra.names) : system,
    covers: extra.covers,
    own: extra.own,
    survey,
    protectedPlaces,
    loaded: [...program.executables, ...program.loaders, ...program.libraries]
      .flatMap(placeAt)
      .filter(({ path }) => !isReadable(boundary, path)),
    execute: executionOf(request, program, host),
    cwd,
    temporary,
    ownProc: host.ownProc.held,
    kernelSecrets: host.kernelSecrets,
    tty: objectAt(TTY) !== undefined,
  }
  const layout =
    form === 'namespaces'
      ? { ...layOutNamespaces(input), kept: NOTHING_KEPT }
      : {
          steps: input.own.map((file): Step => ({ kind: 'file', ...file })),
          ...layOutLandlock(input, host.listener.held),
        }
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
    probe: false,
  }
  const variables = Object.keys(
    buildEnvironment(boundary, request.hostEnvironment, temporary, {
      ...formVariables(plan),
      ...networkVariables(plan, ''),
      ...standInsOf(boundary),
    }),
  )
  const paths = (places: readonly Pick<Place, 'path'>[]) => [...new Set(places.map(({ path }) => path))].sort()
  const sealed = [...survey.sealed, ...protectedPlaces]
  const roots = {
    read: paths([...system.places, ...system.files, ...survey.read, ...input.loaded]),
    write: paths(survey.write),
    sealed: paths(sealed),
    closed:
      form === 'landlock' && !host.listener.held
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
    encoded: encodedOnce(plan),
    program,
    profile: describeProfile(plan, host, roots, variables),
    ground: [...ground, cwd],
    carved: {
      paths: paths([...granted.hidden, ...granted.sealed]),
      hidden: paths(granted.hidden),
      readable: paths(outermost(granted.read)),
    },
    closed: roots.closed,
  }
}

/** Presets show what is there; a user who is not root may not get as far. */
const reachableSystem = (system: SystemView, { identity }: HostFacts): SystemView =>
  identity === undefined ? system : { ...system, places: system.places.filter(({ path }) => canReach(identity, path)) }

/** Links are followed: a working directory grants nothing, so nothing is moved by one. */
const isFolder = (path: AbsolutePath): boolean => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** The same plan for another call: only its private folder must be another one, and what the proxy knows it by. */
export const planAgain = (planned: PlannedCell, host: HostFacts): PlannedCell => {
  const { plan } = planned
  const network = typeof plan.network === 'string' ? plan.network : { ...plan.network, token: newToken() }
  if (plan.form === 'namespaces' && network === plan.network) return planned
  const temporary = plan.form === 'namespaces' ? plan.temporary : temporaryFor('landlock', host, [])
  const rules = plan.rules.map((rule) => (rule.path === plan.temporary ? { ...rule, path: temporary } : rule))
  const moved = (path: AbsolutePath) =>
    isWithinPath(path, plan.temporary) ? (`${temporary}${path.slice(plan.temporary.length)}` as AbsolutePath) : path
  const steps =
    plan.form === 'namespaces' ? plan.steps : plan.steps.map((step) => ({ ...step, path: moved(step.path) }))
  const again: Plan = { ...plan, network, temporary, rules, steps }
  return { ...planned, plan: again, encoded: encodedOnce(again) }
}

const encodedOnce = (plan: Plan): (() => Buffer) => {
  let encoded: Buffer | undefined
  return () => (encoded ??= encodePlan(plan))
}

/** Private to the call. In a cell with its own root that is /tmp, unless the policy grants the host's. */
const temporaryFor = (form: Form, { temporaryFolder }: HostFacts, granted: readonly Place[]): AbsolutePath => {
  if (form === 'landlock') return `${temporaryFolder}/cordon-${randomBytes(12).toString('hex')}` as AbsolutePath
  return (granted.some(({ path }) => path === '/tmp') ? '/.tmp' : '/tmp') as AbsolutePath
}

const executionOf = (
  { boundary, cwd, searchPath, form }: CellRequest,
  program: Program,
  host: HostFacts,
): LayoutInput['execute'] => {
  if (boundary.exec.kind === 'all') return { kind: 'all' }
  const others =
    boundary.exec.kind === 'list' ? boundary.exec.programs.map((name) => findGranted(name, cwd, searchPath)) : []
  const programs = [...new Set([program, ...others].flatMap(({ executables }) => executables))]
  const loaders = [...new Set([program, ...others].flatMap((each) => each.loaders))]
  // A loader must be executable for the kernel to use it, and then starts whatever it is given.
  if (form === 'landlock' && loaders.length > 0 && !host.listener.held) {
    throw fail('host-cannot-hold', {
      mechanism: 'exec',
      problem:
        'only a seccomp listener can keep the loader from starting other programs, and there is none ' +
        `(${host.listener.problem})`,
      fix: 'leave exec unspecified (all), or run outside of another sandbox',
    })
  }
  return { kind: 'only', programs, files: [...programs, ...loaders], libraries: libraryFolders() }
}

const newToken = (): string => randomBytes(24).toString('hex')

const networkOf = (
  { boundary: { network, egressClass }, form, proxy }: CellRequest,
  host: HostFacts,
): Plan['network'] => {
  switch (network.kind) {
    case 'none':
      return 'none'
    case 'all':
      // It is the network of the host itself; only the proxy, which is not on the way, could keep it to reading.
      if (egressClass.level !== 'write') {
        throw fail('network-grant-unsupported', {
          grant: 'all',
          problem:
            'all of the network is given without the proxy, which alone could hold egress_class: ' + egressClass.level,
          fix: 'name the hosts (network: ["api.example.org"]), or leave egress_class out',
        })
      }
      // Host sockets in granted folders could then be reached: nobody would be there to say no.
      if (form === 'landlock' && !host.listener.held) {
        throw fail('network-grant-unsupported', {
          grant: 'all',
          problem: 'neither a network namespace nor a seccomp listener can be had here',
          fix: 'run `cordon doctor`',
        })
      }
      return 'all'
    case 'hosts':
      refuseUnbrokered(network.entries, form, proxy !== undefined, host)
      return {
        port: proxy?.port ?? 0,
        token: newToken(),
        reaches: reachesOf(network.entries),
        answeredBy: host.listener.held ? 'keeper' : 'outer-keeper',
      }
  }
}

/** Hosts are granted by name, which only who answers connect() can tell. */
const refuseUnbrokered = (
  entries: readonly HostGrant[],
  form: Form,
  isServed: boolean,
  { listener, nesting, landlock }: HostFacts,
): void => {
  const refuse = (problem: string, fix: string) =>
    fail('network-grant-unsupported', { grant: entries.map(({ text }) => text).join(', '), problem, fix })
  if (!isServed)
    throw refuse(
      'grants by host need a proxy, and this call has none',
      'run it by `cordon run` or createCordon(), or grant none or all of the network',
    )
  const nested: Attempt =
    form === 'landlock' ? nesting : { held: false, stage: 'nesting', problem: 'it is for the landlock form' }
  if (!listener.held && !nested.held)
    throw refuse(
      `grants by host need a seccomp listener (${listener.problem}), or an outer cell that grants hosts ` +
        `itself (${nested.problem})`,
      'run `cordon doctor`; inside another cell, grant the hosts to that one, too',
    )
  const unseen = listener.held
    ? undefined
    : entries.find(
        ({ action, destination }) =>
          action === 'deny' && (destination.kind === 'address' || destination.kind === 'cidr'),
      )
  if (unseen !== undefined)
    throw refuse(
      `only the outer cell knows which addresses names lead to, so that ${unseen.text} could not be denied here`,
      'deny it in the policy of the outer cell',
    )
  if (form === 'landlock' && landlock.abi < 4)
    throw refuse('grants by host need a network namespace, or Landlock of ABI 4 (Linux 6.7)', 'run `cordon doctor`')
}

const trapsOf = (
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
  // Counting every fork costs a little and can interrupt one by a signal, so only who sets the limit pays.
  if (boundary.limits.processes !== undefined) traps.push('fork')
  if (boundary.limits.memory !== undefined) traps.push('memory-file')
  if (boundary.exec.kind !== 'all') traps.push('exec')
  // Opens for writing are few. Each that is watched costs some ten microseconds, which programs notice that read
  // thousands.
  traps.push('change')
  if (observe === 'reads') traps.push('read')
  if (observe === 'everything') traps.push('open')
  // `rm -r` removes thousands, so its removals are watched only where somebody watches the command.
  if (observe === 'everything' || (holdsProtected && stdio.in !== 'frames')) traps.push('name')
  if (form === 'landlock') traps.push('metadata', 'write')
  // The limit of a user namespace is set in its own /proc.
  if (form === 'landlock' || !host.ownProc.held) traps.push('watch')
  // Whether a socket may listen is asked of the socket itself. Where that cannot be had, or Landlock (before ABI 4)
  // does not see bind(), only such exist that may.
  if (form === 'landlock' && boundary.network.kind === 'none' && (!host.borrowing.held || host.landlock.abi < 4))
    traps.push('socket')
  // From ABI 6 on Landlock itself keeps signals inside.
  if (form === 'landlock' && host.landlock.abi < 6) traps.push('signal')
  return traps
}

/**
 * What of a plan a launcher may know before it is made, to enter its namespaces meanwhile: its network. Undefined
 * where that is not all that they depend on.
 */
export const headStartOf = ({ boundary, form }: CellRequest, host: HostFacts): 'none' | 'all' | undefined =>
  form === 'namespaces' && cgroupOf(boundary, host) === undefined
    ? boundary.network.kind === 'all'
      ? 'all'
      : 'none'
    : undefined

/** The form a request gets: the one it names, or the strongest that this host holds. */
export const chooseForm = (wanted: Form | 'auto', host: HostFacts): Form => {
  const held = { namespaces: host.namespaces, landlock: host.landlock }
  const order: readonly Form[] = wanted === 'auto' ? ['namespaces', 'landlock'] : [wanted]
  const chosen = order.find((form) => held[form].held)
  if (chosen !== undefined) return chosen
  const problem = order.map((form) => `${form}: ${problemOf(held[form])}`).join('; ')
  throw fail('host-cannot-hold', {
    mechanism: order.join(' or '),
    problem,
    fix: 'run `cordon doctor`: it says what is missing and how to get it',
  })
}

const problemOf = (attempt: HostFacts['namespaces']): string =>
  attempt.held ? 'held' : `${attempt.stage}: ${attempt.problem}`

/** What is missing is the grant, not the command: that is another error, with another exit status. */
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
