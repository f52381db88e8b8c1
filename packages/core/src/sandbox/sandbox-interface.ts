// The types of the sandbox's interface: what a caller passes, and what it can do.
import type { BackendName, Boundary, Form, Mechanism } from '../policy/index.js'

import type { CallResult } from './call-result.js'
import type { HostFacts } from './plan/host-facts.js'
import type { Cell, CellConnection } from './launch/cell.js'
import type { CallNetwork, Doors } from './launch/doors.js'
import type { Observing } from './plan/planned-cell.js'
import type { SandboxProfile } from './plan/sandbox-profile.js'
import type { AppliedProfile } from './result/applied-profile.js'

export interface SandboxOptions {
  /**
   * `native`: the launcher alone. `bubblewrap` and `firejail` make namespaces around it. `auto` takes the strongest
   * that starts here and holds what the policy requires (default: auto). `seatbelt`: macOS, experimental, never
   * chosen by itself.
   */
  readonly backend?: BackendName | 'auto'
  /** `auto` takes the strongest form that this host supports. */
  readonly form?: Form | 'auto'
  readonly launcher?: string
  /** `none` if few calls are expected: each call then starts its own launcher. */
  readonly nursery?: 'start' | 'none'
}

export interface CellSettings {
  readonly boundary: Boundary
  readonly cwd: string
  /** The source of `environment` entries without a value. Nothing else of it is passed on. */
  readonly hostEnvironment?: Readonly<Record<string, string>>
  readonly searchPath?: string
  readonly form?: Form | 'auto'
  /** (default: changes) */
  readonly observe?: Observing
  /**
   * `free`: no name is protected in the write roots. For a new folder in which nobody works and nothing starts
   * (default: protected).
   */
  readonly names?: 'protected' | 'free'
  /**
   * Starts the program before its call with this first input. It waits for the rest, which is the call's, and its time
   * limits count from there. All calls then have these arguments.
   */
  readonly early?: { readonly argv: readonly string[]; readonly stdin: Uint8Array }
  /** The proxy for granted hosts, by the certificate of its authority in PEM. Calls then name their network. */
  readonly proxy?: { readonly authority: string }
}

export interface RunInput {
  readonly argv: readonly string[]
  readonly stdin?: string | Uint8Array
  readonly signal?: AbortSignal
  readonly network?: CallNetwork
  readonly onStdout?: (bytes: Uint8Array) => void
  readonly onStderr?: (bytes: Uint8Array) => void
  /** The program closed its stdout. Told only of one with `onStarted`. */
  readonly onStdoutEnd?: () => void
  /** Called when the boundary is applied. If it rejects, the program does not start. */
  readonly beforeStart?: (applied: AppliedProfile) => Promise<void>
}

export interface RunRequest extends CellSettings, RunInput {
  /**
   * Keeps the input of the program open, for as long as its caller likes. Its output is passed on at once, has no limit
   * by default, and needs listeners, because it is not kept.
   */
  readonly onStarted?: (program: OpenProgram) => void
}

/** A program that runs until its caller ends it. */
export interface OpenProgram {
  readonly profile: SandboxProfile
  readonly write: (bytes: Uint8Array) => void
  /** The number of bytes that the cell has not taken yet. */
  readonly waiting: () => number
  readonly endInput: () => void
  /** Reads no more of its output until this settles. */
  readonly hold: (until: Promise<void>) => void
}

export type AttachedControl = Pick<Cell, 'signal' | 'kill' | 'resize' | 'takeTerminal'> & AttachedInput

/** The input of a command that has no descriptor of the caller. */
export type AttachedInput = Pick<Cell, 'write' | 'taken' | 'endInput'>

export interface AttachedRequest extends CellSettings, Pick<RunInput, 'argv' | 'network' | 'beforeStart'> {
  readonly terminals: { readonly in: boolean; readonly out: boolean; readonly err: boolean }
  /** Whether the command has the terminal from the start. Otherwise it stops when it wants the terminal. */
  readonly foreground: boolean
  /** Output that is counted for its limit. No more is read until the returned promise settles. */
  readonly onOutput: (stream: 'out' | 'err', bytes: Uint8Array) => Promise<void> | undefined
  /**
   * Has the launcher started by the process whose streams the command gets (default: by this process). Only for a
   * sandbox and a call of which `startsElsewhere` is true.
   */
  readonly launch?: () => Promise<CellConnection>
  /** The boundary is applied and the command begins. */
  readonly onStart: (control: AttachedControl) => void
  /** The command stopped: by ^Z, or because it wants the terminal (SIGTTIN, SIGTTOU). */
  readonly onStopped: (signal: number) => void
}

/** Warm cells of one program. Each serves one call, and the next one is built after it. */
export interface Pool {
  readonly run: (input: RunInput) => Promise<CallResult>
  readonly ready: () => Promise<void>
  readonly size: () => number
  readonly close: () => void
}

export interface Sandbox {
  /** What the launcher alone can enforce here. */
  readonly host: HostFacts
  /** The facts of the strongest backend. */
  readonly strongest: HostFacts
  /** The mechanisms that a policy can require here. */
  readonly mechanisms: () => readonly Mechanism[]
  readonly run: (request: RunRequest) => Promise<CallResult>
  /** Runs one command on this process's own stdin, stdout and stderr. */
  readonly attach: (request: AttachedRequest) => Promise<CallResult>
  /** Whether another process could start the launcher of such a call: no wall is needed, and no other user. */
  readonly startsElsewhere: (settings: Pick<CellSettings, 'boundary' | 'cwd'>) => Promise<boolean>
  /** What such a launcher can begin with while the call is decided, as bytes for it. Undefined: nothing. */
  readonly headStart: (request: Pick<AttachedRequest, 'boundary' | 'cwd' | 'terminals'>) => Promise<Buffer | undefined>
  /** Takes a message of the channel of such a launcher: a connection of its tool. */
  readonly receive: Doors['receive']
  /** Keeps cells of one program ready: the boundary is applied, and they wait for arguments. */
  readonly warm: (settings: CellSettings & { readonly program: string }) => Pool
  /** Kills running calls, which fail with `sandbox-closed`, and waits until they are gone. */
  readonly close: () => Promise<void>
}
