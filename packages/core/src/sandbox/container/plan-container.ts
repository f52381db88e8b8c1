// Plans the cell inside a container: in the landlock form, with the image as what the system is elsewhere.
import { randomBytes } from 'node:crypto'

import { fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary, Mechanism } from '../../policy/index.js'
import { DEFAULT_LIMITS, isWithinPath } from '../../policy/index.js'

import { pathsOf } from '../grants/object-at.js'
import type { RealObject } from '../grants/object-at.js'
import { SYSTEM_PATH } from '../grants/program.js'
import { NAMESPACES } from '../plan/host-facts.js'
import type { HostFacts } from '../plan/host-facts.js'
import { environmentOf } from '../plan/environment.js'
import { BORROWED_PROC_RULES, WRITABLE_DEVICES, rule } from '../plan/layout.js'
import { NO_NETWORK_FILES, networkFiles } from '../plan/network-files.js'
import { limitsOf, trapsOf } from '../plan/plan-supervision.js'
import { carvedIn, encodedOnce, newFolderIn } from '../plan/planned-cell.js'
import type { CellRequest, PlannedCell } from '../plan/planned-cell.js'
import { networkOf } from '../plan/plan-network.js'
import { NOTHING_KEPT } from '../plan/plan.js'
import type { Plan, Rule, Step } from '../plan/plan.js'
import { describeProfile } from '../plan/profile.js'
import { refuseMissingMechanisms } from '../plan/requirements.js'
import type { EnforcedBy } from '../plan/sandbox-profile.js'
import type { Hello } from './hello.js'
import type { Engine, Image } from './engine.js'
import type { GrantedMounts } from './granted-mounts.js'

/** Mounted anew for each container. */
export const TEMPORARY = '/tmp' as AbsolutePath

interface ContainerPlanInput {
  readonly request: CellRequest
  readonly facts: HostFacts
  readonly engine: Engine
  readonly image: Image
  readonly mounts: GrantedMounts
  readonly sealed: readonly RealObject[]
  readonly hello: Hello
}

export const planContainer = (input: ContainerPlanInput): PlannedCell => {
  const { request, facts, image, mounts, sealed, hello } = input
  const { boundary } = request
  const path = hello.program as AbsolutePath | undefined
  if (path === undefined)
    throw fail('program-not-found', {
      program: request.program,
      fix: `give a path in the image, or a name in its PATH (${searchPathOf(image)})`,
    })
  const network = networkOf(request, facts)
  const temporary = newFolderIn(TEMPORARY)
  const { own } =
    typeof network === 'string'
      ? NO_NETWORK_FILES
      : networkFiles(request.proxy?.authority ?? '', temporary, boundary.limits.scratch ?? DEFAULT_LIMITS.scratch)
  const plan: Plan = {
    form: 'landlock',
    steps: own.map((file): Step => ({ kind: 'file', ...file })),
    rules: [...imageRules(hello), ...grantRules(mounts), ...ownRules(temporary)],
    // Mounts of their own keep protected names as they are.
    kept: NOTHING_KEPT,
    exec: { kind: 'all' },
    cwd: folderOf(request.cwd, mounts, image),
    temporary,
    cgroup: undefined,
    network,
    limits: limitsOf(boundary, 'landlock', facts),
    traps: trapsOf(request, facts, sealed.length > 0),
    stdio: request.stdio,
    foreground: false,
    clock: 'start',
    delivery: request.delivery,
    probe: false,
  }
  const variables = Object.keys({ ...image.environment, ...environmentOf(plan, request, undefined) })
  const profile = describeProfile(
    plan,
    facts,
    {
      read: pathsOf(mounts.survey.read),
      write: pathsOf(mounts.survey.write),
      sealed: pathsOf([...mounts.survey.sealed, ...sealed]),
      closed: [],
    },
    variables,
  )
  return {
    plan,
    ...encodedOnce(plan),
    program: { path, executables: [path], loaders: [], libraries: [] },
    profile: {
      ...profile,
      backend: 'container',
      image: image.digest,
      enforced: withContainer(profile.enforced, input.engine, boundary),
    },
    ground: pathsOf(mounts.binds),
    carved: carvedIn(mounts.survey),
    closed: [],
    wallSteps: [],
    imageVariables: { ...image.environment, PATH: searchPathOf(image) },
  }
}

export const searchPathOf = ({ environment }: Image): string => environment['PATH'] ?? SYSTEM_PATH

