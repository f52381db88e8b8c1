// What a diagnosis of this host says.
import type { Attempt, BackendName, EnforcedBy, Form, SilentSocket } from '../sandbox/index.js'

import type { Container } from './container.js'
import type { Finding } from './diagnose.js'

/** The default limit, which most calls have, is enforced in another way than one of a policy. */
export const DEFAULT_PROCESSES = 'limits.processes.default'

export interface HostDiagnosis {
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
  readonly mechanisms: Readonly<Record<string, Attempt>> | null
  readonly findings: readonly Finding[]
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
  readonly enforced: EnforcedBy | null
}
