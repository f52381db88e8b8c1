// Finds out what this host can enforce, by building small cells. Settings are never read for it.
import type { CordonError } from '../errors/index.js'
import type { AbsolutePath, BackendName, Form } from '../policy/index.js'

import { openCell } from './launch/cell.js'
import type { Launched } from './launch/cell.js'
import { spawnWalled } from './launch/walled.js'
import { findCgroupPlace } from './host/cgroup.js'
import { encodePlan } from './plan/encode-plan.js'
import { BORROWED_PROC_RULES } from './plan/layout.js'
import { spawnLauncher } from './launch/nursery.js'
import { objectAt } from './grants/object-at.js'
import { ALL_FRAMES, NOTHING_KEPT } from './plan/plan.js'
import type { Plan, Rule, Step } from './plan/plan.js'
import type { Identity } from './plan/workspace-owner.js'
import { bringsMounts } from './plan/wall-facts.js'
import type { WallFacts } from './plan/wall-facts.js'
import type { Wall, WalledCell } from './walls/wall.js'

export interface HostFacts {
  /** The program with which it was tried. */
  readonly launcher: string
  readonly namespaces: Attempt
  /** Whether a cell may have its own /proc. Otherwise it borrows the host's and hides parts of it. */
  readonly ownProc: Attempt
  readonly landlock: Attempt & { readonly abi: number }
  /** The namespaces with a /proc of their own, without Landlock. */
  readonly mounts: Attempt
  readonly listener: Attempt
  /**
   * If there is no listener because this runs inside another cell: whether that cell's keeper serves cells inside it.
   */
  readonly nesting: Attempt
  /** Whether the keeper may borrow the tool's sockets. Otherwise it replaces them. */
  readonly borrowing: Attempt
  /** Whether each call gets a cgroup, and beneath which folder. */
  readonly cgroup: { readonly held: true; readonly parent: AbsolutePath } | Refused
  /** Whether the use of all processes of a cell can be added up, for limits. */
  readonly measuring: Attempt
  readonly kernelSecrets: readonly AbsolutePath[]
  /** Whether this process runs as root, which rlimits and file modes do not restrict. */
  readonly isRoot: boolean
  /** The user of the cells, if it is not the user of this process. */
  readonly identity: Identity | undefined
  /** What makes namespaces around the launcher. These facts are those inside it. */
  readonly wall: WallFacts | undefined
  /** Stronger backends that `auto` did not take. */
  readonly passedOver: readonly PassedOver[]
  /** The parent of the private folder of a cell without its own root. */
  readonly temporaryFolder: AbsolutePath
}

export interface PassedOver {
  readonly backend: BackendName
  readonly reason: string
}

export type Attempt = { readonly held: true } | Refused

interface Refused {
  readonly held: false
  readonly stage: string
  readonly problem: string
}

const HELD: Attempt = { held: true }
const refused = (stage: string, problem: string): Refused => ({ held: false, stage, problem })

const at = (path: string) => path as AbsolutePath

const MINIMAL_STEPS: readonly Step[] = [
  { kind: 'bind', access: 'rx', path: at('/usr') },
  { kind: 'scratch', path: at('/tmp') },
]
const MINIMAL_RULES: readonly Rule[] = [{ access: 'rx', path: at('/usr') }]

const OWN_PROC: Step = { kind: 'proc', path: at('/proc') }
/** Landlock would hide the processes of others in a borrowed /proc. */
const WITHOUT_LANDLOCK: Partial<Plan> = { steps: [...MINIMAL_STEPS, OWN_PROC], rules: [] }

const probePlan = (form: Form, parts: Partial<Plan>): Plan => ({
  form,
  steps: [],
  rules: MINIMAL_RULES,
  kept: NOTHING_KEPT,
  exec: { kind: 'all' },
  cwd: at('/'),
  cgroup: undefined,
  temporary: at('/tmp'),
  network: 'none',
  limits: { scratch: 1 << 20 },
  traps: [],
  stdio: ALL_FRAMES,
  foreground: false,
  clock: 'start',
  relay: 'gathered',
  probe: true,
  ...parts,
})

