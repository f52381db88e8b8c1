import type { CordonError } from '../errors/index.js'
import type { AbsolutePath } from '../policy/index.js'

import { openCell } from './launch/cell.js'
import { findCgroupPlace } from './host/cgroup.js'
import { encodePlan } from './plan/encode-plan.js'
import { BORROWED_PROC_RULES } from './plan/layout.js'
import { spawnLauncher } from './launch/nursery.js'
import { objectAt } from './grants/object-at.js'
import { ALL_FRAMES } from './plan/plan.js'
import type { Form, Plan, Rule, Step, Trap } from './plan/plan.js'
import type { Identity } from './plan/workspace-owner.js'

/** What this host can hold, found by building small cells, never by reading settings. */
export interface HostFacts {
  readonly namespaces: Attempt
  /** Whether a cell may have a /proc of its own, or must borrow the host's and hide its parts. */
  readonly ownProc: Attempt
  readonly landlock: Attempt & { readonly abi: number }
  readonly listener: Attempt
  /**
   * Where there is no listener, because this runs inside another cell: whether that one's keeper serves cells inside
   * it.
   */
  readonly nesting: Attempt
  /** Whether the keeper may borrow the tool's own sockets, or must put others in their place. */
  readonly borrowing: Attempt
  /** Whether calls get cgroups of their own, and beneath which folder. */
  readonly cgroup: { readonly held: true; readonly parent: AbsolutePath } | Extract<Attempt, { readonly held: false }>
  /** Whether what all processes of a cell use together can be added up, for limits. */
  readonly measuring: Attempt
  readonly kernelSecrets: readonly AbsolutePath[]
  /** Whether this process runs as root, whom rlimits and file modes do not hold. */
  readonly isRoot: boolean
  /** As whom cells run, where that is not who runs this process. */
  readonly identity: Identity | undefined
  /** Where a cell without a root of its own gets its private folder. */
  readonly temporaryFolder: AbsolutePath
}

export type Attempt =
  { readonly held: true } | { readonly held: false; readonly stage: string; readonly problem: string }

const at = (path: string) => path as AbsolutePath

const MINIMAL_STEPS: readonly Step[] = [
  { kind: 'bind', access: 'rx', path: at('/usr') },
  { kind: 'scratch', path: at('/tmp') },
]
const MINIMAL_RULES: readonly Rule[] = [{ access: 'rx', path: at('/usr') }]

const probePlan = (
  form: Form,
  steps: readonly Step[],
  rules: readonly Rule[],
  traps: readonly Trap[],
  network: Plan['network'] = 'none',
): Plan => ({
  form,
  steps,
  rules,
  kept: { roots: [], sealed: [], hidden: [] },
  exec: { kind: 'all' },
  cwd: at('/'),
  cgroup: undefined,
  temporary: at('/tmp'),
  network,
  limits: { scratch: 1 << 20 },
  traps,
  stdio: ALL_FRAMES,
  foreground: false,
  clock: 'start',
  probe: true,
})

type Tried = Attempt & { readonly abi: number; readonly status: number; readonly measurable: boolean }

export const probeHost = async (
  launcher: string,
  surroundings: Pick<HostFacts, 'isRoot' | 'temporaryFolder' | 'identity'>,
): Promise<HostFacts> => {
  const attempt = async (plan: Plan): Promise<Tried> => {
    const cell = openCell(spawnLauncher(launcher, ALL_FRAMES, undefined, surroundings.identity), encodePlan(plan))
    try {
      const { landlock, exit, measurable } = await cell.start(
        { program: at('/'), argv: ['-'], environment: {} },
        undefined,
        { onStdout: ignore, onStderr: ignore },
      )
      return { held: true, abi: landlock, status: exit.code, measurable }
    } catch (error) {
      const { code, params, message } = error as CordonError
      // Says nothing about the host.
      if (code === 'launcher-mismatch') throw error
      return {
        held: false,
        stage: String(params['stage'] ?? 'launcher'),
        problem: `${String(params['errno'] ?? message)} ${String(params['detail'] ?? '')}`.trim(),
        abi: 0,
        status: -1,
        measurable: false,
      }
    }
  }
  const withProc: Step = { kind: 'proc', path: at('/proc') }
  const borrowedProc: Step = { kind: 'bind', access: 'r', path: at('/proc') }
  const [landlock, trapped, ownProc, cgroup] = await Promise.all([
    attempt(probePlan('landlock', [], MINIMAL_RULES, [])),
    attempt(probePlan('landlock', [], MINIMAL_RULES, ['connect'])),
    attempt(probePlan('namespaces', [...MINIMAL_STEPS, withProc], MINIMAL_RULES, [])),
    tryCgroup(attempt),
  ])
  const namespaces = ownProc.held
    ? ownProc
    : await attempt(
        probePlan('namespaces', [...MINIMAL_STEPS, borrowedProc], [...MINIMAL_RULES, ...BORROWED_PROC_RULES], []),
      )
  const keeper = keeperFacts(trapped)
  return {
    namespaces: attemptOf(namespaces),
    ownProc: attemptOf(ownProc),
    landlock: { ...landlockOf(landlock), abi: landlock.abi },
    ...keeper,
    nesting: keeper.listener.held
      ? NOT_NESTED
      : attemptOf(await attempt(probePlan('landlock', [], MINIMAL_RULES, [], NESTED_PROBE))),
    measuring: measuringOf(namespaces, landlock),
    cgroup,
    kernelSecrets: kernelSecrets(surroundings.isRoot),
    ...surroundings,
  }
}

