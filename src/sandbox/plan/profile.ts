import type { Boundary } from '../../policy/index.js'

import type { HostFacts } from '../host.js'
import type { Enforced, SandboxProfile } from './sandbox-profile.js'
import { PLAN_LIMITS, brokeredOf } from './plan.js'
import type { Plan, PlanLimit } from './plan.js'
import { renderReach } from './reaches.js'

export const enforcedBy = (plan: Plan, host: HostFacts): Enforced => {
  const landlock = `landlock:${String(host.landlock.abi)}`
  const namespaces = plan.form === 'namespaces'
  const traps = (name: Plan['traps'][number]) => plan.traps.includes(name)
  const listener = traps('connect') ? ['seccomp-listener'] : []
  return {
    filesystem_read: namespaces ? ['mount-namespace', landlock] : [landlock],
    // Before ABI 3 Landlock does not see a file being truncated.
    filesystem_write: namespaces
      ? ['mount-namespace', landlock]
      : [landlock, ...(host.landlock.abi >= 3 ? [] : ['seccomp'])],
    carve_outs: namespaces
      ? ['mount-namespace']
      : [landlock, ...(plan.kept.roots.length > 0 ? ['seccomp-listener'] : [])],
    file_names: namespaces ? ['mount-namespace'] : [],
    file_metadata: namespaces ? ['mount-namespace'] : traps('metadata') ? ['seccomp-listener'] : ['seccomp'],
    network:
      plan.network === 'all'
        ? []
        : [
            ...(namespaces
              ? ['network-namespace', 'seccomp']
              : [...(host.landlock.abi >= 4 ? [landlock] : []), 'seccomp', ...listener]),
            ...(plan.network === 'none' ? [] : ['broker']),
            ...(brokeredOf(plan)?.answeredBy === 'outer-keeper' ? ['outer-cell'] : []),
          ],
    unix_sockets: listener.length > 0 ? listener : ['seccomp'],
    processes: [
      ...(namespaces ? ['pid-namespace'] : []),
      ...(host.landlock.abi >= 6 ? [landlock] : []),
      'seccomp',
      ...(traps('signal') ? ['seccomp-listener'] : []),
    ],
    // Of others' processes: what they are doing, and whether there are any (their numbers can be asked for one by one).
    process_contents: namespaces && host.ownProc.held ? ['pid-namespace', landlock] : [landlock],
    process_list: namespaces && host.ownProc.held ? ['pid-namespace'] : [],
    ipc: namespaces ? ['ipc-namespace', 'seccomp'] : ['seccomp'],
    environment: ['cleared'],
    exec:
      plan.exec.kind === 'all'
        ? []
        : namespaces
          ? [landlock, 'mount-noexec']
          : [landlock, ...(traps('exec') ? ['seccomp-listener'] : [])],
    syscalls: ['seccomp'],
    privileges: ['no-new-privs', 'capabilities', ...(namespaces ? ['user-namespace'] : [])],
    end_of_call: [
      ...(plan.cgroup === undefined ? [] : ['cgroup']),
      ...(namespaces
        ? ['pid-namespace']
        : [...(host.landlock.abi >= 6 ? [landlock] : []), ...(host.measuring.held ? ['supervisor'] : [])]),
    ],
    ...limitMechanisms(plan, host.measuring.held, host.isRoot),
  }
}

const limitMechanisms = (plan: Plan, canMeasure: boolean, isRoot: boolean): Enforced =>
  Object.fromEntries(
    PLAN_LIMITS.filter((name) => plan.limits[name] !== undefined).map((name) => [
      `limits.${name === 'userProcesses' ? 'processes' : name}`,
      mechanismsOf(name, plan, canMeasure, isRoot),
    ]),
  )

const mechanismsOf = (
  name: PlanLimit,
  { form, cgroup: parent, traps }: Plan,
  canMeasure: boolean,
  isRoot: boolean,
): readonly string[] => {
  const supervisor = canMeasure ? ['supervisor'] : []
  const cgroup = parent === undefined ? [] : ['cgroup']
  switch (name) {
    case 'memory':
      return [...cgroup, ...supervisor]
    case 'processes':
      return [...cgroup, ...(traps.includes('fork') ? ['seccomp-listener'] : [])]
    case 'userProcesses':
      // Of processes in a namespace of their own the kernel counts those of this user alone; of root's it counts none.
      return [...cgroup, ...supervisor, ...(form === 'namespaces' && !isRoot ? ['rlimit'] : [])]
    case 'cpu':
      return ['rlimit', ...supervisor]
    case 'wall':
    case 'output':
      return ['supervisor']
    case 'openFiles':
    case 'fileSize':
      return ['rlimit']
    case 'scratch':
      return form === 'namespaces' ? ['tmpfs'] : supervisor
  }
}

export interface ProfiledRoots {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly sealed: readonly string[]
  readonly closed: readonly string[]
}

/** What the policy leaves open has a default, and that is applied, too. */
const limitsAsApplied = ({ userProcesses, ...limits }: Plan['limits']): Boundary['limits'] =>
  userProcesses === undefined ? limits : { processes: userProcesses, ...limits }

export const describeProfile = (
  plan: Plan,
  host: HostFacts,
  roots: ProfiledRoots,
  variables: readonly string[],
): SandboxProfile => ({
  mode: 'sandboxed',
  backend: 'native',
  form: plan.form,
  cwd: plan.cwd,
  ...(host.identity === undefined ? {} : { runs_as: `${String(host.identity.uid)}:${String(host.identity.gid)}` }),
  read_roots: roots.read,
  write_roots: roots.write,
  sealed: roots.sealed,
  closed_folders: roots.closed,
  network: typeof plan.network === 'string' ? plan.network : plan.network.reaches.map(renderReach),
  environment_ref: [...variables].sort(),
  process_limits: limitsAsApplied(plan.limits),
  violation_refs: [],
  enforced: enforcedBy(plan, host),
})