/** Everything of the image can be read and executed. All names can be listed, also those of the kernel's views. */
const imageRules = ({ entries }: Hello): readonly Rule[] => [
  rule('l', '/'),
  ...entries
    .filter(({ path }) => !['/proc', '/sys', '/dev', TEMPORARY].includes(path) && !LAUNCHER.test(path))
    .map(({ path }) => rule('rx', path)),
]

/** Unlike any name that an image could have prepared. */
export const launcherPath = (): string => `/.cordon-${randomBytes(12).toString('hex')}`
const LAUNCHER = /^\/\.cordon-[0-9a-f]{24}$/

const grantRules = ({ binds }: GrantedMounts): readonly Rule[] =>
  binds
    .filter(({ access }) => access !== 'hide')
    .map(({ path, access, object }) =>
      object === 'device'
        ? rule(access === 'write' ? 'rwd' : 'rd', path)
        : rule(access === 'write' ? 'rwx' : 'rx', path),
    )

const ownRules = (temporary: AbsolutePath): readonly Rule[] => [
  ...BORROWED_PROC_RULES,
  // One right more than any write root has, so that others' sockets cannot be moved into it, see landlock.c.
  rule('rwxd', temporary),
  ...WRITABLE_DEVICES.map((device) => rule('rwd', device)),
]

/** The working directory of the tool if the container has it: a granted folder, or one with something granted in it. */
const folderOf = (cwd: AbsolutePath, { binds }: GrantedMounts, image: Image): AbsolutePath =>
  cwd !== '/' && binds.some(({ path }) => isWithinPath(cwd, path) || isWithinPath(path, cwd))
    ? cwd
    : (image.folder as AbsolutePath)

/** What the container adds to the boundary of the cell in it. */
const CONTAINER_HOLDS: Readonly<Record<string, readonly string[]>> = {
  filesystem_read: ['mount-namespace'],
  filesystem_write: ['mount-namespace', 'read-only-root'],
  carve_outs: ['mount-namespace'],
  file_names: ['mount-namespace'],
  network: ['network-namespace'],
  processes: ['pid-namespace'],
  process_contents: ['pid-namespace'],
  process_list: ['pid-namespace'],
  ipc: ['ipc-namespace'],
  privileges: ['no-new-privs', 'capabilities'],
  end_of_call: ['pid-namespace'],
}

const withContainer = (enforced: EnforcedBy, engine: Engine, { limits }: Boundary): EnforcedBy => {
  const added: Readonly<Record<string, readonly string[]>> = {
    ...CONTAINER_HOLDS,
    'limits.scratch': ['tmpfs'],
    ...(engine.limitsMemory && limits.memory !== undefined ? { 'limits.memory': ['cgroup'] } : {}),
    ...(engine.limitsProcesses ? { 'limits.processes': ['cgroup'] } : {}),
  }
  return Object.fromEntries(
    Object.entries(enforced).map(([boundary, mechanisms]) => [
      boundary,
      [...(added[boundary] ?? []).map((mechanism) => `container: ${mechanism}`), ...mechanisms],
    ]),
  )
}

const BY_CONTAINER: readonly Mechanism[] = NAMESPACES.filter((name) => name !== 'user-namespace')

/** Refuses what a container cannot hold exactly, before one is made. */
export const refuseInexpressible = ({ boundary }: CellRequest, facts: HostFacts): void => {
  if (boundary.network.kind === 'all')
    throw fail('network-grant-unsupported', {
      grant: 'all',
      problem: 'a container of Cordon has no network; granted hosts are reached through the proxy',
      fix: 'name the hosts (network: ["api.example.org"])',
    })
  if (boundary.exec.kind !== 'all')
    throw fail('grant-inexpressible', {
      section: 'exec',
      grant: boundary.exec.kind === 'none' ? 'none' : boundary.exec.programs.join(', '),
      problem: 'Cordon does not see the programs of an image before the container runs',
      fix: 'leave exec out, and use an image with only the programs that the tool needs',
    })
  const require = boundary.require.filter((mechanism) => !BY_CONTAINER.includes(mechanism))
  if (require.includes('user-namespace'))
    throw fail('host-cannot-hold', {
      mechanism: 'user-namespace',
      problem: 'whether a container has one of its own depends on the engine, and its cell makes none',
      fix: `do not require it; a container always has: ${BY_CONTAINER.join(', ')}`,
    })
  refuseMissingMechanisms({ require, network: boundary.network }, 'landlock', facts)
}
