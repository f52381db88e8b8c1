import type { Boundary } from '../policy/index.js'

import type { HostFacts } from './host.js'
import type { Plan } from './plan.js'

/** The record `sandbox_profile`: the boundary as it was applied, never as it was hoped for. */
export interface SandboxProfile {
  readonly mode: 'sandboxed'
  readonly backend: 'native'
  readonly form: Plan['form']
  readonly cwd: string
  readonly read_roots: readonly string[]
  readonly write_roots: readonly string[]
  /** What exists in the write roots and stays as it is: protected names, and what the policy takes out of `write`. */
  readonly sealed: readonly string[]
  /** Folders of the write roots in which nothing can be made, renamed or removed; see closed-folders.ts. */
  readonly closed_folders: readonly string[]
  readonly network: 'none' | 'all'
  /** The names of the variables; their values are nobody's business. */
  readonly environment_ref: readonly string[]
  readonly process_limits: Boundary['limits']
  readonly violation_refs: readonly string[]
  readonly enforced: Enforced
}

/** For each boundary the mechanisms that hold it; an empty list is a boundary that is not held here. */
export type Enforced = Readonly<Record<string, readonly string[]>>

export const enforcedBy = (plan: Plan, host: HostFacts): Enforced => {
  const landlock = `landlock:${String(host.landlock.abi)}`
  const namespaces = plan.form === 'namespaces'
  const traps = (name: Plan['traps'][number]) => plan.traps.includes(name)
  const listener = traps('connect') ? ['seccomp-listener'] : []
  return {
    filesystem_read: namespaces ? ['mount-namespace', landlock] : [landlock],
    // Before ABI 3 Landlock does not see a file being truncated.
    filesystem_write: namespaces ? ['mount-namespace', landlock] : [landlock, ...(host.landlock.abi >= 3 ? [] : ['seccomp'])],
    carve_outs: namespaces ? ['mount-namespace'] : [landlock],
    file_names: namespaces ? ['mount-namespace'] : [],
    file_metadata: namespaces ? ['mount-namespace'] : traps('metadata') ? ['seccomp-listener'] : ['seccomp'],
    network: plan.network === 'all' ? [] : namespaces ? ['network-namespace', 'seccomp'] : [...(host.landlock.abi >= 4 ? [landlock] : []), 'seccomp', ...listener],
    unix_sockets: listener.length > 0 ? listener : ['seccomp'],
    processes: [...(namespaces ? ['pid-namespace'] : []), ...(host.landlock.abi >= 6 ? [landlock] : []), 'seccomp', ...(traps('signal') ? ['seccomp-listener'] : [])],
    // Of others' processes: what they are doing, and whether there are any (their numbers can be asked for one by one).
    process_contents: namespaces && host.ownProc.held ? ['pid-namespace', landlock] : [landlock],
    process_list: namespaces && host.ownProc.held ? ['pid-namespace'] : [],
    ipc: namespaces ? ['ipc-namespace', 'seccomp'] : ['seccomp'],
    environment: ['cleared'],
    exec: plan.programs === undefined ? [] : namespaces ? [landlock, 'mount-noexec'] : [landlock, ...(traps('exec') ? ['seccomp-listener'] : [])],
    syscalls: ['seccomp'],
    privileges: ['no-new-privs', 'capabilities', ...(namespaces ? ['user-namespace'] : [])],
    end_of_call: namespaces ? ['pid-namespace'] : [...(host.landlock.abi >= 6 ? [landlock] : []), ...(host.measuring.held ? ['supervisor'] : [])],
    ...limitMechanisms(plan, host.measuring.held),
  }
}

const limitMechanisms = (plan: Plan, canMeasure: boolean): Enforced => {
  const { limits } = plan
  const supervisor = canMeasure ? ['supervisor'] : []
  return {
    ...(limits.memory === undefined ? {} : { 'limits.memory': supervisor }),
    ...(limits.processes === undefined ? {} : { 'limits.processes': ['seccomp-listener'] }),
    ...(limits['user-processes'] === undefined ? {} : { 'limits.processes': [...supervisor, ...(plan.form === 'namespaces' && process.getuid?.() !== 0 ? ['rlimit'] : [])] }),
    ...(limits.cpu === undefined ? {} : { 'limits.cpu': ['rlimit', ...supervisor] }),
    ...(limits.wall === undefined ? {} : { 'limits.wall': ['supervisor'] }),
    ...(limits.output === undefined ? {} : { 'limits.output': ['supervisor'] }),
    ...(limits.files === undefined ? {} : { 'limits.openFiles': ['rlimit'] }),
    ...(limits['file-size'] === undefined ? {} : { 'limits.fileSize': ['rlimit'] }),
    'limits.scratch': plan.form === 'namespaces' ? ['tmpfs'] : supervisor,
  }
}

export interface ProfiledRoots {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly sealed: readonly string[]
  readonly closed: readonly string[]
}

export const describeProfile = (plan: Plan, host: HostFacts, boundary: Boundary, roots: ProfiledRoots, variables: readonly string[]): SandboxProfile => ({
  mode: 'sandboxed',
  backend: 'native',
  form: plan.form,
  cwd: plan.cwd,
  read_roots: roots.read,
  write_roots: roots.write,
  sealed: roots.sealed,
  closed_folders: roots.closed,
  network: plan.network,
  environment_ref: [...variables].sort(),
  process_limits: boundary.limits,
  violation_refs: [],
  enforced: enforcedBy(plan, host),
})
