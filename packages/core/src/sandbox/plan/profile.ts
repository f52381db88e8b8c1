import type { Mechanism } from '../../policy/index.js'

import { FORM_HAS, bringsMounts } from './host-facts.js'
import type { HostFacts } from './host-facts.js'
import type { EnforcedBy, SandboxProfile } from './sandbox-profile.js'
import { PLAN_LIMITS } from './plan.js'
import type { ProxyNetwork, Plan, PlanLimit } from './plan.js'
import { renderReach } from './plan-network.js'
import { hasOwnProc } from './requirements.js'

export const enforcedBy = (plan: Plan, host: HostFacts): EnforcedBy => {
  const has = FORM_HAS[plan.form]
  const namespaces = has.ownRoot
  const abi = has.landlock ? host.landlock.abi : 0
  const landlock = when(has.landlock, `landlock:${host.landlock.abi}`)
  const { wall } = host
  const named = (mechanism: string) => (wall === undefined ? mechanism : `${wall.name}: ${mechanism}`)
  const by = (mechanism: Mechanism) => when(namespaces || wall?.brings.includes(mechanism) === true, named(mechanism))
  const mounts = by('mount-namespace')
  const ownProc = hasOwnProc(plan.form, host)
  const traps = (name: Plan['traps'][number]) => plan.traps.includes(name)
  const listener = when(traps('connect'), 'seccomp-listener')
  return {
    filesystem_read: [...mounts, ...landlock],
    // Before ABI 3 Landlock does not see a file being truncated.
    filesystem_write: [...mounts, ...landlock, ...when(!namespaces && abi < 3, 'seccomp')],
    carve_outs: mounts.length > 0 ? mounts : [...landlock, ...when(plan.kept.roots.length > 0, 'seccomp-listener')],
    file_names: mounts,
    file_metadata: namespaces ? mounts : [...mounts, traps('metadata') ? 'seccomp-listener' : 'seccomp'],
    network:
      plan.network === 'all'
        ? []
        : [
            ...(namespaces
              ? ['network-namespace', 'seccomp']
              : [...by('network-namespace'), ...(abi >= 4 ? landlock : []), 'seccomp', ...listener]),
            ...(plan.network === 'none' ? [] : BROKERED_BY[plan.network.answeredBy]),
          ],
    unix_sockets: listener.length > 0 ? listener : ['seccomp'],
    processes: [
      ...by('pid-namespace'),
      ...(abi >= 6 ? landlock : []),
      'seccomp',
      ...when(traps('signal'), 'seccomp-listener'),
    ],
    // Of others' processes: what they do, and their list (each number can be asked for).
    process_contents: [...when(ownProc, named('pid-namespace')), ...landlock],
    process_list: when(ownProc, named('pid-namespace')),
    ipc: [...by('ipc-namespace'), 'seccomp'],
    environment: ['cleared'],
    exec:
      plan.exec.kind === 'all'
        ? []
        : [...landlock, ...(namespaces ? ['mount-noexec'] : when(traps('exec'), 'seccomp-listener'))],
    syscalls: ['seccomp'],
    privileges: ['no-new-privs', 'capabilities', ...by('user-namespace')],
    end_of_call: [
      ...when(plan.cgroup !== undefined, 'cgroup'),
      ...(namespaces
        ? ['pid-namespace']
        : [...by('pid-namespace'), ...(abi >= 6 ? landlock : []), ...when(host.measuring.held, 'supervisor')]),
    ],
    ...Object.fromEntries(
      PLAN_LIMITS.filter((name) => plan.limits[name] !== undefined).map((name) => [
        `limits.${name === 'userProcesses' ? 'processes' : name}`,
        mechanismsOf(name, plan, host),
      ]),
    ),
  }
}

const BROKERED_BY: Readonly<Record<ProxyNetwork['answeredBy'], readonly string[]>> = {
  'keeper': ['broker'],
  'outer-keeper': ['broker', 'outer-cell'],
  'proxy': ['proxy'],
}

const when = (isSo: boolean, mechanism: string): readonly string[] => (isSo ? [mechanism] : [])

const mechanismsOf = (
  name: PlanLimit,
  { form, cgroup: parent, traps }: Plan,
  { measuring, isRoot, wall }: HostFacts,
): readonly string[] => {
  const supervisor = when(measuring.held, 'supervisor')
  const cgroup = when(parent !== undefined, 'cgroup')
  switch (name) {
    case 'memory':
      return [...cgroup, ...supervisor]
    case 'processes':
      return [...cgroup, ...when(traps.includes('fork'), 'seccomp-listener')]
    case 'userProcesses':
      // In a namespace the kernel counts this user's processes alone. It does not count root's.
      return [...cgroup, ...supervisor, ...when(FORM_HAS[form].ownProcesses && !isRoot, 'rlimit')]
    case 'cpu':
      return ['rlimit', ...supervisor]
    case 'wall':
    case 'output':
      return ['supervisor']
    case 'openFiles':
    case 'fileSize':
      return ['rlimit']
    case 'scratch':
      return FORM_HAS[form].ownRoot ? ['tmpfs'] : [...when(bringsMounts(wall), `${wall?.name}: tmpfs`), ...supervisor]
  }
}

type ProfiledRoots = Readonly<Record<'read' | 'write' | 'sealed' | 'closed', readonly string[]>>

export const describeProfile = (
  plan: Plan,
  host: HostFacts,
  roots: ProfiledRoots,
  variables: readonly string[],
): SandboxProfile => {
  const { userProcesses, ...limits } = plan.limits
  return {
    mode: 'sandboxed',
    backend: host.wall?.name ?? 'native',
    ...(host.passedOver.length === 0 ? {} : { passed_over: host.passedOver }),
    form: plan.form,
    cwd: plan.cwd,
    ...(host.identity === undefined ? {} : { runs_as: `${host.identity.uid}:${host.identity.gid}` }),
    read_roots: roots.read,
    write_roots: roots.write,
    sealed: roots.sealed,
    closed_folders: roots.closed,
    network: typeof plan.network === 'string' ? plan.network : plan.network.reaches.map(renderReach),
    environment_ref: [...variables].sort(),
    // With the default, if the policy sets no limit.
    process_limits: userProcesses === undefined ? limits : { processes: userProcesses, ...limits },
    violation_refs: [],
    enforced: enforcedBy(plan, host),
  }
}
