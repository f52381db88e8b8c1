import type { AbsolutePath } from '../policy/index.js'

/** Letters of the native plan: read, write, execute, device (ioctl), list names only. */
export type Access = string

/** How the cell's root is assembled, in order: a parent before what lies in it. Ignored by the `landlock` form. */
export type Step =
  | { readonly kind: 'bind'; readonly access: Access; readonly path: AbsolutePath }
  | { readonly kind: 'hide'; readonly path: AbsolutePath }
  | { readonly kind: 'directory'; readonly path: AbsolutePath }
  | { readonly kind: 'link'; readonly path: AbsolutePath; readonly target: string }
  | { readonly kind: 'file'; readonly path: AbsolutePath; readonly content: string }
  | { readonly kind: 'proc' | 'scratch' | 'terminals'; readonly path: AbsolutePath }

/** A Landlock rule: this object and everything beneath it. */
export interface Rule {
  readonly access: Access
  readonly path: AbsolutePath
}

/** `namespaces` is the whole boundary; `landlock` is what holds where user namespaces are refused. */
export type Form = 'namespaces' | 'landlock'

export type Trap = 'connect' | 'fork' | 'exec' | 'open' | 'metadata' | 'memory-file' | 'socket' | 'signal'

export interface PlanLimits {
  readonly memory: number
  readonly processes: number
  readonly 'user-processes': number
  readonly cpu: number
  readonly wall: number
  readonly output: number
  readonly files: number
  readonly 'file-size': number
  readonly scratch: number
}

/** To what the launcher was started with, to the host in frames, or to a new terminal that the caller's is joined to. */
export type Stream = 'direct' | 'frames' | 'terminal'

export interface Stdio {
  readonly in: Stream
  readonly out: Stream
  readonly err: Stream
}

export const ALL_FRAMES: Stdio = { in: 'frames', out: 'frames', err: 'frames' }

export const hasTerminal = (stdio: Stdio): boolean => [stdio.in, stdio.out, stdio.err].includes('terminal')

/** What the launcher is told to build. It decides nothing itself. */
export interface Plan {
  readonly form: Form
  readonly steps: readonly Step[]
  readonly rules: readonly Rule[]
  /** What may be executed; undefined when that is not limited. */
  readonly programs: readonly AbsolutePath[] | undefined
  readonly cwd: AbsolutePath
  readonly temporary: AbsolutePath
  readonly network: 'none' | 'all'
  readonly limits: Partial<PlanLimits>
  readonly traps: readonly Trap[]
  readonly stdio: Stdio
  /** With a terminal: whether the tool has it from the start, or once it reads from it. */
  readonly foreground: boolean
  readonly probe: boolean
}

export interface Command {
  readonly program: AbsolutePath
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}
