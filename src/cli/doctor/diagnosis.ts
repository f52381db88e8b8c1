import type { Attempt, Enforced, Form } from '../../sandbox/index.js'

import type { Finding } from './diagnose.js'

/** What `cordon doctor --json` prints. */
export interface Diagnosis {
  readonly holds: boolean
  readonly host: {
    readonly kernel: string
    readonly architecture: string
    readonly node: string
    readonly user: 'root' | 'ordinary'
    readonly container: string | null
  }
  readonly backend: 'native' | null
  readonly form: Form | null
  readonly why: string
  readonly forms: Readonly<Record<Form, FormDiagnosis>> | null
  readonly mechanisms: Readonly<Record<string, Attempt>> | null
  readonly findings: readonly Finding[]
}

export interface FormDiagnosis {
  readonly held: boolean
  readonly problem: string | null
  /** For each boundary the mechanisms that hold it; an empty list is one that is not held. */
  readonly enforced: Enforced | null
}
