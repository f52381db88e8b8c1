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
  const attempt = async (plan: Plan): Promise<Attempt & { readonly abi: number }> => {
    const cell = openCell(spawnLauncher(launcher, ALL_FRAMES), plan)
    try {
      const { landlock } = await cell.start({ program: at('/'), argv: ['-'], environment: {} }, undefined, { onStdout: ignore, onStderr: ignore })
      return { held: true, abi: landlock }
    } catch (error) {
      const { params, message } = error as CordonError
      return { held: false, stage: String(params['stage'] ?? 'launcher'), problem: `${String(params['errno'] ?? message)} ${String(params['detail'] ?? '')}`.trim(), abi: 0 }
    }
  }
  const withProc: Step = { kind: 'proc', path: at('/proc') }
  const borrowedProc: Step = { kind: 'bind', access: 'r', path: at('/proc') }
  const [landlock, listener, ownProc] = await Promise.all([
    attempt(probePlan('landlock', [], MINIMAL_RULES, [])),
    attempt(probePlan('landlock', [], MINIMAL_RULES, ['connect'])),
    attempt(probePlan('namespaces', [...MINIMAL_STEPS, withProc], MINIMAL_RULES, [])),
  ])
  const namespaces = ownProc.held
    ? ownProc
    : await attempt(probePlan('namespaces', [...MINIMAL_STEPS, borrowedProc], [...MINIMAL_RULES, ...BORROWED_PROC_RULES], []))
  return { namespaces, ownProc, landlock, listener, cgroup: { held: false, stage: 'cgroup', problem: 'not used yet' }, kernelSecrets: kernelSecrets() }
}

const ignore = () => undefined

// Kernel keyrings are of the user, not of the namespace. The rest is root's to read, also without capabilities.
const SECRETS_FROM_ALL = ['/proc/keys', '/proc/key-users']
const SECRETS_OF_ROOT = ['timer_list', 'slabinfo', 'vmallocinfo', 'kpagecount', 'kpageflags', 'kpagecgroup', 'sched_debug', 'latency_stats', 'kcore', 'kmsg'].map((name) => `/proc/${name}`)

const kernelSecrets = (): readonly AbsolutePath[] =>
  [...SECRETS_FROM_ALL, ...(process.getuid?.() === 0 ? SECRETS_OF_ROOT : [])].map(at).filter((path) => objectAt(path) !== undefined)

export const kernelRelease = (): string => readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim()
