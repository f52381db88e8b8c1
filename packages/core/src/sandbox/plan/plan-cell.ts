// Plans one cell: from a request and the host's facts to the plan that the launcher applies.
import { CordonError, fail } from '../../errors/index.js'
import type { AbsolutePath, Form } from '../../policy/index.js'
import { DEFAULT_LIMITS, isReadable } from '../../policy/index.js'

import { objectAt, pathsOf, realObjectAt, realPathOf } from '../grants/object-at.js'
import type { RealObject } from '../grants/object-at.js'
import { findProgram, libraryFolders, linkedLibraries, refuseCarvedOutProgram } from '../grants/program.js'
import type { Program } from '../grants/program.js'
import { surveyGrants } from '../grants/survey.js'
import type { Survey } from '../grants/survey.js'
import { hiddenInView } from '../grants/system-view.js'
import type { SystemView } from '../grants/system-view.js'
import type { HostFacts } from './host-facts.js'
import { FORM_HAS, bringsMounts } from './host-facts.js'
import { closedFolders, layOutLandlock, privateRule } from './landlock-layout.js'
import { environmentOf } from './environment.js'
import { cgroupOf, limitsOf, trapsOf } from './plan-supervision.js'
import { networkOf } from './plan-network.js'
import type { Plan, Step } from './plan.js'
import { NOTHING_KEPT } from './plan.js'
import { carvedIn, encodedOnce, newFolderIn } from './planned-cell.js'
import type { CellRequest, PlannedCell } from './planned-cell.js'
import { describeProfile } from './profile.js'
import { canReach } from './workspace-owner.js'
import type { ExecutionRights, LayoutInput } from './layout.js'
import { layOutNamespaces } from './layout.js'
import { NO_NETWORK_FILES, networkFiles, withFiles } from './network-files.js'
import { hasOwnProc } from './requirements.js'

export const planCell = (
  request: CellRequest,
  host: HostFacts,
  wholeSystem: SystemView,
  sealed: readonly RealObject[],
): PlannedCell => {
  const { boundary, cwd, form } = request
  const system = reachableSystem(wholeSystem, host)
  const network = networkOf(request, host)
  // Links are followed: a working directory grants nothing.
  if (objectAt(realPathOf(cwd) ?? cwd) !== 'directory') throw fail('cwd-missing', { path: cwd })
  const program = findProgram(request.program, cwd, request.searchPath)
  refuseCarvedOutProgram(request.program, program, boundary)
  const granted = surveyGrants(boundary)
  if (!FORM_HAS[form].landlock) refuseReadOnlyDevices(granted)
  const survey = {
    ...granted,
    hidden: [...granted.hidden, ...hiddenInView(boundary, system)],
    sealed: [...granted.sealed, ...sealed],
  }
  const loaded = [...program.executables, ...program.loaders, ...program.libraries]
    .flatMap(realObjectAt)
    .filter(({ path }) => !isReadable(boundary, path))
  const execute = executionOf(request, program, host)
  const { layout, wallSteps, temporary } = layOutCell(request, host, { network, system, survey, loaded, execute })
  const plan: Plan = {
    form,
    ...layout,
    exec: execute.kind === 'all' ? execute : { kind: 'only', programs: execute.programs },
    cwd,
    temporary,
    cgroup: cgroupOf(boundary, host),
    network,
    limits: limitsOf(boundary, form, host),
    traps: trapsOf(request, host, survey.sealed.length > 0),
    stdio: request.stdio,
    foreground: request.foreground,
    clock: request.clock,
    delivery: request.delivery,
    probe: false,
  }
  const roots = {
    read: pathsOf([...system.places, ...system.files, ...survey.read, ...loaded]),
    write: pathsOf(survey.write),
    sealed: pathsOf(survey.sealed),
    closed: closedIn(survey, form, host),
  }
  return {
    plan,
    ...encodedOnce(plan),
    program,
    profile: describeProfile(plan, host, roots, variablesIn(plan, request)),
    wallSteps,
    ground: [...pathsOf([...granted.read, ...granted.write, ...granted.hidden, ...survey.sealed, ...loaded]), cwd],
    carved: carvedIn(granted),
    closed: roots.closed,
  }
}

/** The names of the variables that the program gets. */
const variablesIn = (plan: Plan, request: CellRequest): readonly string[] => {
  const { network, credentials } = request.boundary
  const placeholders = network.kind === 'hosts' ? credentials.flatMap(({ placeholder }) => placeholder ?? []) : []
  const variables = Object.fromEntries(placeholders.map(({ name, text }) => [name, text]))
  return Object.keys(environmentOf(plan, request, { proxySecret: '', variables }))
}

