import type { AbsolutePath, Limits } from '../../policy/index.js'
import { LIMIT_NAMES } from '../../policy/index.js'

// The words that a plan consists of; native/wire/plan.c knows the same (docs/protocol.md, kept equal by a test).

/** Read, write, execute, device (ioctl); or names only. */
export type Access = 'r' | 'rx' | 'rw' | 'rwx' | 'rd' | 'rwd' | 'rwxd' | 'l'

/** How the cell's root is assembled, in order: a parent before what lies in it. Ignored by the `landlock` form. */
export type Step =
  | { readonly kind: 'bind'; readonly access: Access; readonly path: AbsolutePath }
  | { readonly kind: 'hide'; readonly path: AbsolutePath }
  | { readonly kind: 'directory'; readonly path: AbsolutePath }
  | { readonly kind: 'link'; readonly path: AbsolutePath; readonly target: string }
  | { readonly kind: 'file'; readonly path: AbsolutePath; readonly content: string }
  /** Over a file that came with what is bound. */
  | { readonly kind: 'cover'; readonly path: AbsolutePath; readonly content: string }
  | { readonly kind: 'proc' | 'scratch' | 'terminals'; readonly path: AbsolutePath }

/** A Landlock rule: this object and everything beneath it. */
export interface Rule {
  readonly access: Access
  readonly path: AbsolutePath
}

export const FORMS = ['namespaces', 'landlock'] as const

/** `namespaces` is the whole boundary; `landlock` is what holds where user namespaces are refused. */
export type Form = (typeof FORMS)[number]

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
 * Those of a policy, and `userProcesses`: the default of `processes`, held by rlimit and looks instead of by counting
 * every fork.
 */
export type PlanLimit = keyof Limits | 'userProcesses'
export const PLAN_LIMITS: readonly PlanLimit[] = [...LIMIT_NAMES, 'userProcesses']

export const STREAM_LETTERS = { direct: 'd', frames: 'f', terminal: 't' } as const

/**
 * To what the launcher was started with, to the host in frames, or to a new terminal that the caller's is joined to.
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

/** Granted hosts: connections to them are led to the proxy. */
export interface Brokered {
  /** Where the proxy is reached on the loopback that the cell has. */
  readonly port: number
  /** By which the proxy knows the call; another one for every cell. */
  readonly token: string
  readonly reaches: readonly Reach[]
  /** Who answers connect(): the cell's own keeper, or that of the cell around it. */
  readonly answeredBy: 'keeper' | 'outer-keeper'
}

export const brokeredOf = ({ network }: Pick<Plan, 'network'>): Brokered | undefined =>
  typeof network === 'string' ? undefined : network

/** What the launcher builds. It makes no decisions itself. */
export interface Plan {
  readonly form: Form
  readonly steps: readonly Step[]
  readonly rules: readonly Rule[]
  /**
   * Write roots in which the keeper acts for the tool, what in them stays as it is, and what is not even read; see
   * kept.c.
   */
  readonly kept: {
    readonly roots: readonly AbsolutePath[]
    readonly sealed: readonly AbsolutePath[]
    readonly hidden: readonly AbsolutePath[]
  }
  readonly exec: { readonly kind: 'all' } | { readonly kind: 'only'; readonly programs: readonly AbsolutePath[] }
  readonly cwd: AbsolutePath
  readonly temporary: AbsolutePath
  /** Beneath which folder the call gets a cgroup of its own; undefined where it gets none. */
  readonly cgroup: AbsolutePath | undefined
  readonly network: 'none' | 'all' | Brokered
  readonly limits: Readonly<Partial<Record<PlanLimit, number>>>
  readonly traps: readonly Trap[]
  readonly stdio: Stdio
  /** With a terminal: whether the tool has it from the start, or once it reads from it. */
  readonly foreground: boolean
  /** When the clocks of its limits start: with the program, or with the call that the program waits for. */
  readonly clock: 'start' | 'begin'
  readonly probe: boolean
}

export interface Command {
  readonly program: AbsolutePath
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}
