import { readFileSync } from 'node:fs'

import type { CordonError } from '../errors/index.js'
import type { AbsolutePath } from '../policy/index.js'

import { openCell } from './cell.js'
import { BORROWED_PROC_RULES } from './layout.js'
import { spawnLauncher } from './nursery.js'
import { objectAt } from './object-at.js'
import { ALL_FRAMES } from './plan.js'
import type { Form, Plan, Rule, Step, Trap } from './plan.js'

/** What this host can hold, found by building small cells, never by reading settings. */
export interface HostFacts {
  readonly namespaces: Attempt
  /** Whether a cell may have a /proc of its own, or must borrow the host's and hide its parts. */
  readonly ownProc: Attempt
  readonly landlock: Attempt & { readonly abi: number }
  readonly listener: Attempt
  /** Whether the keeper may borrow the tool's own sockets, or must put others in their place. */
  readonly borrowing: Attempt
  readonly cgroup: Attempt
  readonly kernelSecrets: readonly AbsolutePath[]
}

export type Attempt = { readonly held: true } | { readonly held: false; readonly stage: string; readonly problem: string }

const at = (path: string) => path as AbsolutePath

const MINIMAL_STEPS: readonly Step[] = [
  { kind: 'bind', access: 'rx', path: at('/usr') },
  { kind: 'scratch', path: at('/tmp') },
]
const MINIMAL_RULES: readonly Rule[] = [{ access: 'rx', path: at('/usr') }]

const probePlan = (form: Form, steps: readonly Step[], rules: readonly Rule[], traps: readonly Trap[]): Plan => ({
  form,
  steps,
  rules,
  programs: undefined,
  cwd: at('/'),
  temporary: at('/tmp'),
  network: 'none',
  limits: { scratch: 1 << 20 },
  traps,
  stdio: ALL_FRAMES,
  foreground: false,
  probe: true,
})

export const probeHost = async (launcher: string): Promise<HostFacts> => {
  const attempt = async (plan: Plan): Promise<Attempt & { readonly abi: number; readonly status: number }> => {
    const cell = openCell(spawnLauncher(launcher, ALL_FRAMES), plan)
    try {
      const { landlock, exit } = await cell.start({ program: at('/'), argv: ['-'], environment: {} }, undefined, { onStdout: ignore, onStderr: ignore })
      return { held: true, abi: landlock, status: exit.code }
    } catch (error) {
      const { params, message } = error as CordonError
      return { held: false, stage: String(params['stage'] ?? 'launcher'), problem: `${String(params['errno'] ?? message)} ${String(params['detail'] ?? '')}`.trim(), abi: 0, status: -1 }
    }
  }
  const withProc: Step = { kind: 'proc', path: at('/proc') }
  const borrowedProc: Step = { kind: 'bind', access: 'r', path: at('/proc') }
  const [landlock, trapped, ownProc] = await Promise.all([
    attempt(probePlan('landlock', [], MINIMAL_RULES, [])),
    attempt(probePlan('landlock', [], MINIMAL_RULES, ['connect'])),
    attempt(probePlan('namespaces', [...MINIMAL_STEPS, withProc], MINIMAL_RULES, [])),
  ])
  const namespaces = ownProc.held
    ? ownProc
    : await attempt(probePlan('namespaces', [...MINIMAL_STEPS, borrowedProc], [...MINIMAL_RULES, ...BORROWED_PROC_RULES], []))
  return { namespaces, ownProc, landlock, ...keeperFacts(trapped), cgroup: { held: false, stage: 'cgroup', problem: 'not used yet' }, kernelSecrets: kernelSecrets() }
}

const ignore = () => undefined

// As the launcher's probe ends, see native/tool.c.
const NOTHING_BORROWED = 1
const MEMORY_UNREADABLE = 2

/** A listener is worth nothing to a keeper that cannot read what the tool asks for. */
const keeperFacts = (trapped: Attempt & { readonly status: number }): Pick<HostFacts, 'listener' | 'borrowing'> => {
  if (!trapped.held) return { listener: trapped, borrowing: trapped }
  const refused = (problem: string): Attempt => ({ held: false, stage: 'seccomp-listener', problem })
  if (trapped.status === MEMORY_UNREADABLE) {
    const unreadable = refused('the memory of the tool cannot be read (kernel.yama.ptrace_scope above 1, or a container that refuses process_vm_readv and /proc/PID/mem)')
    return { listener: unreadable, borrowing: unreadable }
  }
  return { listener: { held: true }, borrowing: trapped.status === NOTHING_BORROWED ? refused('pidfd_getfd is refused') : { held: true } }
}

// Kernel keyrings are of the user, not of the namespace. The rest is root's to read, also without capabilities.
const SECRETS_FROM_ALL = ['/proc/keys', '/proc/key-users']
const SECRETS_OF_ROOT = ['timer_list', 'slabinfo', 'vmallocinfo', 'kpagecount', 'kpageflags', 'kpagecgroup', 'sched_debug', 'latency_stats', 'kcore', 'kmsg'].map((name) => `/proc/${name}`)

const kernelSecrets = (): readonly AbsolutePath[] =>
  [...SECRETS_FROM_ALL, ...(process.getuid?.() === 0 ? SECRETS_OF_ROOT : [])].map(at).filter((path) => objectAt(path) !== undefined)

export const kernelRelease = (): string => readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim()
