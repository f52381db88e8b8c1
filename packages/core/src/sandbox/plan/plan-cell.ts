// Plans one cell: from a request and the host's facts to the plan that the launcher applies.
import { fail } from '../../errors/index.js'
import type { AbsolutePath, Form } from '../../policy/index.js'
import { isReadable } from '../../policy/index.js'

import { objectAt, pathsOf, placeAt, realPathOf } from '../grants/object-at.js'
import type { Place } from '../grants/object-at.js'
import { findProgram, refuseCarvedOutProgram } from '../grants/program.js'
import { surveyGrants } from '../grants/survey.js'
import type { Survey } from '../grants/survey.js'
import { hiddenInView } from '../grants/system-view.js'
import type { SystemView } from '../grants/system-view.js'
import type { HostFacts } from './host-facts.js'
import { layOutCell } from './cell-layout.js'
import { closedFolders } from './closed-folders.js'
import { environmentOf } from './environment.js'
import { FORM_HAS } from './form-has.js'
import { executionOf } from './plan-execution.js'
import { cgroupOf, limitsOf } from './plan-limits.js'
import { networkOf } from './plan-network.js'
import { trapsOf } from './plan-traps.js'
import type { Plan } from './plan.js'
import { carvedIn, madeOnce } from './planned-cell.js'
import type { CellRequest, PlannedCell } from './planned-cell.js'
import { describeProfile } from './profile.js'
import { bringsMounts } from './host-facts.js'
import { canReach } from './workspace-owner.js'

export const planCell = (
  request: CellRequest,
  host: HostFacts,
  wholeSystem: SystemView,
  sealed: readonly Place[],
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
    .flatMap(placeAt)
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
    traps: trapsOf(request, host, sealed.length > 0),
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
    ...madeOnce(plan),
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
export const headStartOf = ({ boundary, form }: CellRequest, host: HostFacts): 'none' | 'all' | undefined =>
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
