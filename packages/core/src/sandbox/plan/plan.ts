import type { AbsolutePath, Form, Limits } from '../../policy/index.js'
import { LIMIT_NAMES } from '../../policy/index.js'

// The words that a plan consists of; native/wire/plan.c knows the same (docs/protocol.md, kept equal by a test).

/** Read, write, execute, device (ioctl); or names only. */
export type Access = 'r' | 'rx' | 'rw' | 'rwx' | 'rd' | 'rwd' | 'rwxd' | 'l'

/** How the cell's root is built, in order: a parent before its contents. The `landlock` form uses only files. */
export type Step = { readonly path: AbsolutePath } & (
  | { readonly kind: 'bind'; readonly access: Access }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'file'; readonly content: string }
  /** Replaces a file that was bound. */
  | { readonly kind: 'cover'; readonly content: string }
  | { readonly kind: 'hide' | 'directory' | 'proc' | 'scratch' | 'terminals' }
)

/** A Landlock rule: this object and everything beneath it. */
export interface Rule {
  readonly access: Access
  readonly path: AbsolutePath
}

export const TRAPS = [
  'connect',
  'fork',
  'exec',
  'open',
  'read',
  'change',
  'name',
  'metadata',
  'memory-file',
  'socket',
  'signal',
  'write',
  'watch',
] as const
export type Trap = (typeof TRAPS)[number]

/**
 * The limits of a policy, and `userProcesses`: the default of `processes`. Supervision enforces it, and in a namespace
 * rlimit and the highest number of a process, instead of counting every fork.
 */
export type PlanLimit = keyof Limits | 'userProcesses'
export const PLAN_LIMITS: readonly PlanLimit[] = [...LIMIT_NAMES, 'userProcesses']

export const STREAM_LETTERS = { direct: 'd', frames: 'f', terminal: 't' } as const

/**
 * `direct`: a descriptor of the launcher. `frames`: to the host. `terminal`: a new terminal that is connected with the
 * caller's.
 */
export type Stream = keyof typeof STREAM_LETTERS

export interface Stdio {
  readonly in: Stream
  readonly out: Stream
  readonly err: Stream
}

export const ALL_FRAMES: Stdio = { in: 'frames', out: 'frames', err: 'frames' }

export const REACH_KINDS = ['name', 'below', 'block'] as const

/** A destination: a name, all names below one, or a block of addresses. */
export interface Reach {
  readonly kind: (typeof REACH_KINDS)[number]
  readonly value: string
  readonly port: number
}

/** Granted hosts. Connections to them go to the proxy. */
export interface ProxyNetwork {
  /** The proxy's port on the cell's loopback. */
  readonly port: number
  /** Identifies the call to the proxy. Every cell has another one. */
  readonly token: string
  readonly reaches: readonly Reach[]
  /**
   * Who answers connect(): the cell's own keeper, or that of the cell around it. `proxy`: nobody, so that the tool has
   * to ask the proxy itself.
   */
  readonly answeredBy: 'keeper' | 'outer-keeper' | 'proxy'
}

export const brokeredOf = ({ network }: Pick<Plan, 'network'>): ProxyNetwork | undefined =>
  typeof network === 'string' ? undefined : network

/** What the launcher builds. It makes no decisions itself. */
export interface Plan {
  readonly form: Form
  readonly steps: readonly Step[]
  readonly rules: readonly Rule[]
  /** Write roots in which the keeper acts for the tool, with their seals and hidden files; see kept.c. */
  readonly kept: {
    readonly roots: readonly AbsolutePath[]
    readonly sealed: readonly AbsolutePath[]
    readonly hidden: readonly AbsolutePath[]
  }
  readonly exec: { readonly kind: 'all' } | { readonly kind: 'only'; readonly programs: readonly AbsolutePath[] }
  readonly cwd: AbsolutePath
  readonly temporary: AbsolutePath
  readonly cgroup: AbsolutePath | undefined
  readonly network: 'none' | 'all' | ProxyNetwork
  readonly limits: Readonly<Partial<Record<PlanLimit, number>>>
  readonly traps: readonly Trap[]
  readonly stdio: Stdio
  /** Whether the tool has the terminal from the start, or once it reads from it. */
  readonly foreground: boolean
  /** When time limits start: with the program, or with the call that the program waits for. */
  readonly clock: 'start' | 'begin'
  /** Whether frequent output waits up to a millisecond for more, or is sent at once to somebody who waits for it. */
  readonly delivery: 'gathered' | 'prompt'
  readonly probe: boolean
}

export const NOTHING_KEPT: Plan['kept'] = { roots: [], sealed: [], hidden: [] }

export interface Command {
  readonly program: AbsolutePath
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}