interface Tried {
  readonly outcome: Attempt
  readonly abi: number
  readonly status: number
  readonly measurable: boolean
}

type Try = (form: Form, parts?: Partial<Plan>) => Promise<Tried>

export type Surroundings = Pick<HostFacts, 'isRoot' | 'temporaryFolder' | 'identity'>

const attemptWith =
  (launch: () => Launched): Try =>
  async (form, parts = {}) => {
    const cell = openCell(launch(), encodePlan(probePlan(form, parts)))
    try {
      const { landlock, exit, measurable } = await cell.start(
        { program: at('/'), argv: ['-'], environment: {} },
        undefined,
        { onStdout: ignore, onStderr: ignore },
      )
      return { outcome: HELD, abi: landlock, status: exit.code, measurable }
    } catch (error) {
      const { code, params, message } = error as CordonError
      // Says nothing about the host.
      if (code === 'launcher-mismatch') throw error
      const outcome = refused(String(params['stage'] ?? 'launcher'), String(params['problem'] ?? message))
      return { outcome, abi: 0, status: -1, measurable: false }
    }
  }

/** The facts inside a wall, found by starting it. */
export const probeWall = async (launcher: string, surroundings: Surroundings, wall: Wall): Promise<HostFacts> => {
  const steps = bringsMounts(wall) ? WALLED_STEPS : []
  const cell: WalledCell = { steps, temporary: at('/tmp'), network: 'own', scratch: 1 << 20 }
  const attempt = attemptWith(() => spawnWalled(wall, cell, ALL_FRAMES, ignore, surroundings.identity))
  const listened = await attempt('landlock', { traps: ['connect'] })
  const landlock = listened.outcome.held ? listened : await attempt('landlock')
  const without = refused(wall.name, 'the launcher makes no namespaces of its own inside')
  return {
    launcher,
    namespaces: without,
    mounts: without,
    ownProc: bringsMounts(wall) ? HELD : without,
    landlock: { ...landlockOf(landlock), abi: landlock.abi },
    ...keeperFacts(listened),
    nesting: refused('nesting', 'a wall hides the outer cell'),
    measuring: landlock.measurable ? HELD : UNMEASURED,
    cgroup: refused('cgroup', `${wall.name} hides the cgroups of the host`),
    kernelSecrets: kernelSecrets(surroundings.isRoot),
    wall,
    passedOver: [],
    ...surroundings,
  }
}

export const probeHost = async (launcher: string, surroundings: Surroundings): Promise<HostFacts> => {
  const attempt = attemptWith(() => spawnLauncher(launcher, ALL_FRAMES, undefined, surroundings.identity))
  /** Without Landlock, the mounts form tries it. */
  const attemptInAny = async (parts: Partial<Plan>): Promise<Tried> => {
    const tried = await attempt('landlock', parts)
    return tried.outcome.held || tried.outcome.stage !== 'landlock'
      ? tried
      : attempt('mounts', { ...parts, ...WITHOUT_LANDLOCK })
  }
  const trapped = attemptInAny({ traps: ['connect'] })
  const [listened, landlock, ownProc, cgroup] = await Promise.all([
    trapped,
    // The same with less: asked for only if the trap is what was refused.
    trapped.then((tried) => (tried.outcome.held && tried.abi > 0 ? tried : attempt('landlock'))),
    attempt('namespaces', { steps: [...MINIMAL_STEPS, OWN_PROC] }),
    tryCgroup(attemptInAny),
  ])
  const namespaces = ownProc.outcome.held
    ? ownProc
    : await attempt('namespaces', {
        steps: [...MINIMAL_STEPS, { kind: 'bind', access: 'r', path: at('/proc') }],
        rules: [...MINIMAL_RULES, ...BORROWED_PROC_RULES],
      })
  // With less to build, so that it needs no attempt of its own where the stronger form was built.
  const mounts = ownProc.outcome.held ? ownProc : await attempt('mounts', WITHOUT_LANDLOCK)
  const keeper = keeperFacts(listened)
  return {
    launcher,
    namespaces: namespaces.outcome,
    ownProc: ownProc.outcome,
    landlock: { ...landlockOf(landlock), abi: landlock.abi },
    mounts: mounts.outcome,
    ...keeper,
    nesting: keeper.listener.held
      ? refused('nesting', 'it is not needed: cells have a listener of their own')
      : (await attempt('landlock', { network: NESTED_PROBE })).outcome,
    measuring: namespaces.measurable || landlock.measurable || mounts.measurable ? HELD : UNMEASURED,
    cgroup,
    wall: undefined,
    passedOver: [],
    kernelSecrets: kernelSecrets(surroundings.isRoot),
    ...surroundings,
  }
}