/** Landlock rules alone cannot seal a place in a folder in which the tool may create files. */
const closedIn = (
  { write, sealed, hidden, carvedLinks }: Survey,
  form: Form,
  host: HostFacts,
): readonly AbsolutePath[] =>
  FORM_HAS[form].ownRoot || bringsMounts(host.wall) || host.listener.held
    ? []
    : closedFolders(write, [...[...sealed, ...hidden].map(({ path }) => path), ...carvedLinks])

/** Presets name system folders. A user who is not root may not reach all of them. */
const reachableSystem = (system: SystemView, { identity }: HostFacts): SystemView =>
  identity === undefined ? system : { ...system, places: system.places.filter(({ path }) => canReach(identity, path)) }

/**
 * The network that a launcher may know before the plan, to enter its namespaces early. Undefined if they depend on
 * more.
 */
export const headStartOf = (
  { boundary, form }: Pick<CellRequest, 'boundary' | 'form'>,
  host: HostFacts,
): 'none' | 'all' | undefined =>
  FORM_HAS[form].ownRoot && cgroupOf(boundary, host) === undefined
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

/** The programs that a tool may start. */
const executionOf = (
  { boundary, cwd, searchPath, form }: CellRequest,
  program: Program,
  host: HostFacts,
): ExecutionRights => {
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
  if (!FORM_HAS[form].ownRoot && loaders.length > 0 && !host.listener.held) {
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
  return {
    kind: 'only',
    programs,
    files,
    libraries: FORM_HAS[form].landlock ? libraryFolders() : linkedLibraries(files),
  }
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

const TTY = '/dev/tty' as AbsolutePath

type Contents = Pick<LayoutInput, 'system' | 'survey' | 'loaded' | 'execute'> & Pick<Plan, 'network'>

interface CellLayout {
  readonly layout: Pick<Plan, 'steps' | 'rules' | 'kept'>
  /** What a wall around the launcher mounts. */
  readonly wallSteps: readonly Step[]
  readonly temporary: AbsolutePath
}

/** Chooses the layout by the form and the wall, and adds the private folder and the files of the network. */
const layOutCell = (
  { boundary, cwd, form, proxy }: CellRequest,
  host: HostFacts,
  { network, system, survey, loaded, execute }: Contents,
): CellLayout => {
  const has = FORM_HAS[form]
  const isWalled = bringsMounts(host.wall)
  const parent = temporaryParentFor(form, host, [...survey.read, ...survey.write])
  const temporary = has.ownRoot ? parent : newFolderIn(parent)
  const { names, covers, own } =
    typeof network === 'string'
      ? NO_NETWORK_FILES
      : networkFiles(proxy?.authority ?? '', temporary, boundary.limits.scratch ?? DEFAULT_LIMITS.scratch)
  const input: LayoutInput = {
    system: has.ownRoot || isWalled ? withFiles(system, names) : system,
    covers,
    own,
    survey,
    loaded,
    execute,
    cwd,
    temporary: isWalled ? parent : temporary,
    ownProc: hasOwnProc(form, host),
    kernelSecrets: host.kernelSecrets,
    tty: objectAt(TTY) !== undefined,
  }
  if (has.ownRoot) {
    const { steps, rules } = layOutNamespaces(input)
    return { layout: { steps, rules: has.landlock ? rules : [], kept: NOTHING_KEPT }, wallSteps: [], temporary }
  }
  const steps = own.map((file): Step => ({ kind: 'file', ...file }))
  if (!isWalled) return { layout: { steps, ...layOutLandlock(input, host.listener.held) }, wallSteps: [], temporary }
  const walled = layOutNamespaces({ ...input, own: [] })
  const rules = [...walled.rules, privateRule(input, temporary)]
  return { layout: { steps, rules, kept: NOTHING_KEPT }, wallSteps: walled.steps, temporary }
}

/** In a cell with its own root it is /tmp, unless the policy grants the host's. */
const temporaryParentFor = (form: Form, host: HostFacts, granted: readonly RealObject[]): AbsolutePath => {
  if (!FORM_HAS[form].ownRoot && !bringsMounts(host.wall)) return host.temporaryFolder
  return (granted.some(({ path }) => path === '/tmp') ? '/.tmp' : '/tmp') as AbsolutePath
}