const NOT_NESTED: Attempt = {
  held: false,
  stage: 'nesting',
  problem: 'it is not needed: cells have a listener of their own',
}

const NESTED_PROBE: Plan['network'] = { port: 1, token: '0', reaches: [], answeredBy: 'outer-keeper' }

const ignore = () => undefined

const tryCgroup = async (attempt: (plan: Plan) => Promise<Tried>): Promise<HostFacts['cgroup']> => {
  const place = findCgroupPlace()
  if (place.kind === 'none') return { held: false, stage: 'cgroup', problem: place.problem }
  const plan = probePlan('landlock', [], MINIMAL_RULES, [])
  const tried = await attempt({
    ...plan,
    limits: { ...plan.limits, memory: 64 << 20, processes: 8 },
    cgroup: place.path,
  })
  return tried.held ? { held: true, parent: place.path } : { held: false, stage: tried.stage, problem: tried.problem }
}

const attemptOf = (tried: Tried): Attempt =>
  tried.held ? { held: true } : { held: false, stage: tried.stage, problem: tried.problem }

/** Without a pid namespace all processes of a call are ended by Landlock's scope of signals, or by looking for them. */
const landlockOf = (tried: Tried): Attempt =>
  tried.held && tried.abi < SIGNALS_ARE_SCOPED && !tried.measurable
    ? {
        held: false,
        stage: 'supervise',
        problem:
          'the processes of a call could not all be ended: Landlock is older than ABI 6, and /proc does not show them',
      }
    : attemptOf(tried)

const SIGNALS_ARE_SCOPED = 6

const measuringOf = (...tried: readonly Tried[]): Attempt =>
  tried.some(({ measurable }) => measurable)
    ? { held: true }
    : {
        held: false,
        stage: 'supervise',
        problem: '/proc does not show the processes of a cell (inside another cell, it shows a process only itself)',
      }

/** As the launcher's probe ends (`enum probe_status` in native/boundary/tool.h). */
export const PROBE_STATUSES = ['held', 'nothing-borrowed', 'memory-unreadable'] as const

/** A listener is worth nothing to a keeper that cannot read what the tool asks for. */
const keeperFacts = (trapped: Tried): Pick<HostFacts, 'listener' | 'borrowing'> => {
  if (!trapped.held) return { listener: attemptOf(trapped), borrowing: attemptOf(trapped) }
  const refused = (problem: string): Attempt => ({ held: false, stage: 'seccomp-listener', problem })
  const status = PROBE_STATUSES[trapped.status]
  if (status === 'memory-unreadable') {
    const unreadable = refused(
      'the memory of the tool cannot be read (kernel.yama.ptrace_scope above 1, or a container that refuses ' +
        'process_vm_readv and /proc/PID/mem)',
    )
    return { listener: unreadable, borrowing: unreadable }
  }
  if (status === undefined)
    return {
      listener: refused(`a probe of it ended with ${String(trapped.status)}`),
      borrowing: refused('nobody could ask'),
    }
  return {
    listener: { held: true },
    borrowing: status === 'nothing-borrowed' ? refused('pidfd_getfd is refused') : { held: true },
  }
}

// Kernel keyrings are of the user, not of the namespace. The rest is root's to read, also without capabilities.
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