const UNMEASURED = refused(
  'supervise',
  '/proc does not show the processes of a cell (inside another cell, it shows a process only itself)',
)

/** The system folders, or the links to them, as a cell has them. */
const WALLED_STEPS: readonly Step[] = [
  { kind: 'proc', path: at('/proc') },
  { kind: 'scratch', path: at('/tmp') },
  { kind: 'bind', access: 'rx', path: at('/usr') },
]

const NESTED_PROBE: Plan['network'] = { port: 1, token: '0', reaches: [], answeredBy: 'outer-keeper' }

const ignore = () => undefined

const tryCgroup = async (attempt: (parts: Partial<Plan>) => Promise<Tried>): Promise<HostFacts['cgroup']> => {
  const place = findCgroupPlace()
  if (place.kind === 'none') return refused('cgroup', place.problem)
  const limits = { scratch: 1 << 20, memory: 64 << 20, processes: 8 }
  const { outcome } = await attempt({ limits, cgroup: place.path })
  return outcome.held ? { held: true, parent: place.path } : outcome
}

/** Without a pid namespace, Landlock's scope of signals ends all processes of a call, or the supervisor finds them. */
const landlockOf = ({ outcome, abi, measurable }: Tried): Attempt =>
  outcome.held && abi < SIGNALS_ARE_SCOPED && !measurable
    ? refused(
        'supervise',
        'the processes of a call could not all be ended: Landlock is older than ABI 6, and /proc does not show them',
      )
    : outcome

/** From this version on, Landlock keeps signals inside. */
export const SIGNALS_ARE_SCOPED = 6

/** The exit statuses of the launcher's probe (`enum probe_status` in native/boundary/tool.h). */
export const PROBE_STATUSES = ['held', 'nothing-borrowed', 'memory-unreadable'] as const

/** A listener is useless if the keeper cannot read the tool's arguments. */
const keeperFacts = ({ outcome, status }: Tried): Pick<HostFacts, 'listener' | 'borrowing'> => {
  const both = (attempt: Attempt) => ({ listener: attempt, borrowing: attempt })
  if (!outcome.held) return both(outcome)
  const refuse = (problem: string): Attempt => refused('seccomp-listener', problem)
  switch (PROBE_STATUSES[status]) {
    case 'held':
      return both(HELD)
    case 'nothing-borrowed':
      return { listener: HELD, borrowing: refuse('pidfd_getfd is refused') }
    case 'memory-unreadable':
      return both(
        refuse(
          'the memory of the tool cannot be read (kernel.yama.ptrace_scope above 1, or a container that refuses ' +
            'process_vm_readv and /proc/PID/mem)',
        ),
      )
    default:
      return {
        listener: refuse(`a probe of it ended with ${status}`),
        borrowing: refuse('there is no listener'),
      }
  }
}

// Kernel keyrings belong to the user, not to the namespace. Root can read the others even without capabilities.
const SECRETS_FROM_ALL = ['/proc/keys', '/proc/key-users']
const SECRETS_OF_ROOT = [
  'timer_list',
  'slabinfo',
  'vmallocinfo',
  'kpagecount',
  'kpageflags',
  'kpagecgroup',
  'sched_debug',
  'latency_stats',
  'kcore',
  'kmsg',
].map((name) => `/proc/${name}`)

const kernelSecrets = (isRoot: boolean): readonly AbsolutePath[] =>
  [...SECRETS_FROM_ALL, ...(isRoot ? SECRETS_OF_ROOT : [])].map(at).filter((path) => objectAt(path) !== undefined)
