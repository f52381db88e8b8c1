// The result of `cordon doctor`.
import type { Attempt, BackendName, Enforced, Form, SilentSocket } from '../../sandbox/index.js'

import type { Container } from './container.js'
import type { Finding } from './diagnose.js'

/** What `cordon doctor --json` prints. */
export interface Diagnosis {
  readonly holds: boolean
  readonly host: {
    /** Linux, macOS */
    readonly system: string
    readonly kernel: string
    readonly architecture: string
    readonly node: string
    readonly user: 'root' | 'ordinary'
    readonly container: Container | null
  }
  readonly backend: BackendName | null
  readonly form: Form | null
  readonly why: string
  readonly forms: Readonly<Record<Form, FormDiagnosis>> | null
  /** Each wall was started, whether it is needed or not. */
  readonly walls: readonly WallDiagnosis[]
  /** For container tools. */
  readonly engine: EngineDiagnosis
  /** Of coding agents, for an agent that is started in this folder. */
  readonly hooks: readonly HookDiagnosis[]
  readonly mechanisms: Readonly<Record<string, Attempt>> | null
  readonly findings: readonly Finding[]
}

export type Examined = Omit<Diagnosis, 'engine' | 'hooks'>

export interface HookDiagnosis {
  readonly agent: string
  readonly scope: string
  readonly file: string
  readonly in_force: boolean
  /** In words. */
  readonly state: string
  readonly problems: readonly { readonly problem: string; readonly fix: string }[]
}

export interface WallDiagnosis {
  readonly backend: BackendName
  readonly held: boolean
  readonly problem: string | null
}

export interface EngineDiagnosis {
  readonly found: {
    readonly name: 'podman' | 'docker'
    readonly version: string
    readonly rootless: boolean
    readonly socket: string
  } | null
  /** Sockets that were tried before, and why no engine answered there. */
  readonly silent: readonly SilentSocket[]
  /** The command that starts an engine. */
  readonly fix: string | null
}

export interface FormDiagnosis {
  readonly held: boolean
  readonly problem: string | null
  /** The mechanisms of each boundary. An empty list means that it is not enforced. */
  readonly enforced: Enforced | null
}
