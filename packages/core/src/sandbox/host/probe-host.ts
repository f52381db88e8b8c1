// Finds out what this host can enforce, by building small cells. Settings are never read for it.
import type { CordonError } from '../../errors/index.js'
import type { AbsolutePath, Form } from '../../policy/index.js'

import { objectAt } from '../grants/object-at.js'
import type { StartedLauncher } from '../launch/cell.js'
import { spawnLauncher, spawnPair } from '../launch/nursery.js'
import { spawnWalled } from '../launch/walled.js'
import { SUCCEEDED, bringsMounts, failedAt } from '../plan/host-facts.js'
import type { Attempt, HostFacts } from '../plan/host-facts.js'
import { BORROWED_PROC_RULES } from '../plan/layout.js'
import { ALL_FRAMES } from '../plan/plan.js'
import type { Plan, Step } from '../plan/plan.js'
import type { Wall, WalledCell } from '../walls/wall.js'
import { findCgroupPlace } from './cgroup.js'
import { MINIMAL_RULES, PROBE_STATUSES, endsAllProcesses, probePlan, runProbe } from './probe-cell.js'
import type { ProbeResult } from './probe-cell.js'

const at = (path: string) => path as AbsolutePath

const MINIMAL_STEPS: readonly Step[] = [
  { kind: 'bind', access: 'rx', path: at('/usr') },
  { kind: 'scratch', path: at('/tmp') },
]

const OWN_PROC: Step = { kind: 'proc', path: at('/proc') }
/** Landlock would hide the processes of others in a borrowed /proc. */
const WITHOUT_LANDLOCK: Partial<Plan> = { steps: [...MINIMAL_STEPS, OWN_PROC], rules: [] }

interface Tried extends ProbeResult {
  readonly outcome: Attempt
}

type Try = (form: Form, parts?: Partial<Plan>) => Promise<Tried>

export type Surroundings = Pick<HostFacts, 'isRoot' | 'temporaryFolder' | 'identity'>

const attemptWith =
  (launch: () => StartedLauncher): Try =>
  async (form, parts = {}) => {
    try {
      return { outcome: SUCCEEDED, ...(await runProbe(launch(), probePlan(form, parts))) }
    } catch (error) {
      const { code, params, message } = error as CordonError
      // Says nothing about the host.
      if (code === 'launcher-mismatch') throw error
      const outcome = failedAt(String(params['stage'] ?? 'launcher'), String(params['problem'] ?? message))
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
  const without = failedAt(wall.name, 'the launcher makes no namespaces of its own inside')
  return {
    ...surroundings,
    launcher,
    namespaces: without,
    mounts: without,
    ownProc: bringsMounts(wall) ? SUCCEEDED : without,
    landlock: { ...landlockOf(landlock), abi: landlock.abi },
    ...keeperFacts(listened),
    nesting: failedAt('nesting', 'a wall hides the outer cell'),
    measuring: landlock.measurable ? SUCCEEDED : UNMEASURED,
    cgroup: failedAt('cgroup', `${wall.name} hides the cgroups of the host`),
    kernelSecrets: kernelSecrets(surroundings),
    wall,
    passedOver: [],
  }
}

export const probeHost = async (launcher: string, surroundings: Surroundings): Promise<HostFacts> => {
  const attempt = attemptWith(() => spawnLauncher(launcher, ALL_FRAMES, undefined, surroundings.identity))
  /** Without Landlock, the mounts form tries it. */
  const attemptInAny = async (parts: Partial<Plan>, attemptFirst = attempt): Promise<Tried> => {
    const tried = await attemptFirst('landlock', parts)
    return tried.outcome.held || tried.outcome.stage !== 'landlock'
      ? tried
      : attempt('mounts', { ...parts, ...WITHOUT_LANDLOCK })
  }
  // On most hosts these two are all that is asked.
  const [one, other] = spawnPair(launcher, surroundings.identity)
  const trapped = attemptInAny(
    { traps: ['connect'] },
    attemptWith(() => one),
  )
  const [listened, landlock, ownProc, cgroup] = await Promise.all([
    trapped,
    // The same with less: asked for only if the trap is what was refused.
    trapped.then((tried) => (tried.outcome.held && tried.abi > 0 ? tried : attempt('landlock'))),
    attemptWith(() => other)('namespaces', { steps: [...MINIMAL_STEPS, OWN_PROC] }),
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
    ...surroundings,
    launcher,
    namespaces: namespaces.outcome,
    ownProc: ownProc.outcome,
    landlock: { ...landlockOf(landlock), abi: landlock.abi },
    mounts: mounts.outcome,
    ...keeper,
    nesting: keeper.listener.held
      ? failedAt('nesting', 'it is not needed: cells have a listener of their own')
      : (await attempt('landlock', { network: NESTED_PROBE })).outcome,
    measuring: namespaces.measurable || landlock.measurable || mounts.measurable ? SUCCEEDED : UNMEASURED,
    cgroup,
    wall: undefined,
    passedOver: [],
    kernelSecrets: kernelSecrets(surroundings),
  }
}

const UNMEASURED = failedAt(
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
  if (place.kind === 'none') return failedAt('cgroup', place.problem)
  const limits = { scratch: 1 << 20, memory: 64 << 20, processes: 8 }
  const { outcome } = await attempt({ limits, cgroup: place.path })
  return outcome.held ? { held: true, parent: place.path } : outcome
}

const landlockOf = (tried: Tried): Attempt =>
  tried.outcome.held && !endsAllProcesses(tried)
    ? failedAt(
        'supervise',
        'the processes of a call could not all be ended: Landlock is older than ABI 6, and /proc does not show them',
      )
    : tried.outcome

/** A listener is useless if the keeper cannot read the tool's arguments. */
const keeperFacts = ({ outcome, status }: Tried): Pick<HostFacts, 'listener' | 'borrowing'> => {
  const both = (attempt: Attempt) => ({ listener: attempt, borrowing: attempt })
  if (!outcome.held) return both(outcome)
  const refuse = (problem: string): Attempt => failedAt('seccomp-listener', problem)
  switch (PROBE_STATUSES[status]) {
    case 'held':
      return both(SUCCEEDED)
    case 'nothing-borrowed':
      return { listener: SUCCEEDED, borrowing: refuse('pidfd_getfd is refused') }
    case 'memory-unreadable':
      return both(
        refuse(
          'the memory of the tool cannot be read (kernel.yama.ptrace_scope above 1, or a container that refuses ' +
            'process_vm_readv and /proc/PID/mem)',
        ),
      )
    default:
      return { listener: refuse(`a probe of it ended with ${status}`), borrowing: refuse('there is no listener') }
  }
}

// Kernel keyrings belong to the user, not to the namespace. Root can read the others even without capabilities.
const SECRETS_FROM_ALL = ['/proc/keys', '/proc/key-users']
const SECRETS_OF_ROOT = [
  ...['timer_list', 'slabinfo', 'vmallocinfo', 'kpagecount', 'kpageflags', 'kpagecgroup', 'sched_debug'],
  ...['latency_stats', 'kcore', 'kmsg'],
].map((name) => `/proc/${name}`)

const kernelSecrets = ({ isRoot }: Surroundings): readonly AbsolutePath[] =>
  [...SECRETS_FROM_ALL, ...(isRoot ? SECRETS_OF_ROOT : [])].map(at).filter((path) => objectAt(path) !== undefined)
